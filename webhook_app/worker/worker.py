"""The worker's loop: what is due is done, one thing at a time for each proposal."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any

import structlog

from proposals.backoff import doubled
from proposals.flow import Ports, advance, expired, expiring, recover, survey, thawed, unplanned
from proposals.lifecycle import State
from proposals.store import Step, StoreStopped, Unanswered

from .answers import Answers
from .asked import warn
from .inbox import Inbox
from .outbox import Outbox

PAUSE = 1.0
"""Seconds after a fault of our own, such as a store that has stopped."""
BREATH = 0.02
"""Seconds after deliveries were handled: what comes meanwhile is one commit, and goes first."""
SURVEY = 300.0
"""Seconds between two looks at whether the governing repositories can be used."""

log = structlog.get_logger()


class Worker:
    """Runs everything that happens outside a request. `wake` after anything was stored.

    `fetch` asks GitHub's delivery log for what was missed and says how much that was; it is
    called at the start and then `every` so often, together with the sweep for expired proposals.
    """

    def __init__(
        self,
        ports: Ports,
        our_app: int,
        fetch: Callable[[], Awaitable[int]] | None = None,
        every: timedelta = timedelta(minutes=1),
    ) -> None:
        self.ports = ports
        self.ready = False
        self._inbox = Inbox(ports, our_app, self._ground)
        self._surveyed: float | None = None
        self._answers = Answers(ports)
        self._outbox = Outbox(ports)
        self._fetch = fetch
        self._every = every.total_seconds()
        self._bell = asyncio.Event()
        self._post = asyncio.Event()
        self._busy: set[str] = set()
        self._again: set[str] = set()
        self._resting: set[str] = set()
        self._faults: Counter[str] = Counter()
        self._sending: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self.patience = timedelta()
        """How long `run`, when it is cancelled, lets a tool that is applying come to its end."""

    def wake(self) -> None:
        """Say that something is new in the store."""
        self._bell.set()

    async def run(self) -> None:
        """Recover, then work until cancelled; what has not started by then is stopped with it."""
        await _until_done(self._recover)
        for proposal in self.ports.store.alive():
            self.nudge(proposal.id)
        self.ready = True
        try:
            async with asyncio.TaskGroup() as group:
                for work in (self._drain, self._send, self._sweep):
                    group.create_task(_for_ever(work))
        finally:
            self.ready, self._closing = False, True
            await self._wind_down()

    async def _wind_down(self) -> None:
        """Let tools that are applying end, within our patience; whatever is left stays unknown."""
        applying = {task for task in self._tasks if self._applies(task.get_name())}
        for task in self._tasks - applying:
            task.cancel()
        if applying:
            log.info("stopping", waiting_for=len(applying), seconds=self.patience.total_seconds())
            await asyncio.wait(applying, timeout=self.patience.total_seconds())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _applies(self, id_: str) -> bool:
        """Whether a proposal is being applied, or what takes it back; not if the store stopped."""
        try:
            found = (self.ports.store.proposal(id_), self.ports.store.undo_of(id_))
        except StoreStopped:
            return False
        return any(p is not None and p.state is State.STARTED for p in found)

    async def _recover(self) -> None:
        await recover(self.ports)

    def nudge(self, id_: str) -> None:
        """Look at a proposal now, or once more when it is being looked at."""
        if id_ in self._busy or self._closing:
            self._again.add(id_)
            return
        self._busy.add(id_)
        self._spawn(self._advance(id_), id_)

    @property
    def busy(self) -> bool:
        """Whether anything is being done or due right now, the recovery at the start included."""
        return bool(not self.ready or self._tasks or self.ports.store.waiting() or self._due())

    async def _drain(self) -> None:
        self._bell.clear()
        touched = self._inbox.drain(self._busy)
        for id_ in (touched or set()) | self._unopened() | self.ports.lines.freed():
            self.nudge(id_)
        for command in self._answers.due():
            self._spawn(self._answer(command), command.proposal)
        self._post.set()
        if touched is None:
            await _rung(self._bell, 1.0)
        else:
            await asyncio.sleep(BREATH)

    def _unopened(self) -> set[str]:
        """Proposals that a door has pinned and that nobody is opening yet."""
        return {p.id for p in self.ports.store.opening()} - self._busy - self._resting

    async def _advance(self, id_: str) -> None:
        """Advance one proposal until nothing new came meanwhile; plan another look when told to."""
        wait: timedelta | None = None
        try:
            while True:
                self._again.discard(id_)
                wait = await self._advanced(id_)
                for other in self.ports.lines.freed():
                    self.nudge(other)
                self._post.set()
                if id_ not in self._again:
                    break
        finally:
            self._busy.discard(id_)
        if wait is not None and id_ not in self._resting:
            self._resting.add(id_)
            asyncio.get_running_loop().call_later(wait.total_seconds(), self._rested, id_)

    async def _advanced(self, id_: str) -> timedelta | None:
        """Advance once; a fault of our own is logged and tried again ever more rarely."""
        try:
            wait = await advance(self.ports, id_)
        except Exception:
            self._faults[id_] += 1
            log.exception("advance", proposal=id_, times=self._faults[id_])
            return doubled(timedelta(seconds=2), self._faults[id_], timedelta(minutes=10))
        self._faults.pop(id_, None)
        return wait

    def _rested(self, id_: str) -> None:
        self._resting.discard(id_)
        self.nudge(id_)

    async def _send(self) -> None:
        self._post.clear()
        for step in self._due():
            self._sending.add(step.proposal)
            self._spawn(self._deliver(step))
        await _rung(self._post, 1.0)

    def _due(self) -> list[Step]:
        due = self.ports.store.due(self.ports.now())
        return [step for step in due if step.proposal not in self._sending]

    async def _deliver(self, step: Step) -> None:
        try:
            await self._outbox.send(step)
        except Exception:
            log.exception("outbox", proposal=step.proposal, step=step.step)
            await asyncio.sleep(PAUSE)
        finally:
            self._sending.discard(step.proposal)
            self._post.set()

    async def _sweep(self) -> None:
        if self._fetch is not None and await self._fetched(self._fetch):
            self.wake()
        for proposal in await expired(self.ports):
            log.info("expired", proposal=proposal.id)
        for proposal in expiring(self.ports):
            warn(self.ports, proposal)
        for proposal in unplanned(self.ports):
            log.warning("planning broke off", proposal=proposal.id)
        for proposal in thawed(self.ports):
            self.nudge(proposal.id)
        self._answers.again()
        now = asyncio.get_running_loop().time()
        if self._surveyed is None or now - self._surveyed >= SURVEY:
            self._surveyed = now
            self._spawn(self._look_round(frozenset()))
        self._post.set()
        await asyncio.sleep(self._every)

    @staticmethod
    async def _fetched(fetch: Callable[[], Awaitable[int]]) -> int:
        try:
            return await fetch()
        except Exception as error:  # noqa: BLE001 (a sweep that fails is tried again in a minute)
            log.warning("fetch", problem=f"{type(error).__name__}: {error}"[:300])
            return 0

    def _ground(self, gone: frozenset[int]) -> None:
        self._spawn(self._look_round(gone, everything=True))

    async def _look_round(self, gone: frozenset[int], *, everything: bool = False) -> None:
        """Find out which repositories can be used, and go on where they can be again."""
        free = await survey(self.ports, gone)
        for proposal in self.ports.store.alive() if everything else free:
            self.nudge(proposal.id)
        self._post.set()

    async def _answer(self, command: Unanswered) -> None:
        """Answer a command; the undo that it began is looked at even when that breaks off."""
        touched: set[str] = set()
        try:
            touched = await self._answers.give(command)
        finally:
            undo = self.ports.store.undo_of(command.proposal)
            for id_ in touched | ({undo.id} if undo else set()):
                self.nudge(id_)
            self._post.set()

    def _spawn(self, work: Coroutine[Any, Any, None], about: str = "") -> None:
        task = asyncio.get_running_loop().create_task(work, name=about)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("task", problem=f"{type(error).__name__}: {error}"[:500], exc_info=error)


async def _rung(bell: asyncio.Event, seconds: float) -> None:
    """Wait for the bell, or for the time when something that was put off may be due."""
    try:
        async with asyncio.timeout(seconds):
            await bell.wait()
    except TimeoutError:
        return


async def _for_ever(work: Callable[[], Awaitable[None]]) -> None:
    """Do it again and again."""
    while True:
        await _until_done(work)


async def _until_done(work: Callable[[], Awaitable[None]]) -> None:
    """Do it; a fault of our own, or a stopped store, is logged and must not end the worker."""
    while True:
        try:
            return await work()
        except Exception:
            log.exception("worker", part=getattr(work, "__name__", "?"))
            await asyncio.sleep(PAUSE)
