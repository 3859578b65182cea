"""The store: one SQLite file, and the only SQL in Placet.

One process owns the file; every change is one BEGIN IMMEDIATE transaction, committed before
anything happens outside. Times are integers: milliseconds since 1970, UTC.
"""

from pathlib import Path

from .agents import Agents, NameTaken
from .deliveries import Deliveries
from .file import StoreBusy, StoreStopped
from .ground import Ground, Problem
from .outbox import Outbox
from .proposals import Life, Started
from .reading import Reading
from .rows import Agent, Delivery, Step
from .statements import Last, Numbered, Statements

__all__ = [
    "Agent",
    "Delivery",
    "Last",
    "NameTaken",
    "Numbered",
    "Problem",
    "Reading",
    "Started",
    "Step",
    "Store",
    "StoreBusy",
    "StoreStopped",
]


class Store(Agents, Deliveries, Ground, Life, Outbox, Statements):
    """The whole store over one file; methods are synchronous, short and safe from any thread."""

    def __init__(self, path: Path) -> None:
        """Own the file, or raise StoreBusy when another process does."""
        super().__init__(path)
