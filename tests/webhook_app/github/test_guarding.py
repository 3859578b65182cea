"""Whether the policy can be changed without a review: yes, no, or nobody can tell."""

from typing import Any

import pytest

from sandbox.github.actions.commits import push_files
from sandbox.github.caller import Caller
from tests.webhook_app.github.stage import REPO, Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

RULES = "/repos/{owner}/{repo}/rules/branches/{branch}"


ERRORS = "/repos/{owner}/{repo}/codeowners/errors"
ALL = "/.github/ @acme/security\n"


def reviewing(count: int, *, owners: bool = False) -> dict[str, Any]:
    asked = {
        "required_approving_review_count": count,
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": owners,
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


def owned(stage: Stage, count: int, **files: str) -> None:
    """Ask for code owners' reviews, and put files there: `github`, `root` or `docs`."""
    stage.world.add_team("acme", "security", members=["dana"])
    stage.repo.team_roles[stage.world.team("acme", "security").id] = "write"
    where = {"github": ".github/CODEOWNERS", "root": "CODEOWNERS", "docs": "docs/CODEOWNERS"}
    put = {where[place]: text for place, text in files.items()}
    if put:
        olga = Caller("user", stage.world.account("olga"))
        push_files(stage.world, stage.repo, olga, "main", dict(put), "Owners")
    stage.world.add_ruleset(REPO, "guard", branches=["main"], rules=[reviewing(count, owners=True)])


@pytest.mark.parametrize(
    ("count", "files", "guarded"),
    [
        pytest.param(1, {}, True, id="anyones-approval-is-enough-of-a-guard"),
        pytest.param(0, {"github": ALL}, True, id="the-folder-is-owned"),
        pytest.param(0, {"github": "* @dana"}, True, id="everything-is-owned"),
        pytest.param(0, {"root": "* @dana"}, True, id="by-a-file-in-the-root"),
        pytest.param(0, {"docs": "* @dana"}, True, id="by-a-file-in-docs"),
        pytest.param(0, {"github": ALL, "root": "* @none"}, True, id="the-first-file-is-used"),
        pytest.param(0, {"github": "/x @dana", "root": ALL}, False, id="and-no-other-one"),
        pytest.param(0, {}, False, id="no-file"),
        pytest.param(0, {"github": "*.py @dana"}, False, id="the-policy-is-not-owned"),
        pytest.param(0, {"github": f"{ALL}/.github/placet.yml"}, False, id="its-owner-was-removed"),
        pytest.param(
            0, {"github": "/.github/placet.yml @dana"}, False, id="the-owners-file-is-not-owned"
        ),
        pytest.param(0, {"root": f"{ALL}/docs/ @dana"}, False, id="nor-is-it-in-the-root"),
        pytest.param(
            0, {"root": "/CODEOWNERS @dana\n/.github/placet.yml @dana"}, False,
            id="nor-the-place-that-github-looks-at-before",
        ),
        pytest.param(0, {"github": f"{ALL}*.py @nobody"}, None, id="github-finds-errors-in-it"),
        pytest.param(0, {"github": f"{ALL}/.git* @dana"}, None, id="a-pattern-that-is-not-sure"),
        pytest.param(0, {"github": ALL + "#" * 1_100_000}, None, id="too-long-to-be-read"),
    ],
)  # fmt: skip
async def test_a_review_of_code_owners_counts_only_where_the_policy_has_some(
    stage: Stage, forge: GitHubForge, count: int, files: dict[str, str], *, guarded: bool | None
) -> None:
    owned(stage, count, **files)
    file = await forge.policy(stage.repo.id)
    assert file.guarded is guarded
    assert bool(file.weakness) is (guarded is not True)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        pytest.param(
            {},
            "whoever can push to the default branch can change `.github/placet.yml` without a "
            "review: GitHub asks for the review of code owners, but no CODEOWNERS file names any. "
            "To end that, somebody with write access must name owners of `/.github/placet.yml`, "
            "`/.github/CODEOWNERS` in the last lines of `.github/CODEOWNERS`, or somebody with "
            "admin access must have the ruleset require 1 approval",
            id="no-file",
        ),
        pytest.param(
            {"root": "# who\n/.github/ @dana\n/CODEOWNERS"},
            "whoever can push to the default branch can change `.github/placet.yml` without a "
            "review: line 3 of `CODEOWNERS` leaves `CODEOWNERS` without an owner. To end that, "
            "somebody with write access must name owners of `/CODEOWNERS` in the last lines of "
            "`CODEOWNERS`, or somebody with admin access must have the ruleset require 1 approval",
            id="a-line-takes-the-owner-away",
        ),
        pytest.param(
            {"github": "* @dana\n/.git* @dana"},
            "nobody can tell whether `.github/placet.yml` can be changed without a review: line 2 "
            "of `.github/CODEOWNERS` may be about `.github/placet.yml`, and Placet cannot read it; "
            "line 2 of `.github/CODEOWNERS` may be about `.github/CODEOWNERS`, and Placet cannot "
            "read it. To end that, somebody with write access must name owners of "
            "`/.github/placet.yml`, `/.github/CODEOWNERS` in the last lines of "
            "`.github/CODEOWNERS`, or somebody with admin access must have the ruleset require 1 "
            "approval",
            id="a-pattern-that-is-not-sure",
        ),
        pytest.param(
            {"github": f"{ALL}a @no1\nb @no2\nc @no3\nd @no4 @no5"},
            "nobody can tell whether `.github/placet.yml` can be changed without a review: GitHub "
            "finds errors in `.github/CODEOWNERS` (lines 2, 3, 4 and 1 more) and skips what it "
            "does not understand. To end that, somebody with write access must mend the file, or "
            "somebody with admin access must have the ruleset require 1 approval",
            id="errors",
        ),
    ],
)
async def test_what_is_weak_says_who_must_do_what(
    stage: Stage, forge: GitHubForge, files: dict[str, str], words: str
) -> None:
    owned(stage, 0, **files)
    assert (await forge.policy(stage.repo.id)).weakness == words


async def test_without_the_list_of_errors_nobody_can_tell(stage: Stage, forge: GitHubForge) -> None:
    owned(stage, 0, github=ALL)
    stage.fail("GET", ERRORS, status=404)
    assert (await forge.policy(stage.repo.id)).guarded is None
    assert (await forge.policy(stage.repo.id)).guarded is True


async def test_reading_who_owns_it_costs_five_requests_at_most(
    stage: Stage, forge: GitHubForge
) -> None:
    owned(stage, 0, docs="* @dana")
    await forge.places.of(stage.repo.id)
    stage.counts()
    await forge.policy(stage.repo.id)
    assert sum(stage.counts().values()) == 1 + 5, "the policy; rules, three places, errors"
