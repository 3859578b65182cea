"""Stopping: what is being applied may end, and all of it has one deadline."""

import asyncio
from datetime import timedelta
from typing import Any

from proposals.flow import Ports
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.store import StoreStopped


class Stop:
    """The end of a running server: `tasks` is what its doors have begun, `worker` its loop.

    Whatever is applying `patience` after `begin` is left, and its outcome is unknown.
    """

    def __init__(self, ports: Ports, worker: "asyncio.Task[None]", patience: timedelta) -> None:
        self._ports = ports
        self._worker = worker
        self._patience = patience.total_seconds()
        self._end: float | None = None
        self.tasks: set[asyncio.Task[Proposal]] = set()

    def begin(self) -> float:
        """Let the worker begin nothing more; when the deadline is, by the loop's clock.

        Said again it moves no deadline.
        """
        if self._end is None:
            self._end = asyncio.get_running_loop().time() + self._patience
            self._worker.cancel()  # it lets what it applies end by itself, and no second time
        return self._end

    async def finish(self) -> None:
        """Wait until nothing is being applied or the deadline has come, and stop all the rest."""
        end, now = self.begin(), asyncio.get_running_loop().time
        while (left := end - now()) > 0 and (going := self._going()) and self._applies():
            await asyncio.wait(going, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(self._worker, *self.tasks, return_exceptions=True)

    def _going(self) -> set[asyncio.Task[Any]]:
        return {task for task in (self._worker, *self.tasks) if not task.done()}

    def _applies(self) -> bool:
        """Whether the doors are applying something; a stopped store lets nothing be kept."""
        store = self._ports.store
        try:
            running = [store.proposal(id_) for id_ in self._ports.lines.running]
        except StoreStopped:
            return False
        return any(p is not None and p.state is State.STARTED for p in running)
