"""Whether the policy can be changed without a review: yes, no, or nobody can tell."""

from typing import Any

import pytest

from tests.webhook_app.github.stage import REPO, Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

RULES = "/repos/{owner}/{repo}/rules/branches/{branch}"


def reviewing(count: int) -> dict[str, Any]:
    asked = {
        "required_approving_review_count": count,
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
        "require_last_push_approval": False,
        "required_review_thread_resolution": False,
    }
    return {"type": "pull_request", "parameters": asked}


@pytest.mark.parametrize(
    ("branch", "rules", "guarded"),
    [
        pytest.param("main", [reviewing(1)], True, id="a-review-is-asked-for"),
        pytest.param("main", [], False, id="nothing-is-asked-for"),
        pytest.param("placet/*", [reviewing(1)], False, id="on-other-branches-only"),
        pytest.param("main", [reviewing(0)], None, id="a-pull-request-without-a-review"),
        pytest.param("main", [{"type": "deletion"}], None, id="another-rule"),
    ],
)
async def test_what_guards_the_policy_is_told_as_far_as_github_says(
    stage: Stage, forge: GitHubForge, branch: str, rules: list[dict[str, Any]], *, guarded: bool
) -> None:
    if rules:
        stage.world.add_ruleset(REPO, "guard", branches=[branch], rules=rules)
    assert (await forge.policy(stage.repo.id)).guarded is guarded


async def test_it_is_asked_once_an_hour(stage: Stage, forge: GitHubForge) -> None:
    await forge.policy(stage.repo.id)
    stage.counts()
    await forge.policy(stage.repo.id)
    assert sum(stage.counts().values()) == 1, "the file itself is read each time"


async def test_what_cannot_be_read_is_not_known_and_asked_again(
    stage: Stage, forge: GitHubForge
) -> None:
    stage.fail("GET", RULES, status=403)
    assert (await forge.policy(stage.repo.id)).guarded is None
    assert (await forge.policy(stage.repo.id)).guarded is False
