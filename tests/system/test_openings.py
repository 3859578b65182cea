"""Pages are opened a few at a time: after a restart with many, the first stand there soon."""

import asyncio
from typing import Any

import pytest

from proposals.flow.lines import OPENINGS
from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.testing import Town
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


class Barrier:
    """Holds each new branch, and counts them."""

    def __init__(self, here: Town) -> None:
        self.begun = 0
        self.open, self._full = asyncio.Event(), asyncio.Event()
        path = "/repos/{owner}/{repo}/git/refs"
        here.world.faults.add(Fault("POST", path, times=99, run=self._hold))

    async def _hold(self) -> None:
        self.begun += 1
        if self.begun == OPENINGS:
            self._full.set()
        await self.open.wait()

    async def full(self) -> None:
        """Wait until no more come."""
        async with asyncio.timeout(5):
            await self._full.wait()
        await asyncio.sleep(0.2)


async def asked(here: Town, many: int) -> list[dict[str, Any]]:
    """So many proposals, pinned and not yet shown."""
    answers = [await here.ask("box.add", {"n": n}) for n in range(1, many + 1)]
    return [dict(answer.raise_for_status().json()) for answer in answers]


async def test_no_more_than_a_few_pages_are_opened_at_once(here: Town, box: Box) -> None:
    await here.propose("box.add", {"n": 100})  # it makes the ledger, which is done once
    barrier = Barrier(here)
    many = await asked(here, OPENINGS + 3)
    await barrier.full()
    assert barrier.begun == OPENINGS
    barrier.open.set()
    for one in many:
        await here.until(one, lambda p: p.state is State.OPEN)
    assert box.runs == 0


async def test_what_ended_before_its_turn_gets_no_page(here: Town) -> None:
    await here.propose("box.add", {"n": 100})
    barrier = Barrier(here)
    *_, last = await asked(here, OPENINGS + 1)
    await barrier.full()
    async with here.http() as http:
        answer = await http.post(f"/v1/proposals/{last['proposal']}/withdraw")
    assert answer.status_code == 200
    barrier.open.set()
    await here.rest()
    assert here.kept(last).place is None
    assert barrier.begun == OPENINGS
