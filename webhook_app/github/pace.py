"""Writes to GitHub one at a time and not too fast: its secondary limits punish bursts for minutes.

Source: GitHub's "Best practices for using the REST API" (serial writes with pauses).
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proposals.ports import Unavailable


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: float
    closed_until: float = 0.0
    line: asyncio.Lock = field(default_factory=asyncio.Lock)


class Pace:
    """One token bucket per installation: `burst` writes at once, `per_minute` in the long run.

    `clock` gives seconds that only grow; `per_minute` None lets everything through.
    """

    def __init__(
        self,
        per_minute: float | None,
        burst: int,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._rate = per_minute / 60 if per_minute else None
        self._burst = float(burst)
        self._clock = clock
        self._sleep = sleep
        self._buckets = defaultdict[int, _Bucket](lambda: _Bucket(self._burst, clock()))

    @asynccontextmanager
    async def turn(self, installation: int) -> AsyncGenerator[None, None]:
        """Wait for the turn to write; Unavailable while GitHub has asked for a pause."""
        bucket = self._buckets[installation]
        self._refuse_if_closed(bucket)
        if self._rate is None:
            yield
            return
        async with bucket.line:
            await self._take(bucket, self._rate)
            self._refuse_if_closed(bucket)
            yield

    def close(self, installation: int, seconds: float) -> None:
        """Send no more writes for so long, because GitHub asked for it."""
        bucket = self._buckets[installation]
        bucket.closed_until = max(bucket.closed_until, self._clock() + seconds)

    def _refuse_if_closed(self, bucket: _Bucket) -> None:
        left = bucket.closed_until - self._clock()
        if left > 0:
            raise Unavailable(f"GitHub asked to wait; {left:.0f} s are left", left)

    async def _take(self, bucket: _Bucket, rate: float) -> None:
        now = self._clock()
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.filled) * rate)
        bucket.filled = now
        if bucket.tokens < 1:
            wait = (1 - bucket.tokens) / rate
            await self._sleep(wait)
            bucket.tokens, bucket.filled = 1.0, now + wait
        bucket.tokens -= 1
