"""The GitHub side of Placet; nothing else speaks to githubkit."""

from .deliveries import DeliveryLog
from .files import blob_sha
from .forge import GitHubForge
from .ledger import BRANCH as LEDGER
from .places import Places
from .setup import ForgeSettings
from .shapes import Delivery
from .view import CheckView, Render

__all__ = [
    "LEDGER",
    "CheckView",
    "Delivery",
    "DeliveryLog",
    "ForgeSettings",
    "GitHubForge",
    "Places",
    "Render",
    "blob_sha",
]
