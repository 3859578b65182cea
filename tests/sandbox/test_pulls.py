from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox.github import Refused
from tests.sandbox.stage import REPO, Stage

pytestmark = pytest.mark.anyio
PLAN = {"title": "Change 3 rows", "head": "plan", "base": "main"}


async def merge(stage: Stage, number: int, **more: Any) -> Any:
    return await stage.ask("PUT", f"pulls/{number}/merge", more)


async def test_one_head_has_one_open_pull_request(stage: Stage) -> None:
    await stage.pull()
    again = await stage.ask("POST", "pulls", PLAN)
    assert again.status_code == 422
    assert again.json()["errors"][0]["message"] == "A pull request already exists for acme:plan."


async def test_a_pull_request_needs_commits_of_its_own(stage: Stage) -> None:
    assert (await stage.ask("POST", "pulls", PLAN | {"head": "main"})).status_code == 422
    assert (await stage.ask("POST", "pulls", PLAN | {"head": "none"})).status_code == 422


async def test_a_pull_request_needs_a_common_history(stage: Stage) -> None:
    tree = (await stage.ask("POST", "git/trees", {"tree": []})).json()["sha"]
    commit = await stage.ask("POST", "git/commits", {"message": "root", "tree": tree})
    wanted = {"ref": "refs/heads/placet/ledger", "sha": commit.json()["sha"]}
    assert (await stage.ask("POST", "git/refs", wanted)).status_code == 201
    answer = await stage.ask("POST", "pulls", PLAN | {"head": "placet/ledger"})
    assert "no history in common" in answer.json()["errors"][0]["message"]


