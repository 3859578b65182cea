"""The App asks GitHub for what its operations need, and for nothing more.

What an operation needs is looked up in data/permissions.md. A new call to GitHub gets a line in
OPERATIONS first; if the permission is missing from app-manifest.json, this test says so. What is
asked by GraphQL stands in QUERIES, by the name of the query.
"""

import json
import re
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from webhook_app.github.shown import PAGE

ROOT = Path(__file__).parent.parent
MANIFEST = json.loads((ROOT / "app-manifest.json").read_text())
TABLES = (ROOT / "tests" / "data" / "permissions.md").read_text()
GRANTED: dict[str, str] = MANIFEST["default_permissions"]
LEVELS = {"read": 1, "write": 2}

OPERATIONS = [
    # who and where
    "GET {R}",
    "GET {R}/collaborators/{u}/permission",
    "GET /orgs/{org}/teams/{slug}/memberships/{u}",
    "GET {R}/rules/branches/{branch}",
    "GET {R}/branches/{branch}",
    "GET {R}/rulesets/{id}",
    "GET {R}/codeowners/errors",
    # policy, plan and statements
    "GET {R}/contents/{path}",
    "PUT {R}/contents/{path}",
    "POST {R}/git/trees",
    "POST {R}/git/commits",
    "GET {R}/git/ref/{ref}",
    "POST {R}/git/refs",
    "GET {R}/commits",
    "GET {R}/commits/{ref}",
    "GET {R}/compare/{basehead}",
    # the pull request
    "GET {R}/pulls",
    "POST {R}/pulls",
    "GET {R}/pulls/{n}",
    "PATCH {R}/pulls/{n}",
    "PUT {R}/pulls/{n}/merge",
    "POST {R}/pulls/{n}/requested_reviewers",
    "GET {R}/pulls/{n}/reviews",
    # comments
    "GET {R}/issues/{n}/comments",
    "GET {R}/issues/comments/{id}",
    "POST {R}/issues/{n}/comments",
    "PATCH {R}/issues/comments/{id}",
    "POST {R}/issues/comments/{id}/reactions",
    # the check run
    "POST {R}/check-runs",
    "PATCH {R}/check-runs/{id}",
    "GET {R}/commits/{ref}/check-runs",
    # as the App itself
    "GET /app",
    "GET /app/installations",
    "GET /app/hook/deliveries/{delivery_id}",
    "GET /installation/repositories",
    "GET /users/{u}",
    "GET /user/{id}",
    "GET /orgs/{org}/teams/{slug}/members",
    "POST /app/installations/{id}/access_tokens",
    "GET /app/hook/deliveries",
    "POST /app/hook/deliveries/{delivery_id}/attempts",
]


LISTS = ("GET {R}/pulls/{n}/reviews", "GET {R}/issues/{n}/comments")
# GitHub documents no permissions of GraphQL: a query needs what asking the same by REST needs.
QUERIES = {
    "/graphql#Page": (PAGE, ("GET {R}", "GET {R}/pulls/{n}", *LISTS)),
}
SCHEMA = ROOT / "sandbox" / "github" / "descriptions" / "github-graphql-subset.graphql"

Choices = list[tuple[str, str]]


def table(heading: str) -> dict[str, Choices]:
    """For each row below a heading: the permissions of which one is enough (none: App's key)."""
    section = TABLES.split(f"# {heading}\n", 1)[1].split("\n# ", 1)[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    return {row[0].removeprefix("| "): re.findall(r"(\w+): (read|write)", row[1]) for row in rows}


NEEDS = table("Operations")
EVENT_NEEDS = table("Events")


def enough(choices: Choices, granted: dict[str, str]) -> bool:
    return not choices or any(
        LEVELS.get(granted.get(name, ""), 0) >= LEVELS[level] for name, level in choices
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_call_we_make_is_permitted(operation: str) -> None:
    assert operation in NEEDS, "look it up and add it to data/permissions.md"
    assert enough(NEEDS[operation], GRANTED)


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_we_make_stands_in_githubs_schema_and_is_permitted(name: str) -> None:
    query, twins = QUERIES[name]
    assert not validate(build_schema(SCHEMA.read_text()), parse(query))
    assert query.startswith(f"query {name.split('#')[1]}(")
    assert set(twins) <= set(OPERATIONS)
    assert all(enough(NEEDS[twin], {"metadata": "read", "pull_requests": "read"}) for twin in twins)


@pytest.mark.parametrize("event", MANIFEST["default_events"])
def test_every_event_we_ask_for_may_be_subscribed_to(event: str) -> None:
    assert enough(EVENT_NEEDS[event], GRANTED)


@pytest.mark.parametrize("permission", GRANTED)
def test_one_level_less_would_not_do(permission: str) -> None:
    less = {permission: "read"} if GRANTED[permission] == "write" else {permission: "none"}
    needed = [NEEDS[operation] for operation in OPERATIONS]
    needed += [EVENT_NEEDS[event] for event in MANIFEST["default_events"]]
    assert not all(enough(choices, GRANTED | less) for choices in needed)


def test_the_app_is_private_and_asks_for_nothing_dangerous() -> None:
    assert MANIFEST["public"] is False
    assert {"workflows", "administration", "secrets"}.isdisjoint(GRANTED)
    assert MANIFEST["hook_attributes"]["url"].startswith("https://placet.example.com/")


@pytest.mark.parametrize(
    ("choices", "granted", "answer"),
    [
        pytest.param([("contents", "write")], {"contents": "read"}, False, id="reading-only"),
        pytest.param([("contents", "read")], {"contents": "write"}, True, id="writers-may-read"),
        pytest.param([("contents", "read")], {"issues": "write"}, False, id="another-permission"),
        pytest.param(
            [("issues", "read"), ("pull_requests", "read")],
            {"pull_requests": "read"},
            True,
            id="one-of-two-is-enough",
        ),
        pytest.param([], {}, True, id="the-app's-own-key"),
    ],
)
def test_what_is_enough(choices: Choices, granted: dict[str, str], *, answer: bool) -> None:
    assert enough(choices, granted) is answer
