"""All that the product reads, at both API versions; the judge looks at every answer."""

from typing import Any

import pytest

from sandbox.github.schema import API_VERSIONS, api, webhooks
from sandbox.github.views import accounts, checks, pulls
from tests.sandbox.stage import REPO, R, Stage

pytestmark = pytest.mark.anyio
VERSIONS = pytest.mark.parametrize("version", ["2026-03-10", "2022-11-28"])


async def furnished(stage: Stage, version: str) -> dict[str, Any]:
    """A repository in which every kind of thing exists once."""
    stage.client.headers["x-github-api-version"] = version
    await stage.world.person("ann").push(REPO, "main", {"CODEOWNERS": "* @ann x"})
    world, pull = stage.world, await stage.pull()
    world.add_team("acme", "finance", members=["ann"], pending=["req"])
    world.add_team("acme", "auditors", members=["sam"], parent="finance")
    checks = {"required_status_checks": [{"context": "placet", "integration_id": stage.app.id}],
              "strict_required_status_checks_policy": False}  # fmt: skip
    ruleset = world.add_ruleset(
        REPO, "guard", branches=["release/*"], bypass=[stage.app],
        rules=[{"type": "deletion"}, {"type": "required_status_checks", "parameters": checks}],
    )  # fmt: skip
    number = pull["number"]
    await stage.ask("POST", f"pulls/{number}/requested_reviewers", {"reviewers": ["ann"]})
    comment = await stage.world.person("sam").comment(REPO, number, "hm")
    await stage.ask("POST", f"issues/comments/{comment.id}/reactions", {"content": "eyes"})
    review = await stage.world.person("sam").review(REPO, number, "APPROVE")
    note = {"path": "plan.json", "start_line": 1, "end_line": 1, "annotation_level": "notice",
            "message": "look"}  # fmt: skip
    output = {"title": "t", "summary": "s", "annotations": [note]}
    check = await stage.check(pull["head"]["sha"], output=output)
    return {"n": number, "sha": pull["head"]["sha"], "comment": comment.id, "check": check["id"],
            "review": review.id, "ruleset": ruleset.id}  # fmt: skip


READS = """
/installation/repositories /rate_limit /meta /users/ann /users/placet%5Bbot%5D {R} {R}/branches
{R}/branches/main {R}/branches/plan {R}/commits {R}/commits?sha=plan&path=plan.json {R}/commits/main
{R}/commits/{sha} {R}/commits/{sha}/pulls {R}/commits/{sha}/check-runs {R}/commits/plan/check-runs
{R}/compare/main...plan {R}/compare/plan...main {R}/git/ref/heads/plan {R}/git/matching-refs/heads/
{R}/git/commits/{sha} {R}/git/trees/{sha}?recursive=1 {R}/git/trees/main {R}/contents/README.md
{R}/contents/plan.json?ref=plan {R}/contents/README.md?ref={sha} {R}/pulls {R}/pulls/{n}
{R}/pulls?head=acme:plan&state=all {R}/pulls/{n}/files {R}/pulls/{n}/commits {R}/pulls/{n}/comments
{R}/pulls/{n}/reviews {R}/pulls/{n}/reviews/{review} {R}/pulls/{n}/requested_reviewers
{R}/issues/{n} {R}/issues/{n}/comments {R}/issues/{n}/labels {R}/issues/comments/{comment}
{R}/issues/comments/{comment}/reactions {R}/check-runs/{check} {R}/check-runs/{check}/annotations
{R}/collaborators {R}/collaborators/ann/permission {R}/rules/branches/release/1 {R}/rulesets
{R}/codeowners/errors {R}/rulesets/{ruleset} /orgs/acme/teams/finance
/orgs/acme/teams/finance/members
/orgs/acme/teams/auditors /orgs/acme/teams/finance/memberships/ann /orgs/acme/memberships/ann
"""
APP_READS = """
/app /app/installations /app/installations/{installation} {R}/installation /app/hook/config
/app/hook/deliveries
"""


@VERSIONS
async def test_everything_that_is_read_agrees_with_the_description(
    stage: Stage, version: str
) -> None:
    ids = await furnished(stage, version)
    await stage.world.settled()
    for path in READS.split():
        answer = await stage.ask("GET", path.format(R=R, **ids))
        assert answer.status_code == 200, (path, answer.text)
        assert answer.headers["x-github-api-version-selected"] == version
    for path in APP_READS.split():
        known = {"R": R, "installation": stage.installation.id}
        answer = await stage.ask("GET", path.format(**known), as_=stage.jwt())
        assert answer.status_code == 200, (path, answer.text)
    assert not stage.world.log.unknown()


