"""Stances that GitHub shows and never delivered: they grant nothing, and a no stops the start."""

from datetime import timedelta
from typing import Any

import pytest

from sandbox.github import DeliveryFault, Fault
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.cases.acting import why_not
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

COMMENTS = "/repos/{owner}/{repo}/issues/{issue_number}/comments"


async def unheard(here: Town, who: str, seen: dict[str, Any], words: str) -> None:
    """Comment, and let the delivery get lost for ever."""
    here.world.faults.add(DeliveryFault("issue_comment", "lose"))
    await here.person(who).comment(REPOSITORY, here.number(seen), words)
    await here.rest()


async def talk(here: Town, seen: dict[str, Any]) -> None:
    """More comments than one answer about the page shows."""
    for _ in range(51):
        await here.person("sam").comment(REPOSITORY, here.number(seen), "What is this?")
    await here.rest()


def later(here: Town, seconds: int = 61) -> None:
    here.world.clock.advance(timedelta(seconds=seconds))


def asked_for(here: Town, template: str) -> int:
    return sum(f"{e.method} {e.template}" == f"GET {template}" for e in here.world.log.entries)


async def look_again(here: Town, seen: dict[str, Any]) -> None:
    worker: Any = here.hall.worker
    worker.nudge(seen["proposal"])
    await here.rest()


@pytest.mark.parametrize("surface", ["review", "button", "comment"])
async def test_an_undelivered_rejection_lets_nobody_elses_approval_start_anything(
    here: Town, box: Box, surface: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await unheard(here, "noor", seen, "/reject not in December")
    lee = here.person("lee")
    if surface == "review":
        await lee.review(REPOSITORY, here.number(seen), "APPROVE")
    elif surface == "button":
        await lee.press(here.check(seen).id, "approve")
    else:
        await lee.comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    now = await here.seen(seen)
    assert (now["status"], box.runs) == ("awaiting_approval", 0)
    assert "blocked" in await why_not(here, seen)
    later(here)
    await look_again(here, seen)
    [told] = [said for said in here.comments(seen) if "@noor" in said]
    assert "never delivered" in told
    assert box.runs == 0


async def test_its_late_delivery_ends_the_proposal(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("issue_comment", "fail"))
    await here.person("noor").comment(REPOSITORY, here.number(seen), "/reject")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert ((await here.seen(seen))["status"], box.runs) == ("awaiting_approval", 0)
    await here.stop()
    await here.start()
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("rejected", 0)


async def test_it_holds_nothing_up_once_its_author_has_taken_it_away(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await unheard(here, "noor", seen, "/reject")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 0
    [comment] = [c for c in here.page(seen).comments.values() if c.body == "/reject"]
    await here.person("noor").delete_comment(REPOSITORY, comment.id)
    assert (await here.over(seen))["status"] == "applied"


async def test_a_rejection_by_somebody_who_may_not_decide_holds_nothing_up(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await unheard(here, "sam", seen, "/reject")
    assert (await approve(here, seen))["status"] == "applied"
    assert box.runs == 1


async def test_one_that_takes_the_place_of_a_comment_that_is_gone_is_found(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    sam = here.person("sam")
    said = await sam.comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    for comment in [c for c in here.page(seen).comments.values() if c.author_id != said.author_id]:
        here.page(seen).comments.pop(comment.id)  # our answer, so that the numbers agree
    here.world.faults.add(DeliveryFault("issue_comment", "lose", action="deleted"))
    await sam.delete_comment(REPOSITORY, said.id)
    await unheard(here, "noor", seen, "/reject")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert ((await here.seen(seen))["status"], box.runs) == ("awaiting_approval", 0)


async def test_an_undelivered_approval_counts_for_nothing_and_its_author_is_told_once(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await unheard(here, "lee", seen, "/approve")
    await look_again(here, seen)
    assert not here.comments(seen), "it may still be on its way"
    for _ in range(2):
        later(here)
        await look_again(here, seen)
    [told] = here.comments(seen)
    assert "@lee" in told
    assert "never delivered" in told
    assert box.runs == 0
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/approve")
    assert (await here.over(seen))["status"] == "applied"


async def test_while_the_comments_cannot_be_read_nothing_starts(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await talk(here, seen)
    here.world.faults.add(Fault("GET", COMMENTS, status=502, times=99))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert "unreadable" in await why_not(here, seen)
    assert box.runs == 0
    here.world.faults.clear()
    await look_again(here, seen)
    assert (await here.over(seen))["status"] == "applied"


async def test_comments_are_listed_only_when_the_page_itself_does_not_show_all_of_them(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").comment(REPOSITORY, here.number(seen), "What is this?")
    await approve(here, seen)
    assert asked_for(here, COMMENTS) == 0
    other = await here.propose("box.add", {"n": 5})
    await talk(here, other)
    await approve(here, other)
    assert asked_for(here, COMMENTS) == 1
    assert box.runs == 2


async def test_a_rejection_behind_many_newer_comments_is_found(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await unheard(here, "noor", seen, "/reject not in December")
    await talk(here, seen)
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert ((await here.seen(seen))["status"], box.runs) == ("awaiting_approval", 0)


async def test_on_somebodys_page_an_undelivered_rejection_must_name_the_plan(
    here: Town, box: Box
) -> None:
    await here.person("lee").push(SHOP, "basket", {"basket.py": "pass\n"})
    pull = await here.person("lee").open_pull(SHOP, title="A basket", head="basket")
    target = {"repository": SHOP, "pull_request": pull.number}
    seen = await here.propose("box.add", {"n": 4}, target=target)
    digest = seen["digest"].removeprefix("sha256:")[:12]
    noor = here.person("noor")
    here.world.faults.add(DeliveryFault("issue_comment", "lose", action="created", times=2))
    await noor.comment(SHOP, pull.number, "/reject")
    named = await noor.comment(SHOP, pull.number, f"/reject {digest}")
    await here.person("lee").press(here.check(seen).id, "approve")
    await here.rest()
    assert ((await here.seen(seen))["status"], box.runs) == ("awaiting_approval", 0)
    await noor.delete_comment(SHOP, named.id)
    assert (await here.over(seen))["status"] == "applied"


async def test_an_undelivered_yes_through_an_app_is_not_taken_for_the_persons_own(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    app = here.world.add_app("editor", permissions={"issues": "write"}, events=[])
    here.world.install(app, "acme", [REPOSITORY])
    here.world.faults.add(DeliveryFault("issue_comment", "lose"))
    lee = here.world.person("lee", via=app)
    await lee.comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    await look_again(here, seen)
    heard = await why_not(here, seen)
    assert ("via_app" in heard, "not_delivered" in heard, box.runs) == (True, False, 0)
