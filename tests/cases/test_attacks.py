"""Attacks by somebody who has write access, or an agent's token, and means harm."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.github import Fault
from sandbox.github.actions import refs
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town, town
from tests.cases.acting import branch, review, say, waits, why_not
from tests.system.conftest import POLICY, Box
from tests.system.test_check_run_form import asked, digest, opened
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio

TWO = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 2}]
"""


def announced(here: Town, seen: dict[str, Any]) -> int:
    """The id of the comment that announces a plan on somebody's page."""
    return here.kept(seen).at.announced or 0


async def while_away(here: Town, *deeds: Any) -> None:
    """Let all this happen while Placet is down; it hears of it all at once afterwards."""
    await here.stop()
    for deed in deeds:
        here.world.clock.advance(timedelta(seconds=5))
        await deed
    here.world.clock.advance(timedelta(seconds=5))
    await here.world.settled()
    await here.start()
    await here.rest()


async def test_a_page_that_lied_and_was_put_back_gets_nobodys_yes(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, pull = here.number(seen), here.pull(seen)
    words, noor = pull.body, here.person("noor")
    await while_away(
        here,
        noor.edit_pull(REPOSITORY, number, body="Adds nothing."),
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        noor.edit_pull(REPOSITORY, number, body=words),
    )
    assert await waits(here, seen)
    assert box.runs == 0
    assert "before_opening" in await why_not(here, seen)
    here.world.clock.advance(timedelta(seconds=5))
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"


async def test_closing_is_a_no_though_it_was_opened_again_before_anybody_looked(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await while_away(
        here,
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        here.person("noor").close(REPOSITORY, number),
        here.person("lee").reopen(REPOSITORY, number),
    )
    assert (await here.over(seen))["error"]["code"] == "closed"
    assert box.runs == 0


def a_branch_beside_the_ledger(here: Town) -> None:
    repository = here.world.repository(REPOSITORY)
    tip = repository.git.branch("placet/ledger") or ""
    caller = here.person("noor").caller
    refs.create_ref(here.world, repository, caller, "refs/heads/elsewhere", tip)


async def test_another_base_is_the_end_though_it_was_put_back(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, noor = here.number(seen), here.person("noor")
    a_branch_beside_the_ledger(here)
    await while_away(
        here,
        noor.edit_pull(REPOSITORY, number, base="elsewhere"),
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        noor.edit_pull(REPOSITORY, number, base="placet/ledger"),
    )
    assert (await here.over(seen))["error"]["code"] == "base_changed"
    assert box.runs == 0


@pytest.mark.parametrize("here", [TWO], indirect=True)
async def test_an_announcement_that_lied_to_the_first_approver_voids_their_yes(
    here: Town, box: Box
) -> None:
    seen = await asked(here, await opened(here))
    run, said = here.check(seen), announced(here, seen)
    words, dana = here.page(seen).comments[said].body, here.person("dana")
    await dana.edit_comment(SHOP, said, "A harmless plan.")
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    await here.person("lee").press(run.id, "approve")
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    await dana.edit_comment(SHOP, said, words)
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    await here.person("noor").press(run.id, "approve")
    assert await waits(here, seen)
    assert box.runs == 0


async def test_one_announcement_that_names_the_other_plan_is_put_back_at_once(here: Town) -> None:
    pull = await opened(here)
    small, large = await asked(here, pull, 4), await asked(here, pull, 4000)
    said = announced(here, small)
    words = here.page(small).comments[said].body
    lie = words.replace(digest(small), digest(large))
    await here.person("dana").edit_comment(SHOP, said, lie)
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    assert here.page(small).comments[said].body == words


@pytest.mark.parametrize("here", [TWO], indirect=True)
async def test_an_old_list_of_reviews_revives_no_dismissed_approval(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    old = here.world.moment()
    [given] = here.page(seen).reviews.values()
    await here.person("lee").dismiss(REPOSITORY, given.id)
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    here.world.faults.add(Fault("GET", r"/pulls/\d+/reviews", times=99, stale=old))
    await say(here, "noor", seen, "/approve")
    assert await waits(here, seen)
    assert box.runs == 0


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_stop_between_the_start_and_the_tool_stops_the_tool(
    here: Town, box: Box, when: Any
) -> None:
    seen = await here.propose("box.add", {"n": 4})

    async def stop() -> None:
        here.store.halt("stop!", here.world.clock.now())

    here.world.faults.add(Fault("PUT", "start.json", when=when, run=stop))
    await review(here, "lee", seen)
    assert box.runs == 0
    assert "stop!" in (await here.seen(seen))["error"]["message"]


async def test_a_stop_while_a_start_stands_in_line_lets_it_wait(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    async with here.in_line(seen):
        here.store.halt("stop!", here.world.clock.now())
    assert here.kept(seen).state == "open"
    here.store.resume()
    here.hall.worker.nudge(seen["proposal"])
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_what_expired_while_it_stood_in_line_does_not_run(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    async with here.in_line(seen):
        here.world.clock.advance(timedelta(hours=5))
    here.hall.worker.nudge(seen["proposal"])
    assert (await here.over(seen))["error"]["code"] == "expired"
    assert box.runs == 0


async def test_a_head_that_moved_while_a_start_came_to_nothing_is_not_forgotten(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    pinned, dana = here.pull(seen).head_sha, here.person("dana")
    async with here.in_line(seen):
        await dana.push(REPOSITORY, branch(seen), {"x.txt": "x"})
        name, repository = f"refs/heads/{branch(seen)}", here.world.repository(REPOSITORY)
        refs.update_ref(here.world, repository, dana.caller, name, pinned, force=True)
        await here.until(seen, lambda p: p.moved)
    here.hall.worker.nudge(seen["proposal"])
    assert (await here.over(seen))["error"]["code"] == "head_moved"
    assert box.runs == 0


async def test_a_no_while_a_start_stands_in_line_is_heard(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    async with here.in_line(seen):
        await here.person("noor").comment(REPOSITORY, here.number(seen), "/reject")
        await here.world.settled()
    here.hall.worker.nudge(seen["proposal"])
    assert (await here.over(seen))["error"]["code"] == "rejected"
    assert box.runs == 0


@pytest.mark.parametrize("way", ["commit", "pull_request"])
async def test_a_commit_that_shows_a_plan_is_no_target_for_another(
    tmp_path: Path, box: Box, judged: Any, way: str
) -> None:
    """Two checks with buttons on one commit would stand side by side under somebody's eyes."""
    tools = box.toml().replace('"acme/shop"', f'"{REPOSITORY}"')
    async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as here:
        small = await here.propose("box.add", {"n": 4})
        head, dana = here.pull(small).head_sha, here.person("dana")
        page: dict[str, Any] = {"commit": head}
        if way == "pull_request":
            repository = here.world.repository(REPOSITORY)
            refs.create_ref(here.world, repository, dana.caller, "refs/heads/nice", head)
            a_branch_beside_the_ledger(here)
            pull = await dana.open_pull(REPOSITORY, title="Nice", head="nice", base="elsewhere")
            page = {"pull_request": pull.number}
        said = await here.ask("box.add", {"n": 4000}, target={"repository": REPOSITORY, **page})
        assert (said.status_code, said.json()["code"]) == (422, "target_not_allowed")


async def test_an_agent_does_nothing_to_what_another_asked_for(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    sam, now = here.world.account("sam").id, here.world.clock.now()
    here.store.add_agent("other-bot", token_hash("placet_other"), frozenset({sam}), now)
    here.token = "placet_other"
    for way in ("", "/withdraw", "/undo", "/explanation"):
        async with here.http() as http:
            method = "POST" if way in ("/withdraw", "/undo") else "GET"
            said = await http.request(method, f"/v1/proposals/{seen['proposal']}{way}")
        assert said.status_code == 404
    again = (await here.ask("box.add", {"n": 4})).json()
    assert again["proposal"] != seen["proposal"]
