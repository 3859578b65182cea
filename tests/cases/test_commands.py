"""What counts as a command: quotes, code, other people's trailers, and pages without a proposal."""

from typing import Any

import pytest

from checks.commands import ignored, parse
from checks.facts import Stance, Voice
from checks.wording import reply_to
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.cases.acting import say, short, waits
from tests.cases.saying import COMMENT, REVIEW, changed, heard_in
from tests.checks.scene import BOSS, comment, heard, judged
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("state", "body", "stance"),
    [
        pytest.param("approved", "/reject", Stance.APPROVE, id="approved-saying-reject"),
        pytest.param("changes_requested", "/approve", Stance.BLOCK, id="changes-saying-approve"),
        pytest.param("commented", "/approve", None, id="commented-saying-approve"),
        pytest.param("pending", "/approve", None, id="pending"),
        pytest.param("waved_through", "/approve", None, id="a-state-that-nobody-knows"),
        pytest.param(None, "/approve", None, id="no-state"),
    ],
)
def test_the_state_of_a_review_decides_and_its_words_do_not(
    state: str | None, body: str, stance: Stance | None
) -> None:
    """K40, K122, K134: https://github.com/ti-community-infra/tichi/issues/248."""
    said = heard_in("pull_request_review", changed(REVIEW, review__state=state, review__body=body))
    assert (said.stance if isinstance(said, Voice) else None) is stance


def test_a_command_in_a_comment_on_a_line_of_code_is_not_read() -> None:
    """K40: https://github.com/ti-community-infra/tichi/issues/248."""
    payload = {**COMMENT, "pull_request": {"number": 12}}
    assert heard_in("pull_request_review_comment", payload) is None


async def test_a_command_elsewhere_approves_nothing(here: Town, box: Box) -> None:
    """K41, K54: other pull requests: https://github.com/runatlantis/atlantis/issues/1393.

    A page of the same number in another repository is another page: angular/dev-infra#3987.
    """
    seen = await here.propose("box.add", {"n": 4})
    lee = here.person("lee")
    for repository, name in ((SHOP, "basket"), (REPOSITORY, "notes")):
        await lee.push(repository, name, {f"{name}.txt": "x\n"})
        pull = await lee.open_pull(repository, title=name, head=name)
        await here.person("noor").comment(repository, pull.number, f"/approve {short(seen)}")
        await here.person("noor").review(repository, pull.number, "APPROVE")
    assert here.world.repository(SHOP).pulls.keys() == {here.number(seen)}
    assert await waits(here, seen)
    assert box.runs == 0


async def test_quoting_placets_own_words_starts_nothing(here: Town, box: Box) -> None:
    """K33, K34: two bots looped on each other's help: kubernetes-sigs/prow#432, bors-ng#173."""
    seen = await here.propose("box.add", {"n": 4})
    body = here.pull(seen).body or ""
    await say(here, "lee", seen, "lgtm")
    told = [*here.comments(seen), body]
    assert any("/approve" in one for one in told)
    for one in told:
        await say(here, "lee", seen, one)
        await say(here, "lee", seen, "\n".join(f"> {line}" for line in one.splitlines()))
    assert await waits(here, seen)
    assert box.runs == 0


async def test_a_trailer_of_another_client_does_not_hide_the_command(here: Town, box: Box) -> None:
    """K35, K36: Linear appends a comment: https://github.com/runatlantis/atlantis/issues/6643."""
    seen = await here.propose("box.add", {"n": 4})
    await say(here, "lee", seen, f"/approve {short(seen)}\r\n\r\n<!-- linear: ABC-1 -->\r\n")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_approve_and_reject_in_one_comment_are_answered_and_do_nothing(
    here: Town, box: Box
) -> None:
    """K39: only the last line worked: https://github.com/cncf/prow-github-actions/issues/108."""
    seen = await here.propose("box.add", {"n": 4})
    before = len(here.comments(seen))
    await say(here, "lee", seen, "/approve\n/reject")
    assert await waits(here, seen)
    assert len(here.comments(seen)) == before + 1
    assert box.runs == 0


async def test_a_further_command_below_is_answered(here: Town, box: Box) -> None:
    """K39: one command a comment: https://github.com/kubernetes/test-infra/issues/1689."""
    seen = await here.propose("box.add", {"n": 4})
    await say(here, "lee", seen, "/approve\n/replan")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
    assert any("`/replan`" in said and "first line" in said for said in here.comments(seen))


@pytest.mark.parametrize("tail", ["/replan", "/undo", "/approve"])
def test_a_further_command_below_is_known_to_be_ignored(tail: str) -> None:
    """K39: one command a comment: https://github.com/kubernetes/test-infra/issues/1689."""
    body = f"/approve\n{tail}"
    assert parse(body) is not None
    assert [str(verb) for verb in ignored(body)] == [tail.removeprefix("/")]


def test_no_answer_of_ours_is_a_command() -> None:
    """K34: https://github.com/kubernetes-sigs/prow/issues/432."""
    verdict = judged(heard(comment(BOSS, 10)))
    answers: list[Any] = [reply_to(h) for h in verdict.heard if h.reason]
    assert answers
    assert [parse(answer) for answer in answers] == [None] * len(answers)
