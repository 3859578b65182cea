"""The main job from the agent's call to the receipt, over the judged sandbox."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from proposals.likeness import genuine
from sandbox.github.actions import refs
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


async def test_an_approved_call_is_applied_once_and_told_everywhere(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4}, reason="the box is nearly empty")
    assert (seen["status"], seen["executed"], box.runs) == ("awaiting_approval", False, 0)
    over = await approve(here, seen)
    assert (over["status"], over["executed"]) == ("applied", True)
    assert over["_verification"]["verdict"] == "verified"
    assert (box.value, box.runs) == (5, 1)
    assert here.pull(seen).merged_at is not None
    assert "Done" in here.check(seen).output["title"]
    assert sum("Done" in said for said in here.comments(seen)) == 1
    assert over["receipt"]["approved_by"][0]["login"] == "lee"


async def test_a_button_approves(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("lee").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


@pytest.mark.parametrize(
    "words",
    [pytest.param("/approve", id="bare"), pytest.param("/approve {digest}", id="naming-the-plan")],
)
async def test_a_comment_approves(here: Town, box: Box, words: str) -> None:
    seen = await here.propose("box.add", {"n": 4})
    words = words.format(digest=seen["digest"].removeprefix("sha256:")[:12])
    await here.person("lee").comment(REPOSITORY, here.number(seen), words)
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


@pytest.mark.parametrize(
    ("who", "title"),
    [
        pytest.param("dana", "the agent works for them", id="the-agents-person"),
        pytest.param("sam", "access is too low", id="a-reader"),
    ],
)
async def test_an_approval_that_does_not_count_says_why(
    here: Town, box: Box, who: str, title: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person(who).review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert title in here.check(seen).output["title"]
    assert any(f"@{who}, your approval does not count" in said for said in here.comments(seen))
    assert box.runs == 0


async def test_drift_applies_nothing_and_says_what_changed(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.value = 2
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"], box.runs) == ("ended", "drifted", 0)
    changed = {d["pointer"]: (d["before"], d["after"]) for d in over["receipt"]["differences"]}
    assert changed["/preconditions/value"] == (1, 2)
    assert here.pull(seen).state == "closed"
    assert here.pull(seen).merged_at is None


async def test_reject_ends_it(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/reject too much")
    over = await here.over(seen)
    assert (over["status"], over["error"]["code"]) == ("ended", "rejected")
    await here.person("noor").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 0
    assert any("changes nothing any more" in said for said in here.comments(seen))


async def test_reject_by_the_agents_person_withdraws(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("dana").comment(REPOSITORY, here.number(seen), "/reject")
    assert (await here.over(seen))["error"]["code"] == "withdrawn"


async def test_changes_requested_block_until_their_author_approves(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number = here.person("noor"), here.number(seen)
    await noor.review(REPOSITORY, number, "REQUEST_CHANGES", "why 4?")
    await here.rest()
    here.world.clock.advance(timedelta(seconds=2))
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.rest()
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert "noor" in here.check(seen).output["title"]
    here.world.clock.advance(timedelta(seconds=2))
    await noor.review(REPOSITORY, number, "APPROVE")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_a_push_to_the_branch_ends_it(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    branch = f"placet/p/{seen['proposal']}"
    await here.person("lee").push(REPOSITORY, branch, {"x.txt": "x"})
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("head_moved", 0)


async def test_a_retarget_ends_it(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, repo = here.person("noor"), here.world.repository(REPOSITORY)
    tip = repo.git.branch("placet/ledger")
    refs.create_ref(here.world, repo, noor.caller, "refs/heads/elsewhere", tip)
    await noor.edit_pull(REPOSITORY, here.number(seen), base="elsewhere")
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("base_changed", 0)


async def test_closing_ends_it_and_reopening_revives_nothing(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    noor, number = here.person("noor"), here.number(seen)
    await noor.close(REPOSITORY, number)
    assert (await here.over(seen))["error"]["code"] == "closed"
    await noor.reopen(REPOSITORY, number)
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.rest()
    assert (await here.seen(seen))["status"] == "ended"
    assert box.runs == 0


async def test_an_edited_page_is_restored_and_approvals_before_are_void(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, body = here.number(seen), here.pull(seen).body
    here.world.clock.freeze()
    await here.person("noor").edit_pull(REPOSITORY, number, body="Add nothing, harmless")
    await here.rest()
    assert here.pull(seen).body == body
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.rest()
    assert box.runs == 0, "said in the second of the restoring: who knows what was read"
    here.world.clock.advance(timedelta(seconds=5))
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    assert (await here.over(seen))["status"] == "applied"


async def test_the_third_edit_of_a_page_is_its_end(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, body = here.number(seen), here.pull(seen).body
    for what in ({"title": "Nothing"}, {"body": "Harmless"}):
        await here.person("noor").edit_pull(REPOSITORY, number, **what)
        await here.rest()
        assert (await here.seen(seen))["status"] == "awaiting_approval"
    await here.person("noor").edit_pull(REPOSITORY, number, body="Harmless, really")
    told = await here.over(seen)
    assert (told["status"], told["error"]["code"]) == ("ended", "edited_too_often")
    assert (here.pull(seen).body, here.pull(seen).state) == (body, "closed")
    assert any("was edited again and again" in said for said in here.comments(seen))
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.rest()
    assert box.runs == 0


async def test_an_answer_of_ours_that_somebody_edits_is_put_back(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    await approve(here, seen)
    bot = here.stage.app.bot_id
    ours = [c for c in here.page(seen).comments.values() if c.author_id == bot]
    written = [c.body for c in ours]
    assert len(written) == 2, "the answer to sam, and the outcome"
    for comment in ours:
        await here.person("noor").edit_comment(REPOSITORY, comment.id, "Everything went wrong.")
    await here.rest()
    assert here.comments(seen) == written
    for words in ("Once more.", "And again.", "For ever."):
        await here.person("noor").edit_comment(REPOSITORY, ours[0].id, words)
        await here.rest()
    assert here.comments(seen) == ["For ever.", written[1]], "no war without an end"


async def test_somebody_elses_comment_is_never_touched(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    [ours] = here.comments(seen)
    copied = await here.person("sam").comment(REPOSITORY, here.number(seen), ours)
    await here.person("noor").edit_comment(REPOSITORY, copied.id, "Mine")
    await here.rest()
    assert here.page(seen).comments[copied.id].body == "Mine"


async def test_an_edited_approving_comment_counts_no_more(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    sam = here.person("sam")
    comment = await sam.comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    await here.person("noor").edit_comment(REPOSITORY, comment.id, "/approve please")
    here.world.set_permission(REPOSITORY, "sam", "write")
    await here.rest()
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert box.runs == 0


async def test_replan_opens_a_linked_proposal(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.value = 2
    await approve(here, seen)
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
    await here.rest()
    fresh = next(p for p in here.store.proposals() if p.parent == seen["proposal"])
    assert (fresh.parent, fresh.state) == (seen["proposal"], "open")
    over = await approve(here, {"proposal": fresh.id})
    assert (over["status"], box.value) == ("applied", 6)


async def test_expiry_ends_it_and_a_late_approval_is_told_so(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.clock.advance(timedelta(hours=4))
    over = await approve(here, seen)
    assert (over["error"]["code"], box.runs) == ("expired", 0)


async def test_people_are_warned_once_before_it_ends(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    for later, warned in ((timedelta(hours=2, minutes=59), 0), (timedelta(minutes=2), 1)):
        here.world.clock.advance(later)
        for _ in range(2):  # the sweep comes again and again
            await here.stop()
            await here.start()
            await asyncio.sleep(0.1)
            await here.rest()
        said = [text for text in here.comments(seen) if "is still open and ends" in text]
        assert len(said) == warned, here.comments(seen)
    assert "1 person with write access" in said[0].replace("`", "")
    assert (await here.seen(seen))["status"] == "awaiting_approval"


async def test_the_agent_withdraws(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    async with here.http() as http:
        await http.post(f"/v1/proposals/{seen['proposal']}/withdraw")
    over = await here.over(seen)
    assert over["error"]["code"] == "withdrawn"
    assert here.pull(seen).state == "closed"
    assert box.runs == 0


@pytest.mark.parametrize(
    ("fault", "status", "value"),
    [
        pytest.param("nothing", "failed", 1, id="the-tool-says-it-did-nothing"),
        pytest.param("lie", "failed", 1, id="reading-back-contradicts-the-tool"),
        pytest.param("die", "applied", 5, id="no-answer-but-the-world-shows-it"),
        pytest.param("hang", "applied", 5, id="no-answer-in-time-but-the-world-shows-it"),
    ],
)
async def test_outcomes_are_told_as_they_are(
    here: Town, box: Box, fault: str, status: str, value: int
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks(fault)
    over = await approve(here, seen)
    assert (over["status"], box.value, box.runs) == (status, value, 1)


async def test_the_statements_hold_the_plan_and_who_approved(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await approve(here, seen)
    git = here.world.repository(REPOSITORY).git
    files = {p: d for p, d in ledger(git).items() if seen["proposal"] in p}
    names = {path.rsplit("/", 1)[1] for path in files}
    assert names == {"plan.json", "start.json", "end.json"}
    start = next(json.loads(d) for p, d in files.items() if p.endswith("start.json"))
    said = start["statement"]["predicate"]
    assert said["plan"] == here.kept(seen).plan.plan
    assert [a["login"] for a in said["approvals"]] == ["lee"]
    for file in files.values():  # an agent may read them through the gateway
        genuine(file.decode())


def ledger(git: Any) -> dict[str, bytes]:
    """Every file of the ledger branch."""
    import pygit2  # noqa: PLC0415

    repo = pygit2.Repository(str(git.path))
    tree = repo.references["refs/heads/placet/ledger"].peel(pygit2.Tree)
    found: dict[str, bytes] = {}

    def walk(tree: Any, above: str) -> None:
        for entry in tree:
            path = f"{above}{entry.name}"
            if entry.type_str == "tree":
                walk(repo[entry.id], path + "/")
            else:
                found[path] = repo[entry.id].data

    walk(tree, "")
    return found


async def test_a_tool_that_has_no_plan_any_more_ends_it(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("no plan")
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"], box.runs) == ("ended", "plan_failed", 0)
    assert "the box is gone" in over["receipt"]["why"]


async def test_a_tool_that_cannot_answer_proves_nothing_and_is_asked_again(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("crash")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    box.breaks("")
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