@pytest.mark.parametrize(
    "path",
    [
        "git/ref/heads/none", "git/commits/main", "contents/none", "contents/plan.json?ref=none",
        "pulls/99", "pulls/99/reviews", "issues/99", "issues/comments/99", "check-runs/99",
        "collaborators/nobody/permission", "branches/none", "branches/main/protection/x",
        "compare/main...none", "rulesets/1", "pulls/1/merge",
    ],
)  # fmt: skip
async def test_what_is_not_there_is_404(stage: Stage, path: str) -> None:
    assert (await stage.ask("GET", path)).status_code == 404


async def test_a_number_that_is_none_is_404(stage: Stage) -> None:
    assert (await stage.ask("GET", "pulls/x")).status_code == 404
    stage.judged.expect("'pull_number'")


async def test_an_unknown_api_version_is_refused(stage: Stage) -> None:
    headers = {"x-github-api-version": "2031-01-01"}
    answer = await stage.ask("GET", "git/ref/heads/main", headers=headers)
    assert answer.status_code == 400


async def test_an_unknown_route_is_404_and_written_down(stage: Stage) -> None:
    assert (await stage.ask("GET", f"{R}/nonsense/1")).status_code == 404
    assert [entry.path for entry in stage.world.log.unknown()] == [f"{R}/nonsense/1"]


async def test_pages_are_linked_forward_and_back(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    ann = stage.world.person("ann")
    for word in ("one", "two", "three", "four", "five"):
        await ann.comment(REPO, number, word)
    words: list[str] = []
    answer = await stage.ask("GET", f"issues/{number}/comments?per_page=2")
    assert set(answer.links) == {"next", "last"}
    while True:
        words += [comment["body"] for comment in answer.json()]
        if "next" not in answer.links:
            break
        answer = await stage.ask("GET", answer.links["next"]["url"])
    assert words == ["one", "two", "three", "four", "five"]
    assert set(answer.links) == {"prev", "first"}


async def test_answers_carry_the_sandbox_clock_and_a_request_id(stage: Stage) -> None:
    stage.world.clock.freeze(stage.installation.created_at)
    first, second = await stage.ask("GET", R), await stage.ask("GET", R)
    assert first.headers["date"] == second.headers["date"] == stage.world.clock.date_header()
    assert first.headers["x-github-request-id"] != second.headers["x-github-request-id"]
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert left[1] < left[0]


async def test_ids_of_different_kinds_are_never_equal(stage: Stage) -> None:
    ids = await furnished(stage, "2026-03-10")
    numbers = [ids[kind] for kind in ("comment", "check", "review", "ruleset")]
    numbers += [stage.app.id, stage.installation.id, stage.world.repository(REPO).id]
    numbers += [account.id for account in stage.world.state.accounts.values()]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) > 1_000_000


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        pytest.param("ann", "write", "maintain", id="maintain-is-folded-to-write"),
        pytest.param("sam", "read", "triage", id="triage-is-folded-to-read"),
        pytest.param("boss", "admin", "admin", id="an-owner-of-the-organisation"),
        pytest.param("eve", "none", "none", id="a-stranger-in-private"),
    ],
)
async def test_permission_is_folded_and_the_role_is_named(
    stage: Stage, login: str, permission: str, role: str
) -> None:
    stage.world.set_permission(REPO, "ann", "maintain")
    stage.world.set_permission(REPO, "sam", "triage")
    found = await stage.get(f"collaborators/{login}/permission")
    assert (found["permission"], found["role_name"]) == (permission, role)
    assert found["user"]["id"] == stage.world.account(login).id


async def test_everybody_reads_a_public_repository(stage: Stage) -> None:
    stage.world.repository(REPO).private = False
    assert (await stage.get("collaborators/eve/permission"))["permission"] == "read"


async def test_a_team_gives_its_role_to_the_members_of_its_child_teams(stage: Stage) -> None:
    stage.world.add_team("acme", "finance")
    stage.world.add_team("acme", "auditors", members=["eve"], parent="finance")
    team = stage.world.team("acme", "finance")
    stage.world.repository(REPO).team_roles[team.id] = "write"
    assert (await stage.get("collaborators/eve/permission"))["permission"] == "write"


