"""Whatever is asked, by whomever: an answer below 500, and one that fits GitHub's schema."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.github import World, create_app
from sandbox.github.auth import new_token
from sandbox.github.rest.call import ROUTES
from sandbox.github.rest.operations import operations, request_schema
from sandbox.github.schema import Schema, api
from tests.sandbox.stage import PERMISSIONS, REPO, arranged

SHAS = ["0" * 40, "g" * 40, "", "main", "plan", "refs/heads/plan", "heads/plan", "tags/x"]
WORDS = [*SHAS, "README.md", "README.md/x", "README.md/..", "a/b", "/", ".", "..", ".git/x", "ü",
         "ann", "acme", "acme:plan", "approve", "APPROVE", "completed", "success", "closed", "x\0y",
         "merge", "rebase", "base64", "utf-8", "100644", "040000", "160000", "-1", "1",
         "1", "1", "main...plan", "main..plan", "...", "2026-01-01T00:00:00Z", "%2F",
         " ", "\n", "\ud800",
         "~", "^", "HEAD", "@{-1}", "9" * 30, "eyes"]  # fmt: skip
words = st.sampled_from(WORDS)


def fitting(schema: Schema) -> st.SearchStrategy[Any]:
    """Bodies that the description allows, with words in them that mean trouble."""
    found = api("2026-03-10").resolve(schema)
    if "enum" in found:
        return st.sampled_from(found["enum"])
    if "properties" in found:
        members = {name: fitting(sub) for name, sub in found["properties"].items()}
        must = {name: members.pop(name) for name in found.get("required", ()) if name in members}
        return st.fixed_dictionaries(must, optional=members)
    if found.get("type") == "array":
        return st.lists(fitting(found.get("items", {})), max_size=3)
    if found.get("type") == "integer":
        return st.integers(-2, 10**20)
    return st.booleans() if found.get("type") == "boolean" else words


def asked(route: tuple[str, str]) -> st.SearchStrategy[tuple[tuple[str, str], Any]]:
    """A route with a body for it, or with one for nothing."""
    found = next(op for op in operations("2026-03-10") if (op.method, op.template) == route)
    schema = request_schema(found)
    body = fitting(schema) if schema else st.none()
    return st.tuples(st.just(route), body | st.dictionaries(words, words) | words)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return asyncio.run(_world(tmp_path_factory.mktemp("git")))


async def _world(root: Path) -> World:
    found = arranged(root, None, "http://github.test")
    app = found.add_app(
        "placet", permissions=PERMISSIONS, events=["push", "pull_request", "check_run"]
    )
    found.install(app, "acme")
    ann = found.person("ann")
    await ann.push(REPO, "plan", {"plan.json": "{}"})
    await ann.open_pull(REPO, title="t", head="plan")
    return found


def address(template: str, fill: list[str]) -> str:
    """Fill the path's parameters: the repository is real, the rest is arbitrary."""
    whole = template.replace("{owner}/{repo}", REPO).replace("{org}", "acme")
    parts = iter(fill)
    return re.sub(r"\{\w+\}", lambda _: quote(next(parts).encode(errors="replace")), whole)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(
    asking=st.sampled_from(sorted(ROUTES)).flatmap(asked),
    fill=st.lists(words, min_size=4, max_size=4),
    query=st.dictionaries(st.sampled_from(["ref", "page", "per_page", "cursor", "sha"]), words),
    as_app=st.booleans(),
)
def test_nothing_from_outside_is_a_server_error(
    world: World,
    asking: tuple[tuple[str, str], Any],
    fill: list[str],
    query: dict[str, str],
    *,
    as_app: bool,
) -> None:
    route, body = asking
    token = app_token(world) if as_app else world.token_for("boss")
    assert asyncio.run(_status(world, token, route, fill, body, query)) < 500


def app_token(world: World) -> str:
    installation = next(iter(world.state.installations.values()))
    app = world.state.apps[installation.app_id]
    return new_token(world, app, installation, {})[0]


async def _status(
    world: World,
    token: str,
    route: tuple[str, str],
    fill: list[str],
    body: Any,
    query: dict[str, str],
) -> int:
    method, template = route
    transport = httpx.ASGITransport(create_app(world))
    params = {name: text.encode(errors="replace").decode() for name, text in query.items()}
    async with httpx.AsyncClient(transport=transport, base_url="http://github.test") as client:
        answer = await client.request(
            method, address(template, fill), params=params, content=json.dumps(body),
            headers={"authorization": f"Bearer {token}"},
        )  # fmt: skip
    await world.settled()
    return answer.status_code


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b'"x"', b"[" * 100_000, b'{"ref": NaN}', b"1e999"]
)
def test_a_body_that_is_no_object_is_refused(world: World, body: bytes) -> None:
    async def ask() -> int:
        transport = httpx.ASGITransport(create_app(world))
        headers = {"authorization": f"Bearer {world.token_for('ann')}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://g.test") as client:
            path = f"/repos/{REPO}/git/refs"
            return (await client.post(path, content=body, headers=headers)).status_code

    assert asyncio.run(ask()) in (400, 422)
