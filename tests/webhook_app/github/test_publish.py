"""Opening a proposal: one page, whatever gets lost on the way."""

from dataclasses import replace

import pytest

from proposals.plan import Proposal
from proposals.ports import ForgeError, Lost, Refused, Unavailable
from tests.webhook_app.github.stage import PLAN, REPO, Stage, opened
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

STEPS = [
    pytest.param("POST", "/repos/{owner}/{repo}/git/refs", id="branch"),
    pytest.param("PUT", "/repos/{owner}/{repo}/contents/{path}", id="plan"),
    pytest.param("POST", "/repos/{owner}/{repo}/pulls", id="pull-request"),
    pytest.param("POST", "/repos/{owner}/{repo}/check-runs", id="check-run"),
]
LEDGER = [
    pytest.param("POST", "/repos/{owner}/{repo}/git/trees", id="tree"),
    pytest.param("POST", "/repos/{owner}/{repo}/git/commits", id="commit"),
    pytest.param("POST", "/repos/{owner}/{repo}/git/refs", id="branch"),
]


def pages(stage: Stage) -> tuple[int, int]:
    return len(stage.repo.pulls), len(stage.repo.checks)


async def until_open(stage: Stage, forge: GitHubForge) -> Proposal:
    """Publish as the worker does: again after any error."""
    pinned = stage.proposal()
    for _ in range(4):
        try:
            return opened(pinned, await forge.publish(pinned, PLAN))
        except (Lost, Unavailable):
            continue
    raise AssertionError("it was never opened")


async def test_a_page_shows_the_plan_at_one_commit_above_the_ledger(
    stage: Stage, forge: GitHubForge
) -> None:
    place = await forge.publish(stage.proposal(), PLAN)
    pull = stage.repo.pulls[place.number]
    git = stage.repo.git
    assert (pull.head_ref, pull.base_ref) == ("placet/p/p_1f0c", "placet/ledger")
    assert (place.branch, place.base, place.head) == (pull.head_ref, pull.base_ref, pull.head_sha)
    entry = git.entry(place.head, "proposals/2026/11/p_1f0c/plan.json")
    assert git.blob(str(entry.id)) == PLAN
    assert [str(p) for p in git.commit(place.head).parent_ids] == [git.branch("placet/ledger")]
    assert git.commit(git.branch("placet/ledger") or "").parent_ids == []
    run = stage.repo.checks[place.check_run]
    assert (run.external_id, run.head_sha, run.conclusion) == (
        "p_1f0c",
        place.head,
        "action_required",
    )
    assert place.opened == pull.created_at


async def test_opening_takes_four_requests_once_the_ledger_is_known(
    stage: Stage, forge: GitHubForge
) -> None:
    await forge.publish(stage.proposal(), PLAN)
    first = stage.counts()
    await forge.publish(stage.proposal("p_2"), PLAN)
    assert sum(stage.counts().values()) == 4
    assert sum(first.values()) == 4 + 4 + 2  # the ledger branch, and where the repository is


async def test_opening_twice_finds_the_first_page(stage: Stage, forge: GitHubForge) -> None:
    first = await forge.publish(stage.proposal(), PLAN)
    assert await forge.publish(stage.proposal(), PLAN) == first
    assert pages(stage) == (1, 1)


async def test_a_page_that_somebody_closed_is_not_opened_a_second_time(
    stage: Stage, forge: GitHubForge
) -> None:
    first = await forge.publish(stage.proposal(), PLAN)
    await stage.world.person("ann").close(REPO, first.number)
    assert await forge.publish(stage.proposal(), PLAN) == first
    assert pages(stage) == (1, 1)


@pytest.mark.parametrize(("method", "path"), STEPS)
@pytest.mark.parametrize(
    "loss",
    [
        pytest.param({"drop": True, "when": "after"}, id="done-but-dropped"),
        pytest.param({"drop": True, "when": "before"}, id="dropped-before"),
        pytest.param({"status": 502, "when": "after"}, id="done-but-502"),
        pytest.param({"status": 502, "when": "before"}, id="502-before"),
    ],
)
async def test_no_lost_answer_makes_a_twin(
    stage: Stage, forge: GitHubForge, method: str, path: str, loss: dict[str, object]
) -> None:
    await forge.publish(stage.proposal("p_0"), PLAN)
    stage.fail(method, path, **loss)
    await until_open(stage, forge)
    assert pages(stage) == (2, 2)


