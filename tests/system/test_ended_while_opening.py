"""What ends while its page is being made is told there: no page stays open that nobody heeds."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from proposals.flow import expired, revoke, withdraw
from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.stage import AGENT, REPOSITORY
from sandbox.testing import Town
from tests.system.test_statements import statements

pytestmark = pytest.mark.anyio


async def taken_back(here: Town) -> None:
    [made] = (p for p in here.store.proposals() if p.arguments == {"n": 4})
    withdraw(here.hall.ports, made.id, AGENT)


async def shut_out(here: Town) -> None:
    revoke(here.hall.ports, AGENT)


async def too_late(here: Town) -> None:
    here.world.clock.advance(timedelta(hours=5))
    await expired(here.hall.ports)


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        pytest.param(taken_back, "withdrawn", id="withdrawn"),
        pytest.param(shut_out, "withdrawn", id="its-agent-revoked"),
        pytest.param(too_late, "expired", id="expired"),
    ],
)
async def test_a_page_that_was_just_being_made_says_so_and_is_closed(
    here: Town, ends: Callable[[Town], Awaitable[None]], reason: str
) -> None:
    await here.propose("box.add", {"n": 100})  # it makes the ledger, which is done once

    async def run() -> None:
        await ends(here)

    path = "/repos/{owner}/{repo}/pulls"
    here.world.faults.add(Fault("POST", path, when="after", run=run))
    said = (await here.ask("box.add", {"n": 4})).json()
    await here.until(said, lambda p: p.place is not None)
    await here.rest()
    kept, check = here.kept(said), here.check(said)
    assert (kept.state, kept.reason) == (State.ENDED, reason)
    assert here.pull(said).state == "closed"
    assert (check.status, check.actions) == ("completed", [])
    assert len(here.comments(said)) == 1
    [end] = [s["predicate"] for s in statements(here) if s["predicate"]["proposal"] == kept.id]
    assert end["reason"] == reason


async def test_what_ended_before_its_page_was_begun_gets_none(here: Town) -> None:
    await here.propose("box.add", {"n": 100})

    async def run() -> None:
        await taken_back(here)

    here.world.faults.add(Fault("GET", r"/contents/.*placet\.yml", when="after", run=run))
    shown = len(here.world.repository(REPOSITORY).pulls)
    said = (await here.ask("box.add", {"n": 4})).json()
    await here.until(said, lambda p: p.state is State.ENDED)
    await here.rest()
    assert here.kept(said).place is None
    assert len(here.world.repository(REPOSITORY).pulls) == shown
