"""Two approved calls that change the same thing: the second is planned on what the first left."""

from datetime import timedelta

import pytest

from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


async def _both(here: Town, box: Box) -> tuple[dict[str, str], dict[str, str]]:
    """One call that is being carried out for as long as the box is slow, and one approved then."""
    first = await here.propose("box.add", {"n": 1})
    second = await here.propose("box.add", {"n": 5})
    box.breaks("slow write")
    await here.person("lee").review(REPOSITORY, here.number(first), "APPROVE")
    await here.until(first, lambda p: p.state is State.STARTED)
    await here.person("lee").review(REPOSITORY, here.number(second), "APPROVE")
    await here.until(second, lambda p: p.reason == "waits_in_line")
    return first, second


async def test_what_changes_a_thing_that_is_being_changed_waits(here: Town, box: Box) -> None:
    first, second = await _both(here, box)
    waiting = here.kept(second)
    assert (waiting.state, waiting.moved) == (State.OPEN, False)
    assert first["proposal"] in waiting.why
    title = "Approved: another change of the same thing is done first"
    await here.until(second, lambda _: here.check(second).output["title"] == title)
    assert first["proposal"] in str(here.check(second).output["summary"])
    assert "It is held up" in (await here.seen(second))["say_to_user"]
    box.mends()
    assert (await here.over(first))["status"] == "applied"
    ended = await here.over(second)
    assert (ended["status"], ended["error"]["code"]) == ("ended", "drifted")
    assert (box.runs, box.value) == (1, 2)


async def test_it_starts_when_the_other_one_did_nothing(here: Town, box: Box) -> None:
    first, second = await _both(here, box)
    box.breaks("nothing")
    assert (await here.over(first))["status"] == "failed"
    assert (await here.over(second))["status"] == "failed"  # by the tool's own word: it was run
    assert (box.runs, box.value) == (2, 1)


async def test_a_yes_given_before_it_was_known_that_it_may_be_done_already_does_not_count(
    here: Town, box: Box
) -> None:
    """The page said "Look before you decide", and the change began at once on the old yes."""
    first, second = await _both(here, box)
    await here.until(first, lambda p: p.state is State.UNKNOWN)
    box.mends()
    await here.rest()
    assert (here.kept(second).state, box.runs) == (State.OPEN, 1)
    assert sum("Look before you decide" in said for said in here.comments(second)) == 1
    assert "does not count" in str(here.check(second).output["title"])
    warned = here.kept(second).valid_from
    here.world.clock.advance(timedelta(minutes=1))
    await here.stop()
    await here.start()
    await here.rest()
    assert here.kept(second).valid_from == warned, "what is said after the warning stays said"
    await here.person("lee").review(REPOSITORY, here.number(second), "APPROVE")
    assert (await here.over(second))["status"] == "applied"
    assert box.runs == 2


async def test_what_becomes_unknown_while_a_page_is_made_is_said_on_it_all_the_same(
    here: Town, box: Box
) -> None:
    """The page was written before that was known, and the warning was for pages that stood."""
    first = await here.propose("box.add", {"n": 1})
    box.breaks("slow write")
    await here.person("lee").review(REPOSITORY, here.number(first), "APPROVE")
    await here.until(first, lambda p: p.state is State.STARTED)

    async def known() -> None:
        await here.until(first, lambda p: "checks" in (p.outcome or {}))  # it was read back

    here.world.faults.add(Fault("POST", "/repos/{owner}/{repo}/pulls", when="after", run=known))
    second = await here.propose("box.add", {"n": 5})
    assert "Look first" not in (here.pull(second).body or "")
    assert sum("Look before you decide" in said for said in here.comments(second)) == 1
    assert here.kept(second).valid_from > here.kept(second).at.opened
