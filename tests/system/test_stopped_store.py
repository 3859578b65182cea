"""The store stops in the middle of everything (disk full, read-only) and comes back."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from proposals.flow import recover, unplanned
from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

START = r"/contents/proposals/.*/start\.json"
TELL = "/repos/{owner}/{repo}/issues/{issue_number}/comments"


def read_only(here: Town, on: bool = True) -> None:  # noqa: FBT001, FBT002
    here.store.db.conn.execute(f"PRAGMA query_only={'ON' if on else 'OFF'}")


@contextmanager
def stopped(here: Town) -> Iterator[None]:
    read_only(here)
    yield
    read_only(here, on=False)


async def page(here: Town, path: str) -> tuple[int, dict[str, Any]]:
    async with here.http() as http:
        answer = await http.get(path)
    return answer.status_code, answer.json()


async def test_while_the_store_is_stopped_every_door_says_so(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    with stopped(here):
        await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
        await here.world.settled()
        delivery = here.world.deliveries.all[-1]
        asked = await here.ask("box.add", {"n": 5})
        ready = await page(here, "/readyz")
        alive = await page(here, "/healthz")
    assert delivery.event == "pull_request_review"
    assert delivery.status_code == 503
    assert (asked.status_code, asked.json()["code"]) == (503, "store_stopped")
    assert (ready[0], ready[1]["checks"]["store"]) == (503, False)
    assert alive[0] == 200
    assert (await page(here, "/readyz"))[0] == 200
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert box.runs == 0
    here.world.deliveries.again(delivery, here.world.new_id("delivery"))
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
    assert (await here.ask("box.add", {"n": 5})).status_code in (200, 202)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_store_that_stops_around_the_start_runs_nothing_twice(
    here: Town, box: Box, when: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})

    async def stop() -> None:
        read_only(here)

    here.world.faults.add(Fault("PUT", START, when=when, run=stop))  # type: ignore[arg-type]
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.STARTED and not here.store.writable())
    read_only(here, on=False)
    over = await here.over(seen)
    assert (over["status"], box.runs) in (("failed", 0), ("unknown", 0))
    other = await here.propose("box.add", {"n": 5})
    assert (await approve(here, other))["status"] == "applied"
    assert box.runs == 1


async def test_an_outcome_that_could_not_be_kept_is_found_by_reading_back(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("hang")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.STARTED and box.runs == 1)
    read_only(here)
    await here.until(seen, lambda _: not here.store.writable())
    ready = await page(here, "/readyz")
    read_only(here, on=False)
    over = await here.over(seen)
    assert (over["status"], box.runs) == ("applied", 1)
    assert ready[0] == 503


async def test_what_was_told_before_the_store_stopped_is_not_told_again(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})

    async def stop() -> None:
        read_only(here)

    here.world.faults.add(Fault("POST", TELL, when="after", run=stop))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.APPLIED and not here.store.writable())
    asked = len(here.world.log.entries)
    await asyncio.sleep(0.5)
    assert len(here.world.log.entries) - asked < 5, "it does not knock for ever"
    read_only(here, on=False)
    await here.over(seen)
    assert sum("Done" in said for said in here.comments(seen)) == 1


async def test_a_planning_that_a_stopped_store_broke_off_is_ended_by_the_sweep(
    here: Town, box: Box
) -> None:
    box.breaks("slow plan")
    asking = asyncio.create_task(here.ask("box.add", {"n": 4}))
    while not (found := here.store.proposals(state=State.PLANNING)):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    assert not unplanned(here.hall.ports), "it is still being planned"
    read_only(here)
    assert (await asking).status_code == 503
    read_only(here, on=False)
    assert here.store.proposals(state=State.PLANNING) == found
    [over] = unplanned(here.hall.ports)
    assert (over.id, over.state, over.reason) == (found[0].id, State.ENDED, "interrupted")
    assert "ask again" in over.why
    box.breaks("")
    fresh = await here.propose("box.add", {"n": 5})
    assert (await approve(here, fresh))["status"] == "applied"


async def test_a_recovery_that_is_tried_again_leaves_alone_what_is_planned_meanwhile(
    here: Town, box: Box
) -> None:
    box.breaks("slow plan")
    asking = asyncio.create_task(here.ask("box.add", {"n": 4}))
    while not here.store.proposals(state=State.PLANNING):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    assert await recover(here.hall.ports) == []
    assert (await asking).json()["status"] == "pinned"
