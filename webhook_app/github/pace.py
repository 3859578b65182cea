"""Writes to GitHub one at a time and not too fast: its secondary limits punish bursts for minutes.

Sources: GitHub's "Best practices for using the REST API" (serial writes with pauses) and its
secondary limits (80 content-creating requests a minute, 500 an hour).
"""

import asyncio
import itertools
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proposals.backoff import doubled
from proposals.ports import Unavailable

MINUTE, HOUR = 60.0, 3600.0
SHARE = 0.8
"""What display may use of a limit; the rest is kept for starts and outcomes."""
PATIENCE = 10.0
"""Seconds that a write waits in line; with more to wait it is better sent later."""
LONGEST = 900.0
TICK = 0.001
"""No sleep is shorter: what is left after one may be too little to be added to the clock."""

Ticket = tuple[bool, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many writes an installation may make a minute and an hour, and how many at once."""

    per_minute: float | None
    burst: int
    per_hour: float | None = None

    def windows(self) -> list[tuple[float, int]]:
        """Each limit as a window in seconds and the writes that it holds."""
        found = ((MINUTE, self.per_minute), (HOUR, self.per_hour))
        return [(seconds, max(1, int(most))) for seconds, most in found if most]


@dataclass(slots=True)
class _Line:
    """The writes of one installation: those sent, the one being sent, and those that wait."""

    tokens: float
    filled: float
    sent: deque[float] = field(default_factory=deque)
    waiting: set[Ticket] = field(default_factory=set)
    busy: bool = False
    closed_until: float = 0.0
    strikes: int = 0
    braked_until: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self) -> None:
        """Let all that wait look again."""
        self.changed.set()
        self.changed = asyncio.Event()


class Pace:
    """Lets no window of a minute or an hour hold more writes than its limit.

    Urgent writes pass those that wait and skip the pause between two writes; the others leave them
    a fifth of every window. `clock` gives seconds that only grow; without limits all go through.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._windows = limits.windows()
        self._rate = limits.per_minute / MINUTE if limits.per_minute else None
        self._burst = float(limits.burst)
        self._clock = clock
        self._sleep = sleep
        self._count = itertools.count()
        self._lines = defaultdict[int, _Line](lambda: _Line(self._burst, clock()))

    @asynccontextmanager
    async def turn(self, installation: int, *, urgent: bool = False) -> AsyncGenerator[None, None]:
        """Wait for the turn to write; Unavailable when that takes longer than it is worth."""
        line = self._lines[installation]
        self.check(installation)
        if not self._windows:
            yield
            return
        await self._queue(line, urgent=urgent)
        try:
            self.check(installation)
            yield
        finally:
            line.busy = False
            self._record(line)
            line.tell()

    def check(self, installation: int) -> None:
        """Unavailable while GitHub has asked for a pause."""
        left = self._lines[installation].closed_until - self._clock()
        if left > 0:
            raise Unavailable(f"GitHub asked to wait; {left:.0f} s are left", left)

    def close(self, installation: int, seconds: float, *, told: bool = True) -> None:
        """Send no more for so long; twice as long each time when GitHub does not say how long."""
        line = self._lines[installation]
        line.strikes = 0 if told else line.strikes + 1
        wait = seconds if told else doubled(seconds, line.strikes, LONGEST)
        line.closed_until = max(line.closed_until, self._clock() + wait)

    def worked(self, installation: int) -> None:
        """GitHub took a write: its patience is back."""
        self._lines[installation].strikes = 0

    def brakes(self) -> dict[int, tuple[float, int]]:
        """Where writes wait for us now: installation -> seconds to go, and how many wait."""
        now = self._clock()
        until = {i: max(k.closed_until, k.braked_until) for i, k in self._lines.items()}
        return {i: (t - now, len(self._lines[i].waiting)) for i, t in until.items() if t > now}

    async def _queue(self, line: _Line, *, urgent: bool) -> None:
        ticket = (not urgent, next(self._count))
        line.waiting.add(ticket)
        try:
            while line.busy or min(line.waiting) != ticket or await self._braked(line, urgent):
                if line.busy or min(line.waiting) != ticket:
                    await line.changed.wait()
            line.busy = True
        finally:
            line.waiting.discard(ticket)
            line.tell()

    async def _braked(self, line: _Line, urgent: bool) -> bool:  # noqa: FBT001
        """Wait a part of what is left to wait; False when nothing is."""
        left = self._left(line, urgent=urgent)
        if left <= 0:
            return False
        line.braked_until = max(line.braked_until, self._clock() + left)
        if left > PATIENCE:
            raise Unavailable(f"Placet writes no faster than allowed; {left:.0f} s are left", left)
        await self._sleep(max(left, TICK))
        return True

    def _left(self, line: _Line, *, urgent: bool) -> float:
        """Seconds until one more write fits into every window."""
        now, sent = self._clock(), line.sent
        while sent and sent[0] <= now - HOUR:
            sent.popleft()
        left = 0.0 if urgent else self._pause(line)
        for seconds, most in self._windows:
            most = most if urgent else max(1, int(most * SHARE))  # noqa: PLW2901
            if len(sent) >= most:
                left = max(left, sent[-most] + seconds - now)
        return left

    def _pause(self, line: _Line) -> float:
        """The pause between two writes, once the burst is used up."""
        self._fill(line)
        return (1 - line.tokens) / self._rate if self._rate and line.tokens < 1 else 0.0

    def _fill(self, line: _Line) -> None:
        now = self._clock()
        if self._rate:
            line.tokens = min(self._burst, line.tokens + (now - line.filled) * self._rate)
        line.filled = now

    def _record(self, line: _Line) -> None:
        """Count a write when it is over: GitHub counted it no later than that."""
        self._fill(line)
        line.tokens = max(0.0, line.tokens - 1)
        line.sent.append(self._clock())
