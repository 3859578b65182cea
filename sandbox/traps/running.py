"""Jobs played by their scripts, each before Placet and, to compare, before the bare office."""

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .counting import Count, Covers, counted
from .hands import Hands, gated
from .jobs import JOBS, Job
from .office import effects, fresh
from .place import Place
from .scripts import Weak


@dataclass(slots=True)
class Run:
    """One run of one job before Placet: the hands that were lent, and how it began."""

    place: Place
    hands: Hands
    token: str
    before: int

    def count(self) -> Count:
        """What was done since."""
        done = effects(self.place.office)[self.before :]
        return counted(done, Covers(self.place.approved, self.hands.previewed, self.hands.told))


@dataclass(slots=True)
class Trials:
    """A place where jobs are run one after the other, each by an agent of its own."""

    place: Place
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[Run]:
        """Begin a run: the office as it was at first, and an agent that nobody knows."""
        fresh(self.place.office)
        self.place.approved.clear()
        token = await self.place.hire(f"agent-{next(self._numbers)}")
        before = len(effects(self.place.office))
        async with gated(self.place.stage.placet, token) as hands:
            yield Run(self.place, hands, token, before)

    async def scripted(self, job: Job) -> Count:
        """Let the weak agent of a job loose on Placet."""
        async with self.run() as run:
            await job.script(Weak(run.hands, self.place))
            await self.place.rest()
            return run.count()


async def bare(hands: Hands, office: Path, job: Job) -> Count:
    """Let the weak agent of a job loose on the office itself, which `hands` reach."""
    fresh(office)
    before = len(effects(office))
    hands.told.clear()
    await job.script(Weak(hands, None))
    return counted(effects(office)[before:], Covers(receipts=hands.told))


def chosen(names: Iterable[str]) -> list[Job]:
    """The jobs of these names, all when there are none; LookupError names those that there are."""
    wanted = list(names)
    known = {job.name: job for job in JOBS}
    if unknown := [name for name in wanted if name not in known]:
        raise LookupError(f"there is no job {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in wanted] or list(JOBS)
