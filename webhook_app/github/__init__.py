"""The GitHub side of Placet; nothing else speaks to githubkit."""

from .deliveries import DeliveryLog
from .files import blob_sha
from .forge import GitHubForge
from .granted import lacking
from .ledger import BRANCH as LEDGER
from .online import shown
from .places import Places
from .setup import ForgeSettings
from .shapes import Delivery
from .talk import OUTCOME, marked
from .view import CheckView, Render

__all__ = [
    "LEDGER",
    "OUTCOME",
    "CheckView",
    "Delivery",
    "DeliveryLog",
    "ForgeSettings",
    "GitHubForge",
    "Places",
    "Render",
    "blob_sha",
    "lacking",
    "marked",
    "shown",
]
