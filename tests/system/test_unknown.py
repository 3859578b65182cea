"""What nobody knows: looked for ever more rarely, given up in the open, settled by people."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from checks.facts import Person
from proposals.flow import advance, read_back, settle
from proposals.flow.ground import Ports
from proposals.lifecycle import State
from proposals.plan import Proposal
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


async def lost(here: Town, box: Box) -> dict[str, Any]:
    """A proposal of whose outcome nothing is known: its tool died before anything shows."""
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("die unseen")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    over = await here.over(seen)
    assert (over["status"], box.runs) == ("unknown", 1)
    return seen


async def on_a_commit(here: Town, box: Box) -> dict[str, Any]:
    """The same on a bare commit, where there is no conversation."""
    head = here.world.repository(SHOP).git.branch("main")
    target = {"repository": SHOP, "commit": head}
    seen = await here.propose("box.add", {"n": 4}, target=target)
    box.breaks("die unseen")
    await here.person("lee").press(here.check(seen).id, "approve")
    assert ((await here.over(seen))["status"], box.runs) == ("unknown", 1)
    return seen


async def resolve(here: Town, seen: dict[str, Any], outcome: str) -> httpx.Response:
    transport = httpx.AsyncHTTPTransport(uds=str(here.stage.folder / "placet.db.sock"))
    body = {"proposal": seen["proposal"], "outcome": outcome, "why": "I looked into the box"}
    async with httpx.AsyncClient(transport=transport, base_url="http://placet") as http:
        return await http.post("/resolve", json=body)


async def test_it_is_looked_for_ever_more_rarely_and_given_up_in_the_open(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    waits = []
    while wait := await advance(here.hall.ports, seen["proposal"]):
        waits.append(wait)
        here.world.clock.advance(wait)
        assert len(waits) < 30
    minutes = [round(wait / timedelta(minutes=1)) for wait in waits]
    assert minutes[:5] == [5, 5, 10, 20, 40]
    assert max(waits) == timedelta(days=1)
    assert timedelta(days=7) <= sum(waits, timedelta()) < timedelta(days=9)
    await advance(here.hall.ports, seen["proposal"])
    await here.rest()
    assert sum("looks no longer by itself" in said for said in here.comments(seen)) == 1
    [found] = here.store.problems()
    assert (found.code, found.proposal) == ("outcome_unknown", seen["proposal"])
    digest = seen["digest"].removeprefix("sha256:")[:12]
    words = f"/resolve {digest} failed nothing in the box"
    await here.person("lee").comment(REPOSITORY, here.number(seen), words)
    await here.until(seen, lambda p: p.state is State.FAILED)
    assert not here.store.problems()
    assert box.runs == 1


async def test_a_success_that_shows_after_it_was_given_up_still_settles_it_at_the_next_start(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    here.world.clock.advance(timedelta(days=8))
    assert await advance(here.hall.ports, seen["proposal"]) is None
    box.value = 5
    await here.stop()
    await here.start()
    await here.until(seen, lambda p: p.state is State.APPLIED)
    assert box.runs == 1


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(read_back, id="read-back"),
        pytest.param(lambda ports, kept: advance(ports, kept.id), id="a-later-look"),
    ],
)
async def test_what_a_person_settles_while_it_is_looked_for_stays(
    here: Town, box: Box, look: Callable[[Ports, Proposal], Awaitable[object]]
) -> None:
    seen = await lost(here, box)
    here.world.clock.advance(timedelta(days=8))
    ports, before = here.hall.ports, here.comments(seen)
    looking = asyncio.ensure_future(look(ports, here.kept(seen)))
    await asyncio.sleep(0)  # the tool is asked; it cannot have answered yet
    assert not looking.done()
    lee = Person(here.world.account("lee").id, "lee")
    settled = settle(ports, here.kept(seen), lee, applied=False, why="I looked").outcome
    await looking
    await here.rest()
    kept = here.kept(seen)
    assert (kept.state, kept.outcome) == (State.FAILED, settled)
    assert not here.store.problems()
    assert len(here.comments(seen)) == len(before) + 1, "the outcome is told once"
    over = await here.seen(seen)
    assert (over["status"], over["executed"]) == ("failed", False)


async def test_what_people_know_to_be_unknown_keeps_no_server_from_getting_ready(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    await here.stop()
    box.breaks("slow verify")
    config = here.stage.config
    config.write_text(config.read_text().replace('timeout = "2s"', 'timeout = "60s"'))
    await here.start()
    worker: Any = here.hall.worker
    async with asyncio.timeout(10):
        while not worker.ready:  # noqa: ASYNC110 (it has no event for it)
            await asyncio.sleep(0.01)
    assert here.kept(seen).state is State.UNKNOWN
    box.value = 5
    box.mends()
    await here.until(seen, lambda p: p.state is State.APPLIED)
    await here.rest()


async def test_on_a_bare_commit_the_operator_settles_what_nobody_can_say_there(
    here: Town, box: Box
) -> None:
    seen = await on_a_commit(here, box)
    answer = await resolve(here, seen, "applied")
    assert answer.status_code == 200
    await here.rest()
    over = await here.seen(seen)
    assert (over["status"], over["_verification"]["verdict"]) == ("applied", "asserted")
    receipt = over["receipt"]
    assert receipt["asserted_by"] == {"operator": True, "why": "I looked into the box"}
    again = await resolve(here, seen, "failed")
    assert (again.status_code, again.json()["code"]) == (409, "not_unknown")
    assert box.runs == 1


async def test_where_people_can_comment_the_operator_does_not_speak_for_them(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    answer = await resolve(here, seen, "applied")
    assert (answer.status_code, answer.json()["code"]) == (409, "has_a_page")
    assert "/resolve" in answer.json()["hint"]
    assert (await here.seen(seen))["status"] == "unknown"
    here.world.uninstall(next(iter(here.world.state.installations.values())))
    await here.rest()
    assert (await resolve(here, seen, "failed")).status_code == 200
    assert (await here.seen(seen))["status"] == "failed"


async def test_what_is_known_cannot_be_resolved(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await approve(here, seen)
    answer = await resolve(here, seen, "failed")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_unknown")
    nobody = await resolve(here, {"proposal": "p_0"}, "failed")
    assert nobody.status_code == 404
    assert (await here.seen(seen))["status"] == "applied"
    assert box.runs == 1
