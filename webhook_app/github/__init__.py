"""The GitHub side of Placet; nothing else speaks to githubkit."""

from .deliveries import DeliveryLog
from .forge import GitHubForge
from .places import Places
from .setup import ForgeSettings
from .shapes import Delivery
from .view import CheckView, Render

__all__ = [
    "CheckView",
    "Delivery",
    "DeliveryLog",
    "ForgeSettings",
    "GitHubForge",
    "Places",
    "Render",
]
