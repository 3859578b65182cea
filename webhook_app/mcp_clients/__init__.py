"""The configuration files of agents' MCP clients: read, emptied into Placet, and looked at."""

from .document import Document, Unreadable, read
from .moving import Left, Move, Moved, moved
from .snippets import CLIENTS, Client, snippet
from .ungated import ungated
from .writing import Unwritable, write

__all__ = [
    "CLIENTS",
    "Client",
    "Document",
    "Left",
    "Move",
    "Moved",
    "Unreadable",
    "Unwritable",
    "moved",
    "read",
    "snippet",
    "ungated",
    "write",
]
