"""Deliveries: late, early, doubled, lost, or about a GitHub that has not caught up yet."""

from typing import Any

import pytest

from sandbox.github import DeliveryFault, Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.cases import moments
from tests.cases.acting import branch, review, say, short, waits
from tests.cases.saying import BUTTON, COMMENT, REVIEW, changed, heard_in
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


async def test_a_no_that_overtakes_the_yes_before_it_stands(here: Town, box: Box) -> None:
    """K51: deliveries come in any order: google/go-github#2706, remind101/slashdeploy#97."""
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("pull_request_review", "hold"))
    await review(here, "lee", seen)
    await review(here, "lee", seen, "REQUEST_CHANGES")
    here.world.deliveries.release()
    assert await waits(here, seen)
    assert box.runs == 0
    assert "lee" in here.check(seen).output["title"]


async def test_while_github_has_not_caught_up_with_its_own_delivery_nothing_runs(
    here: Town, box: Box
) -> None:
    """K129: a check failed open while the API was behind: palantir/policy-bot#47."""
    seen = await here.propose("box.add", {"n": 4})
    before = here.world.moment()
    here.world.faults.add(Fault("GET", "/reviews", stale=before, times=20))
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert box.runs == 0
    here.world.faults.clear()
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"


async def test_a_reject_after_the_start_is_answered_and_undoes_nothing(
    here: Town, box: Box
) -> None:
    """K131: approve races with reject; after the start a no comes too late, and is told so."""
    seen = await here.propose("box.add", {"n": 4})
    moments.after_the_start(here, seen, moments.reject)
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
    assert any(said.startswith("@noor") for said in here.comments(seen))


async def test_a_suspended_installation_pauses_and_goes_on(here: Town, box: Box) -> None:
    """K55: https://github.com/ossf/allstar/issues/314, repohistory#7."""
    seen = await here.propose("box.add", {"n": 4})
    [installed] = here.world.state.installations.values()
    here.world.suspend(installed)
    await review(here, "lee", seen)
    assert box.runs == 0
    here.world.unsuspend(installed)
    await review(here, "noor", seen)
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_after_an_uninstall_nothing_runs(here: Town, box: Box) -> None:
    """K56: the App was removed while a proposal waited (design; no public report found)."""
    seen = await here.propose("box.add", {"n": 4})
    [installed] = here.world.state.installations.values()
    here.world.uninstall(installed)
    await review(here, "lee", seen)
    await here.stop()
    await here.start()
    await here.rest()
    assert (await here.seen(seen))["status"] in ("awaiting_approval", "ended")
    assert box.runs == 0


async def test_a_deleted_and_restored_branch_revives_nothing(here: Town, box: Box) -> None:
    """K58: checks stayed green after reopening: runatlantis/atlantis#5693."""
    seen = await here.propose("box.add", {"n": 4})
    await here.person("lee").delete_branch(REPOSITORY, branch(seen))
    over = await here.over(seen)
    assert over["error"]["code"] in ("closed", "head_moved")
    await say(here, "noor", seen, f"/approve {short(seen)}")
    assert (await here.seen(seen))["status"] == "ended"
    assert box.runs == 0


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        pytest.param("pull_request_review", changed(REVIEW, sender={"id": 1}), id="review"),
        pytest.param("issue_comment", changed(COMMENT, sender={"id": 1}), id="comment"),
        pytest.param("pull_request_review", changed(REVIEW, review__user=None), id="ghost"),
        pytest.param("issue_comment", changed(COMMENT, comment__user=None), id="ghost-comment"),
        pytest.param("check_run", changed(BUTTON, sender=None), id="button-of-nobody"),
        pytest.param("check_run", changed(BUTTON, requested_action=None), id="no-button"),
    ],
)
def test_whoever_cannot_be_named_says_nothing(event: str, payload: dict[str, Any]) -> None:
    """K29, K114, K121: deleted users, and one person's click told of as another's.

    https://github.com/vercel/eve/pull/1370, nixpkgs#436777.
    """
    assert heard_in(event, payload) is None