@pytest.mark.parametrize(("method", "path"), LEDGER)
async def test_no_lost_answer_makes_a_second_ledger(
    stage: Stage, forge: GitHubForge, method: str, path: str
) -> None:
    stage.lose(method, path)
    place = (await until_open(stage, forge)).at
    git = stage.repo.git
    assert [str(p) for p in git.commit(place.head).parent_ids] == [git.branch("placet/ledger")]


async def test_a_dropped_answer_is_made_good_within_the_same_call(
    stage: Stage, forge: GitHubForge
) -> None:
    for step in STEPS:
        stage.lose(*map(str, step.values))
    await forge.publish(stage.proposal(), PLAN)
    assert pages(stage) == (1, 1)


async def test_another_plan_on_the_branch_is_refused(stage: Stage, forge: GitHubForge) -> None:
    await forge.publish(stage.proposal(), b"other\n")
    with pytest.raises(Refused, match="another plan"):
        await forge.publish(stage.proposal(), PLAN)


async def test_a_push_between_branch_and_plan_is_refused(stage: Stage, forge: GitHubForge) -> None:
    ann = stage.world.person("ann")

    async def push() -> object:
        return await ann.push(REPO, "placet/p/p_1f0c", {"evil.sh": "true"})

    stage.fail("PUT", "/repos/{owner}/{repo}/contents/{path}", run=push)
    with pytest.raises(Refused, match="somebody else"):
        await forge.publish(stage.proposal(), PLAN)
    assert pages(stage) == (0, 0)


async def test_a_branch_that_was_there_with_more_on_it_is_refused(
    stage: Stage, forge: GitHubForge
) -> None:
    await forge.publish(stage.proposal("p_0"), PLAN)
    await stage.world.person("ann").push(REPO, "placet/p/p_1f0c", {"evil.sh": "true"})
    with pytest.raises(Refused, match="does not come from the ledger"):
        await forge.publish(stage.proposal(), PLAN)
    assert pages(stage) == (1, 1)


async def test_a_plan_that_was_put_there_with_more_around_it_is_refused(
    stage: Stage, forge: GitHubForge
) -> None:
    place = await forge.publish(stage.proposal(), PLAN)
    await stage.world.person("ann").push(REPO, place.branch, {"evil.sh": "true"})
    with pytest.raises(Refused, match="more than its plan"):
        await forge.publish(stage.proposal(), PLAN)


@pytest.mark.parametrize("name", ["../../x", "a/b", "a b", "x.lock", "", "p\n"])
async def test_an_id_that_is_no_plain_word_opens_nothing(
    stage: Stage, forge: GitHubForge, name: str
) -> None:
    with pytest.raises(Refused):
        await forge.publish(stage.proposal(name), PLAN)
    assert stage.writes() <= 1  # the token for the list of repositories


async def test_the_people_of_the_policy_are_asked_but_not_those_the_agent_works_for(
    stage: Stage, forge: GitHubForge
) -> None:
    policy = (
        "version: 1\nrules: [{tools: ['*'], require: [{approvals: 1, from: "
        "[user:ann, user:dana, user:nobody-here, team:acme/finance, team:other/x]}]}]"
    )
    stage.repo.team_roles[stage.world.team("acme", "finance").id] = "write"
    await forge.publish(stage.proposal("p_0"), PLAN)
    pinned = replace(stage.proposal(), policy=policy)
    place = await forge.publish(pinned, PLAN)
    pull = stage.repo.pulls[place.number]
    assert pull.reviewers == [stage.account("ann").id]
    assert len(pull.teams) == 1
    stage.counts()
    await forge.publish(replace(pinned, id="p_3"), PLAN)
    assert sum(stage.counts().values()) == 5


@pytest.mark.parametrize("status", [422, 403, 500])
async def test_a_refused_request_for_review_is_not_fatal(
    stage: Stage, forge: GitHubForge, status: int
) -> None:
    policy = "version: 1\nrules: [{tools: ['*'], require: [{from: [user:ann]}]}]"
    stage.fail("POST", "requested_reviewers", status=status)
    place = await forge.publish(replace(stage.proposal(), policy=policy), PLAN)
    assert stage.repo.pulls[place.number].reviewers == []


async def test_a_missing_permission_is_refused_in_words(stage: Stage, forge: GitHubForge) -> None:
    stage.fail("POST", "/pulls$", status=403, message="Resource not accessible by integration")
    with pytest.raises(Refused, match="not accessible") as caught:
        await forge.publish(stage.proposal(), PLAN)
    assert caught.value.status == 403
    assert isinstance(caught.value, ForgeError)
