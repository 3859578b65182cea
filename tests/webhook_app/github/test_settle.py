"""The end of a page, and what is said on it."""

from dataclasses import replace

import pytest

from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.ports import ForgeError, Lost, Refused, Unavailable
from tests.webhook_app.github.stage import PLAN, REPO, Stage, opened
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

MERGE = ("PUT", "/repos/{owner}/{repo}/pulls/{pull_number}/merge")
COMMENT = ("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments")


@pytest.fixture
def applied(proposal: Proposal) -> Proposal:
    return replace(proposal, state=State.APPLIED)


def pull_of(stage: Stage, proposal: Proposal) -> tuple[str, bool]:
    pull = stage.repo.pulls[proposal.at.number]
    return pull.state, pull.merged_at is not None


async def test_an_applied_proposal_is_merged_at_its_pinned_head_with_trailers(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    await forge.settle(applied)
    assert sum(stage.counts().values()) == 2
    tip = stage.repo.git.commit(stage.repo.git.branch("placet/ledger") or "")
    assert str(tip.parent_ids[1]) == applied.at.head
    assert tip.message == "Applied\n\nPlacet-Proposal: p_1f0c"
    await forge.settle(applied)
    assert pull_of(stage, applied) == ("closed", True)


async def test_a_page_whose_head_moved_is_closed_and_not_merged(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    await stage.world.person("ann").push(REPO, applied.at.branch, {"evil.sh": "true"})
    with pytest.raises(Refused, match="its branch moved") as refused:
        await forge.settle(applied)
    assert (refused.value.status, refused.value.code) == (409, "refused")
    assert pull_of(stage, applied) == ("closed", False)


async def test_a_head_that_moves_in_the_moment_of_the_merge_is_refused_by_github(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    async def push() -> None:
        await stage.world.person("ann").push(REPO, applied.at.branch, {"evil.sh": "true"})

    stage.fail(*MERGE, run=push)
    with pytest.raises(Refused) as refused:
        await forge.settle(applied)
    assert refused.value.status == 409
    assert pull_of(stage, applied) == ("open", False)


async def test_a_merge_whose_answer_is_lost_is_looked_at_and_not_tried_again(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    stage.lose(*MERGE)
    await forge.settle(applied)
    assert pull_of(stage, applied) == ("closed", True)
    assert stage.counts()[" ".join(MERGE)] == 1


async def test_a_merge_that_was_lost_on_the_way_is_said_to_be_lost(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    stage.fail(*MERGE, drop=True)
    with pytest.raises(Lost):
        await forge.settle(applied)
    await forge.settle(applied)
    assert pull_of(stage, applied) == ("closed", True)


async def test_a_merge_that_meets_another_write_to_the_ledger_is_tried_later(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    words = "Base branch was modified. Review and try the merge again."
    stage.fail(*MERGE, status=405, message=words)
    with pytest.raises(Unavailable):
        await forge.settle(applied)
    stage.fail(*MERGE, status=405, message="Pull Request is not mergeable")
    with pytest.raises(Refused, match="not mergeable"):
        await forge.settle(applied)


async def test_a_merge_by_a_person_before_is_fine(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    await stage.world.person("olga").merge(REPO, applied.at.number)
    await forge.settle(applied)
    assert pull_of(stage, applied) == ("closed", True)


@pytest.mark.parametrize("state", [State.FAILED, State.ENDED])
async def test_what_did_not_run_is_closed(
    stage: Stage, forge: GitHubForge, proposal: Proposal, state: State
) -> None:
    over = replace(proposal, state=state)
    await forge.settle(over)
    await forge.settle(over)
    assert pull_of(stage, over) == ("closed", False)
    assert sum(stage.counts().values()) == 2


@pytest.mark.parametrize("state", [State.UNKNOWN, State.STARTED, State.OPEN])
async def test_a_page_without_an_end_stays_open(
    stage: Stage, forge: GitHubForge, proposal: Proposal, state: State
) -> None:
    await forge.settle(replace(proposal, state=state))
    assert pull_of(stage, proposal) == ("open", False)
    assert not stage.counts()


async def test_the_next_proposal_stands_on_the_merged_ledger_without_another_read(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    await forge.start(applied, b"start\n")
    await forge.write_end(applied, "end", b"end\n")
    await forge.settle(applied)
    stage.counts()
    place = await forge.publish(stage.proposal("p_2"), PLAN)
    assert sum(stage.counts().values()) == 4
    [parent] = stage.repo.git.commit(place.head).parent_ids
    assert str(parent) == stage.repo.git.branch("placet/ledger")


async def test_after_a_restart_the_tip_is_read_once(stage: Stage, applied: Proposal) -> None:
    async with stage.forge() as fresh:
        await fresh.publish(stage.proposal("p_2"), PLAN)
    counts = stage.counts()
    assert counts["GET /repos/{owner}/{repo}/git/ref/{ref}"] == 1
    assert counts["POST /repos/{owner}/{repo}/git/trees"] == 0
    assert applied.at.number == 1


async def test_the_check_run_is_brought_up_to_date(
    stage: Stage, forge: GitHubForge, applied: Proposal
) -> None:
    await forge.show(applied, None)
    run = stage.repo.checks[applied.at.check_run]
    assert (run.conclusion, run.output["title"]) == ("success", "It is applied")
    assert sum(stage.counts().values()) == 1


def comments(stage: Stage) -> list[str]:
    return [comment.body for comment in stage.repo.comments.values()]


async def test_an_answer_is_one_comment_with_an_invisible_last_line(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await forge.reply(proposal, "comment:81", "Placet does not read this.", again=False)
    assert comments(stage) == ["Placet does not read this.\n\n<!-- placet:p_1f0c:comment:81 -->"]
    assert sum(stage.counts().values()) == 1


async def test_a_lost_answer_is_not_said_twice(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.lose(*COMMENT)
    with pytest.raises(Lost):
        await forge.tell(proposal, again=False)
    await forge.tell(proposal, again=True)
    await forge.tell(proposal, again=True)
    assert len(comments(stage)) == 1


async def test_a_marker_that_somebody_else_wrote_silences_nobody(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    marker = "<!-- placet:p_1f0c:outcome -->"
    await stage.world.person("dana").comment(REPO, proposal.at.number, f"x\n\n{marker}")
    await forge.reply(proposal, "comment:1", f"> {marker}\n\nquoted", again=False)
    await forge.tell(proposal, again=True)
    assert len(comments(stage)) == 3


@pytest.mark.parametrize("key", ["a --> <b>", "x\ny", "k" * 300, "", "\ud800"])
async def test_no_key_can_end_the_invisible_line(
    stage: Stage, forge: GitHubForge, proposal: Proposal, key: str
) -> None:
    await forge.reply(proposal, key, "Text.", again=False)
    last = comments(stage)[0].splitlines()[-1]
    assert last.count("-->") == 1
    await forge.reply(proposal, key, "Text.", again=True)
    assert len(comments(stage)) == 1


async def test_text_that_cannot_be_sent_is_refused_and_not_sent(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    with pytest.raises(ForgeError):
        await forge.reply(proposal, "comment:1", "\ud800", again=False)
    assert comments(stage) == []


async def test_one_whole_life_takes_sixteen_requests(stage: Stage, forge: GitHubForge) -> None:
    await forge.publish(stage.proposal("p_0"), PLAN)
    await forge.policy(stage.repo.id)
    stage.counts()
    pinned = stage.proposal()
    policy = await forge.policy(pinned.repository)
    life = opened(pinned, await forge.publish(replace(pinned, policy=policy.text), PLAN))
    review = await stage.world.person("ann").review(REPO, life.at.number, "APPROVE")
    voice = stage.said("ann", f"review:{review.id}", head=life.at.head)
    assert await forge.people(life, [voice])
    await forge.look(life, [voice], frozenset())
    await forge.start(life, b"start\n")
    done = replace(life, state=State.APPLIED)
    await forge.write_end(done, "end", b"end\n")
    await forge.settle(done)
    await forge.show(done, None)
    await forge.tell(done, again=False)
    assert sum(stage.counts().values()) == 16  # and one more where reviews are requested