@pytest.mark.parametrize(
    ("login", "state"),
    [
        pytest.param("ann", "active", id="a-member"),
        pytest.param("sam", "active", id="a-member-of-a-child-team"),
        pytest.param("req", "pending", id="invited"),
        pytest.param("eve", None, id="a-stranger"),
    ],
)
async def test_team_membership(stage: Stage, login: str, state: str | None) -> None:
    stage.world.add_team("acme", "finance", members=["ann"], pending=["req"])
    stage.world.add_team("acme", "auditors", members=["sam"], parent="finance")
    answer = await stage.ask("GET", f"/orgs/acme/teams/finance/memberships/{login}")
    assert answer.status_code == (200 if state else 404)
    assert not state or answer.json()["state"] == state


async def test_without_members_read_every_membership_is_404(stage: Stage) -> None:
    stage.world.add_team("acme", "finance", members=["ann"])
    for token in stage.world.state.tokens.values():
        token.permissions.pop("members", None)
    answer = await stage.ask("GET", "/orgs/acme/teams/finance/memberships/ann")
    assert answer.status_code == 404


async def test_a_renamed_person_keeps_the_id(stage: Stage) -> None:
    before = await stage.get("/users/ann")
    stage.world.rename_user("ann", "anna")
    assert (await stage.get("/users/anna"))["id"] == before["id"]
    assert (await stage.ask("GET", "/users/ann")).status_code == 404


def names_in(node: Any) -> set[str]:
    """All member names that a description knows, at any depth."""
    if isinstance(node, list):
        return set().union(*map(names_in, node))
    if not isinstance(node, dict):
        return set()
    own = set(node.get("properties", ()))
    return own.union(*(names_in(value) for value in node.values()))


def members_of(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(members_of, value))
    return set(value).union(*map(members_of, value.values())) if isinstance(value, dict) else set()


async def test_nothing_is_known_under_a_name_that_github_does_not_use(stage: Stage) -> None:
    ids = await furnished(stage, "2026-03-10")
    world, repo = stage.world, stage.world.repository(REPO)
    shown = [
        pulls.issue(world, repo, repo.pulls[ids["n"]]),
        pulls.review(world, repo, repo.reviews[ids["review"]]),
        pulls.comment(world, repo, repo.comments[ids["comment"]]),
        checks.check_run(world, repo, repo.checks[ids["check"]]),
        accounts.installation(world, stage.installation),
        accounts.team(world, world.team("acme", "auditors")),
    ]
    documents = [api(version).document for version in API_VERSIONS] + [webhooks().document]
    assert not members_of(shown) - names_in(documents)


async def test_a_long_file_is_shown_without_its_content(stage: Stage) -> None:
    await stage.world.person("ann").push(REPO, "main", {"long.txt": "x" * 1_100_000})
    found = await stage.get("contents/long.txt")
    assert (found["content"], found["encoding"], found["size"]) == ("", "none", 1_100_000)


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        pytest.param("* @ann # all\n\n", [], id="nothing-wrong"),
        pytest.param("* @acme/finance", [(1, 3, "Unknown owner")], id="a-team-without-a-role"),
        pytest.param("# x\n* @none", [(2, 3, "Unknown owner")], id="nobody"),
        pytest.param("* @sam", [(1, 3, "Unknown owner")], id="a-reader"),
        pytest.param("* ann", [(1, 3, "Invalid owner")], id="a-word"),
        pytest.param("!a @ann\n[b] @ann", [(1, 1, "Invalid pattern"), (2, 1, "Invalid pattern")],
                     id="patterns"),
    ],
)  # fmt: skip
async def test_errors_in_the_owners_file_are_listed(
    stage: Stage, text: str, errors: list[tuple[int, int, str]]
) -> None:
    stage.world.add_team("acme", "finance", members=["ann"])
    files = {"CODEOWNERS": text, "docs/CODEOWNERS": "* nobody"}
    await stage.world.person("ann").push(REPO, "main", files)
    found = (await stage.get("codeowners/errors"))["errors"]
    assert [(e["line"], e["column"], e["kind"]) for e in found] == errors
    assert {e["path"] for e in found} <= {"CODEOWNERS"}


async def test_without_an_owners_file_there_is_no_list_of_errors(stage: Stage) -> None:
    assert (await stage.ask("GET", "codeowners/errors")).status_code == 404
