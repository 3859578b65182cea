"""What reads found, for a while and for one session each; any write of their upstream empties it.

A read that was under way when a write began or ended is not kept: it may have seen the past.
"""

import time
from collections import defaultdict
from collections.abc import Callable

from .upstreams import Heard

MOST = 512  # reads kept at once, over all sessions
Place = tuple[str, str, str]
"""Whose session, the tool's name, and the digest of its arguments."""


class Memo:
    """Remembers reads; `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[Place, tuple[float, Heard]] = {}
        self._writes: defaultdict[str, int] = defaultdict(int)

    def recall(self, place: Place) -> Heard | None:
        """What this very read found, if it may still be said."""
        until, heard = self._kept.get(place, (0.0, None))
        return heard if heard and self._clock() < until else None

    def mark(self, tool: str) -> int:
        """Take this before reading and give it to `keep` afterwards."""
        return self._writes[_upstream(tool)]

    def keep(self, place: Place, heard: Heard, seconds: float, mark: int) -> None:
        """Keep what a read found, unless it failed or something was written since `mark`."""
        if seconds <= 0 or heard.error or mark != self.mark(place[1]):
            return
        self._kept.pop(place, None)
        while len(self._kept) >= MOST:
            del self._kept[next(iter(self._kept))]
        self._kept[place] = (self._clock() + seconds, heard)

    def forget(self, tool: str) -> None:
        """Forget, in every session, all that was read where this tool writes."""
        upstream = _upstream(tool)
        self._writes[upstream] += 1
        self._kept = {p: kept for p, kept in self._kept.items() if _upstream(p[1]) != upstream}


def _upstream(tool: str) -> str:
    return tool.partition(".")[0]
