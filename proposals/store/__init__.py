"""The store: one SQLite file, and the only SQL in Placet.

One process owns the file; every change is one BEGIN IMMEDIATE transaction, committed before
anything happens outside. Times are integers: milliseconds since 1970, UTC.
"""

from datetime import timedelta
from pathlib import Path

from .agents import Agents, NameTaken
from .asked import REPEAT_WINDOW
from .commands import Commands, Unanswered
from .deliveries import Deliveries
from .file import StoreBusy, StoreStopped
from .ground import Ground, Problem
from .outbox import Outbox
from .previews import Previews, Proof
from .proposals import Life, Started
from .reading import Reading
from .restoring import Restoring
from .rows import Agent, Delivery, Step
from .statements import Last, Numbered, Statements, scope
from .turns import Turns

__all__ = [
    "Agent",
    "Delivery",
    "Last",
    "NameTaken",
    "Numbered",
    "Problem",
    "Proof",
    "Reading",
    "Started",
    "Step",
    "Store",
    "StoreBusy",
    "StoreStopped",
    "Unanswered",
    "scope",
]


class Store(
    Agents, Commands, Deliveries, Ground, Life, Previews, Restoring, Outbox, Statements, Turns
):
    """The whole store over one file; methods are synchronous, short and safe from any thread."""

    def __init__(self, path: Path, repeat_window: timedelta = REPEAT_WINDOW) -> None:
        """Own the file, or raise StoreBusy when another process does."""
        super().__init__(path)
        self.repeat_window = repeat_window
        try:
            self.inherited = self.alive_ids()
            """What an earlier process had left unfinished: another store may know it as well."""
        except StoreStopped:
            self.close()
            raise