async def test_pull_requests_are_found_by_head_and_state(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    assert [p["number"] for p in await stage.get("pulls?head=acme:plan")] == [number]
    assert await stage.get("pulls?head=acme:other") == []
    await stage.world.person("ann").close(REPO, number)
    assert await stage.get("pulls?head=acme:plan") == []
    assert len(await stage.get("pulls?head=acme:plan&state=closed")) == 1


async def test_merge_at_the_head_makes_a_commit_of_two_parents(stage: Stage) -> None:
    pull = await stage.pull()
    words = {"commit_title": "Done", "commit_message": "Placet-Proposal: P1"}
    answer = await merge(stage, pull["number"], sha=pull["head"]["sha"], **words)
    commit = await stage.get(f"git/commits/{answer.json()['sha']}")
    assert commit["message"] == "Done\n\nPlacet-Proposal: P1"
    assert [p["sha"] for p in commit["parents"]] == [pull["base"]["sha"], pull["head"]["sha"]]
    found = await stage.get(f"pulls/{pull['number']}")
    assert (found["state"], found["merged"], found["merged_by"]["login"]) == (
        "closed", True, "placet[bot]",
    )  # fmt: skip


@pytest.mark.parametrize(("method", "parents"), [("merge", 2), ("squash", 1), ("rebase", 1)])
async def test_the_three_ways_to_merge(stage: Stage, method: str, parents: int) -> None:
    number = (await stage.pull())["number"]
    await stage.world.person("ann").push(REPO, "main", {"other": "x"})
    answer = await merge(stage, number, merge_method=method)
    commit = await stage.get(f"git/commits/{answer.json()['sha']}")
    assert len(commit["parents"]) == parents
    assert (await stage.ask("GET", "contents/plan.json")).status_code == 200


async def test_merge_of_a_moved_head_is_409(stage: Stage) -> None:
    pull = await stage.pull()
    await stage.world.person("ann").push(REPO, "plan", {"x": "y"})
    assert (await merge(stage, pull["number"], sha=pull["head"]["sha"])).status_code == 409


async def conflict(stage: Stage, _number: int) -> None:
    await stage.world.person("ann").push(REPO, "main", {"plan.json": "other\n"})


async def closed(stage: Stage, number: int) -> None:
    await stage.world.person("ann").close(REPO, number)


async def merged(stage: Stage, number: int) -> None:
    await stage.world.person("ann").merge(REPO, number)


async def check_required(stage: Stage, _number: int) -> None:
    checks = {"required_status_checks": [{"context": "ci"}]}
    rule = {"type": "required_status_checks", "parameters": checks}
    stage.world.add_ruleset(REPO, "ci", branches=["main"], rules=[rule])


@pytest.mark.parametrize("obstacle", [conflict, closed, merged, check_required])
async def test_what_cannot_be_merged_is_405(
    stage: Stage, obstacle: Callable[[Stage, int], Awaitable[None]]
) -> None:
    number = (await stage.pull())["number"]
    await obstacle(stage, number)
    assert (await merge(stage, number)).status_code == 405


async def test_a_push_of_the_head_into_the_base_merges(stage: Stage) -> None:
    pull = await stage.pull()
    await stage.ask("PATCH", "git/refs/heads/main", {"sha": pull["head"]["sha"]})
    assert (await stage.get(f"pulls/{pull['number']}"))["merged"] is True


async def test_deleting_the_branch_closes_the_pull_request(stage: Stage) -> None:
    pull = await stage.pull()
    await stage.world.person("ann").delete_branch(REPO, "plan")
    found = await stage.get(f"pulls/{pull['number']}")
    assert (found["state"], found["merged"], found["head"]["sha"]) == (
        "closed", False, pull["head"]["sha"],
    )  # fmt: skip
    with pytest.raises(Refused, match="Validation Failed"):
        await stage.world.person("ann").reopen(REPO, pull["number"])


async def test_everyone_who_writes_edits_title_body_and_base(stage: Stage) -> None:
    number, ann = (await stage.pull())["number"], stage.world.person("ann")
    await ann.push(REPO, "other", {"x": "y"})
    await ann.edit_pull(REPO, number, title="Harmless", body="nothing to see", base="other")
    found = await stage.get(f"pulls/{number}")
    assert (found["title"], found["body"], found["base"]["ref"]) == (
        "Harmless", "nothing to see", "other",
    )  # fmt: skip
    with pytest.raises(Refused, match="write access"):
        await stage.world.person("sam").edit_pull(REPO, number, title="Mine")


async def test_a_body_of_65537_characters_is_too_long(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    for size, status in ((65_536, 200), (65_537, 422)):
        answer = await stage.ask("PATCH", f"pulls/{number}", {"body": "x" * size})
        assert answer.status_code == status


@pytest.mark.parametrize(
    ("login", "status"),
    [
        pytest.param("ann", 201, id="a-writer"),
        pytest.param("sam", 201, id="a-reader"),
        pytest.param("eve", 422, id="a-stranger"),
        pytest.param("nobody", 422, id="nobody-at-all"),
        pytest.param("placet[bot]", 422, id="its-author"),
    ],
)
async def test_who_can_be_asked_for_a_review(stage: Stage, login: str, status: int) -> None:
    number = (await stage.pull())["number"]
    answer = await stage.ask("POST", f"pulls/{number}/requested_reviewers", {"reviewers": [login]})
    assert answer.status_code == status
    asked = (await stage.get(f"pulls/{number}/requested_reviewers"))["users"]
    assert [user["login"] for user in asked] == ([login] if status == 201 else [])


async def test_the_requester_may_approve_the_pull_request_of_the_bot(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    answer = await stage.ask("POST", f"pulls/{number}/reviews", {"event": "APPROVE"}, as_="req")
    assert (answer.status_code, answer.json()["state"]) == (200, "APPROVED")


async def test_every_reader_may_approve_and_strangers_may_not(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    path, wanted = f"pulls/{number}/reviews", {"event": "APPROVE"}
    assert (await stage.ask("POST", path, wanted, as_="sam")).status_code == 200
    assert (await stage.ask("POST", path, wanted, as_="eve")).status_code == 404


@pytest.mark.parametrize("event", ["APPROVE", "REQUEST_CHANGES"])
async def test_nobody_judges_his_own_pull_request(stage: Stage, event: str) -> None:
    number = (await stage.pull())["number"]
    wanted = {"event": event, "body": "fine"}
    answer = await stage.ask("POST", f"pulls/{number}/reviews", wanted)
    assert answer.status_code == 422


async def test_a_review_names_the_head_unless_its_author_names_an_older_commit(
    stage: Stage,
) -> None:
    pull, ann = await stage.pull(), stage.world.person("ann")
    old = pull["head"]["sha"]
    new = await ann.push(REPO, "plan", {"x": "y"})
    assert (await ann.review(REPO, pull["number"], "APPROVE")).commit_id == new
    assert (await ann.review(REPO, pull["number"], "APPROVE", "", old)).commit_id == old
    with pytest.raises(Refused):
        await ann.review(REPO, pull["number"], "APPROVE", "", "0" * 40)


async def test_a_dismissed_review_stays_and_says_so(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    review = await stage.world.person("sam").review(REPO, number, "APPROVE")
    with pytest.raises(Refused, match="write access"):
        await stage.world.person("sam").dismiss(REPO, review.id)
    path = f"pulls/{number}/reviews/{review.id}"
    await stage.ask("PUT", f"{path}/dismissals", {"message": "stale"}, as_="ann")
    assert (await stage.get(path))["state"] == "DISMISSED"
    again = await stage.ask("PUT", f"{path}/dismissals", {"message": "stale"})
    assert again.status_code == 422


async def test_a_comment_of_the_bot_can_be_edited_by_every_writer(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    made = await stage.ask("POST", f"issues/{number}/comments", {"body": "applied"})
    path = f"issues/comments/{made.json()['id']}"
    assert (await stage.ask("PATCH", path, {"body": "no!"}, as_="sam")).status_code == 403
    assert (await stage.ask("PATCH", path, {"body": "no!"}, as_="ann")).status_code == 200
    found = await stage.get(path)
    assert (found["body"], found["user"]["login"]) == ("no!", "placet[bot]")
    assert (await stage.ask("DELETE", path, as_="ann")).status_code == 204
    assert (await stage.ask("GET", path)).status_code == 404


async def test_a_comment_through_an_app_says_so(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    by_hand = await stage.world.person("ann").comment(REPO, number, "/approve")
    robot = stage.world.person("ann", via=stage.app)
    through = await robot.comment(REPO, number, "/approve")
    found = {c["id"]: c for c in await stage.get(f"issues/{number}/comments")}
    assert found[by_hand.id]["performed_via_github_app"] is None
    assert found[through.id]["performed_via_github_app"]["id"] == stage.app.id
    assert found[through.id]["user"]["login"] == "ann"


async def test_each_emoji_counts_once_for_each_person(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    comment = await stage.world.person("ann").comment(REPO, number, "/approve")
    path = f"issues/comments/{comment.id}/reactions"
    answers = [await stage.ask("POST", path, {"content": "eyes"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert len(await stage.get(path)) == 1
    assert (await stage.get(f"issues/comments/{comment.id}"))["reactions"]["eyes"] == 1


async def test_a_person_is_not_asked_to_review_their_own_pull_request(stage: Stage) -> None:
    req = stage.world.person("req")
    await req.push(REPO, "mine", {"x": "y"})
    number = (await req.open_pull(REPO, title="t", head="mine")).number
    wanted = {"reviewers": ["req"]}
    answer = await stage.ask("POST", f"pulls/{number}/requested_reviewers", wanted)
    assert answer.status_code == 422
