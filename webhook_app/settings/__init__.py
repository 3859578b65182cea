"""What the operator sets, in the environment (`PLACET_*`) or in placet.toml.

Everything is checked before the server starts. Every error is a SettingsError whose message says
what is wrong, what it means and what to do.
"""

from .document import document
from .fields import Floor, Repository, Settings
from .loading import FILE, Config, SettingsError, load, store_path
from .upstreams import MAX_WIRE_NAME, Upstream

__all__ = [
    "FILE",
    "MAX_WIRE_NAME",
    "Config",
    "Floor",
    "Repository",
    "Settings",
    "SettingsError",
    "Upstream",
    "document",
    "load",
    "store_path",
]
