"""Somebody changes what is shown, has the lie approved and puts it back; no delivery tells of it.

What GitHub says of the last edit, right before the start, is enough.
"""

import json
from base64 import b64decode
from datetime import datetime, timedelta
from typing import Any

import pytest

from proposals.lifecycle import State
from proposals.plan import Place
from sandbox.github import DeliveryFault, Fault
from sandbox.github.person import Person
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.cases.acting import review, short, waits, why_not
from tests.cases.test_attacks import while_away
from tests.system.conftest import Box
from tests.system.test_check_run_form import asked, opened

pytestmark = pytest.mark.anyio

LATER = timedelta(seconds=10)
PAGE = "/graphql#Page"


def deaf(here: Town, event: str) -> None:
    """No delivery of an edit gets through."""
    here.world.faults.add(DeliveryFault(event, "hold", "edited", times=9))


async def yes(here: Town, who: Person, at: Place, words: str, how: str) -> None:
    """Lee says it, and GitHub sends it at once: that is the only date a press has."""
    if how == "review":
        await who.review(REPOSITORY, at.number, "APPROVE")
    elif how == "comment":
        await who.comment(SHOP if at.home else REPOSITORY, at.number, words)
    else:
        await who.press(at.check_run, "approve")
    await here.world.settled()


def pasted(seen: dict[str, Any]) -> str:
    return f"/approve {short(seen)}"


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param({"body": "Adds nothing."}, id="text"),
        pytest.param({"title": "Add nothing"}, id="title"),
        pytest.param({"title": "Add nothing", "body": "Adds nothing."}, id="both"),
    ],
)
@pytest.mark.parametrize("how", ["review", "comment", "button"])
async def test_a_page_that_lied_to_its_approver(
    here: Town, box: Box, lie: dict[str, str], how: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number, pull = here.person("noor"), here.number(seen), here.pull(seen)
    before = {name: getattr(pull, name) for name in lie}
    deaf(here, "pull_request")
    here.world.clock.advance(LATER)
    await while_away(
        here,
        noor.edit_pull(REPOSITORY, number, **lie),
        yes(here, here.person("lee"), here.kept(seen).at, pasted(seen), how),
        noor.edit_pull(REPOSITORY, number, **before),
    )
    assert await waits(here, seen)
    assert box.runs == 0
    assert here.kept(seen).edits == 0, "no delivery told of it"
    assert "before_opening" in await why_not(here, seen)
    here.world.clock.advance(LATER)
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"


@pytest.mark.parametrize("how", ["comment", "button"])
async def test_an_announcement_that_lied_to_its_approver(here: Town, box: Box, how: str) -> None:
    seen = await asked(here, await opened(here))
    said, dana = here.kept(seen).at.announced or 0, here.person("dana")
    words = here.page(seen).comments[said].body
    deaf(here, "issue_comment")
    here.world.clock.advance(LATER)
    await while_away(
        here,
        dana.edit_comment(SHOP, said, "Harmless."),
        yes(here, here.person("lee"), here.kept(seen).at, pasted(seen), how),
        dana.edit_comment(SHOP, said, words),
    )
    assert await waits(here, seen)
    assert box.runs == 0
    assert "before_opening" in await why_not(here, seen)
    here.world.clock.advance(LATER)
    await here.person("noor").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"


async def test_a_yes_in_the_second_of_the_edit_is_void_too(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number, body = here.person("noor"), here.number(seen), here.pull(seen).body
    deaf(here, "pull_request")
    here.world.clock.freeze()
    here.world.clock.advance(LATER)
    await here.stop()
    await noor.edit_pull(REPOSITORY, number, body="Adds nothing.")
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await noor.edit_pull(REPOSITORY, number, body=body)
    await here.world.settled()
    await here.start()
    await here.rest()
    assert "before_opening" in await why_not(here, seen)
    assert box.runs == 0


async def test_our_own_restoring_voids_nothing_that_was_said_later(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("noor").edit_pull(REPOSITORY, here.number(seen), title="No", body="Nothing.")
    await here.rest()
    here.world.clock.advance(LATER)
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert here.pull(seen).body_edited_at
    assert box.runs == 1


async def test_while_github_does_not_say_it_waits(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    down = Fault("POST", PAGE, status=502, times=999)
    here.world.faults.add(down)
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert down.seen
    assert box.runs == 0
    here.world.faults.clear()
    await review(here, "noor", seen)
    assert (await here.over(seen))["status"] == "applied"


async def test_an_answer_from_before_the_lie_and_the_yes_is_none(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number, body = here.person("noor"), here.number(seen), here.pull(seen).body
    old = here.world.moment()
    deaf(here, "pull_request")
    here.world.faults.add(Fault("POST", PAGE, stale=old, times=999))
    await while_away(
        here,
        noor.edit_pull(REPOSITORY, number, body="Adds nothing."),
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        noor.edit_pull(REPOSITORY, number, body=body),
    )
    assert await waits(here, seen)
    assert box.runs == 0


async def test_a_rejection_before_the_lie_stays_one(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number, body = here.person("noor"), here.number(seen), here.pull(seen).body
    await review(here, "noor", seen, "REQUEST_CHANGES")
    deaf(here, "pull_request")
    here.world.clock.advance(LATER)
    for words in ("Adds nothing.", body):
        await noor.edit_pull(REPOSITORY, number, body=words)
    here.world.clock.advance(LATER)
    await review(here, "lee", seen)
    assert here.kept(seen).state is State.OPEN
    assert box.runs == 0


async def test_the_signed_start_says_from_when_on_a_yes_counted(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number, body = here.person("noor"), here.number(seen), here.pull(seen).body
    deaf(here, "pull_request")
    here.world.clock.freeze()
    here.world.clock.advance(LATER)
    for words in ("Adds nothing.", body):
        await noor.edit_pull(REPOSITORY, number, body=words)
    edited = here.world.clock.now()
    here.world.clock.advance(LATER)
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"
    git, month = here.world.repository(REPOSITORY).git, here.kept(seen).created
    path = f"proposals/{month:%Y/%m}/{seen['proposal']}/start.json"
    data = git.blob(str(git.entry(git.branch("placet/ledger") or "", path).id))
    said = json.loads(b64decode(json.loads(data)["envelope"]["payload"]))["predicate"]
    from_then_on = datetime.fromisoformat(said["valid_from"])
    assert from_then_on == edited + timedelta(seconds=1)
    assert [datetime.fromisoformat(a["at"]) >= from_then_on for a in said["approvals"]] == [True]
    assert box.runs == 1
