"""Pages are opened a few at a time: after a restart with many, the first stand there soon."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from proposals.flow.lines import OPENINGS
from proposals.lifecycle import State
from proposals.store import Delivery
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.conftest import Box
from webhook_app.worker.inbox import SECONDS

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


async def refused(here: Town) -> None:
    """A proposal whose page GitHub does not take, today and tomorrow."""
    path = "/repos/{owner}/{repo}/pulls"
    here.world.faults.add(Fault("POST", path, status=422, times=10_000, message="Refused"))
    said = (await here.ask("box.add", {"n": 1})).json()
    await here.until(said, lambda p: p.reason is not None)


async def test_a_page_that_is_refused_stops_no_other_start(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 5})
    await refused(here)
    await here.person("noor").push(REPOSITORY, "main", {"x.txt": "x"})
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.APPLIED)
    assert box.runs == 1
    events = [move["event"] for move in here.store.history(seen["proposal"])]
    assert "released" not in events


async def test_what_waits_for_a_page_that_is_refused_holds_up_no_other_word(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 5})
    await refused(here)
    for n in range(150):
        here.store.accept(heard(here, seen, 5000 + n, timedelta(minutes=1)))
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/reject no")
    await here.until(seen, lambda p: p.reason == "rejected")


async def test_what_may_be_about_a_refused_page_is_read_within_seconds(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 5})
    await refused(here)
    here.store.accept(heard(here, seen, 5000))
    here.world.clock.advance(SECONDS + timedelta(seconds=1))
    here.hall.worker.wake()
    async with asyncio.timeout(5):
        while here.store.counts()["inbox"]:  # noqa: ASYNC110 (the store has no event for it)
            await asyncio.sleep(0.005)


def heard(
    here: Town, seen: dict[str, Any], number: int, later: timedelta = timedelta()
) -> Delivery:
    """A comment on a page that no proposal is known to have."""
    at, where = here.world.clock.now() + later, here.kept(seen).repository
    return Delivery(f"g-{number}", "issue_comment", "created", "{}", at, where, number, sender=1)


async def test_what_is_said_while_a_page_is_being_shown_waits_for_it(here: Town, box: Box) -> None:
    await here.propose("box.add", {"n": 100})

    async def approve() -> None:
        shop = here.world.repository(REPOSITORY)
        await here.person("lee").review(REPOSITORY, max(shop.pulls), "APPROVE")
        await here.world.settled()
        await asyncio.sleep(0.2)

    path = "/repos/{owner}/{repo}/pulls"
    here.world.faults.add(Fault("POST", path, when="after", run=approve))
    said = (await here.ask("box.add", {"n": 1})).json()
    await here.until(said, lambda p: p.state is State.APPLIED)
    assert box.runs == 1
