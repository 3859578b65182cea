"""Whatever bytes come through whichever door: never a 500, and strangers leave nothing behind."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import anyio
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.running import AGENT, APP, Running, running, signed
from webhook_app.doors.operator import operators_app

pytestmark = pytest.mark.anyio
FUZZ = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
Headers = list[tuple[bytes, bytes]]

NAMES = (
    *("authorization", "content-type", "content-length", "idempotency-key", "x-github-event"),
    *("x-github-delivery", "x-hub-signature-256", "x-github-hook-installation-target-id"),
    *("transfer-encoding", "host", "range", "accept", "expect", "x-forwarded-for", "cookie"),
)
MEMBERS = (
    *("action", "repository", "owner", "id", "installation", "account", "sender", "login", "type"),
    *("pull_request", "number", "head", "base", "sha", "ref", "repo", "merged", "state", "user"),
    *("review", "body", "submitted_at", "commit_id", "comment", "created_at", "updated_at"),
    *("issue", "check_run", "requested_action", "identifier", "external_id", "changes", "title"),
    *("before", "after", "deleted", "forced", "commits", "repositories", "repositories_removed"),
    *("tool", "arguments", "reason", "target", "commit", "ids", "performed_via_github_app", "app"),
)
EVENTS = (
    *("pull_request", "pull_request_review", "issue_comment", "check_run", "push", "ping"),
    *("installation", "installation_repositories", "repository", "check_suite", "odd"),
)
ACTIONS = (
    *("submitted", "dismissed", "edited", "created", "deleted", "closed", "opened", "reopened"),
    *("synchronize", "requested_action", "removed", "suspend", "renamed", "transferred", ""),
)
WORDS = ("/approve", "/reject no", "/replan", "/undo", "approved", "changes_requested", "lee")
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([99, 9919, 7, 0, -1, 2**53, APP, 1e400, -0.0])
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([*ACTIONS, *WORDS, "a" * 40, "2026-11-30T12:00:00Z", "refs/heads/main"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(MEMBERS) | st.text(max_size=5), inner, max_size=8)
    ),
    max_leaves=25,
)
OBJECTS = st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=10)
PATHS = (
    *("/webhook", "/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/v1", "/docs"),
    *("/v1/proposals", "/v1/proposals/{}", "/v1/proposals/{}/explanation", "/v1/tools"),
    *("/v1/proposals/{}/withdraw", "/v1/proposals/{}/undo"),
)
OPERATOR = (
    *("/agents", "/agents/revoke", "/status", "/explanation", "/facts", "/tools", "/keys"),
    *("/freeze", "/unfreeze", "/resume", "/resolve", "/app", "/previews", "/previews/c_1/again"),
)
OPERATOR_SAYS = (
    *("name", "identities", "why", "repository", "proposal", "outcome"),
    *("tool", "arguments", "reads"),
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"])
RAW = st.binary(max_size=200)
HEADER = st.tuples(st.sampled_from(NAMES).map(str.encode), st.binary(max_size=60))
ROUTE = st.builds(
    lambda path, id_, tail: path.format(id_) + tail,
    st.sampled_from(PATHS),
    st.sampled_from(["p_1", "", "..", "%00", "a/b"]) | st.text(max_size=9),
    st.sampled_from(["", "", "", "/", "//", "/.."]),
)
BODIES = RAW | VALUES.map(lambda value: json.dumps(value).encode())


CALLER: Headers = [
    (b"authorization", f"Bearer {AGENT}".encode()),
    (b"content-type", b"application/json"),
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def placet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("placet")) as placet:
        placet.app.state.hall = replace(placet.hall, patience=0.05)  # no page ever stands here
        yield placet


async def call(
    app: FastAPI,
    method: str,
    path: str,
    headers: Headers,
    body: bytes,
    query: bytes = b"",
    *,
    stays: bool = False,
) -> tuple[int, bytes]:
    """Send a request as a server hands it on, which is more than a client would send.

    `stays`: whoever sent it does not hang up at once.
    """
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if stays and not waiting:
            await anyio.sleep_forever()
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": unquote(path), "raw_path": path.encode(), "root_path": "",
        "query_string": query, "headers": headers, "client": ("192.0.2.1", 9),
        "server": ("placet", 80), "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    said = b"".join(m.get("body", b"") for m in sent)
    return int(sent[0]["status"]), said


def size(placet: Running) -> dict[str, int]:
    """How many rows each table has."""
    tables = placet.store.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {
        name: placet.store.rows(f"SELECT count(*) AS n FROM [{name}]")[0]["n"]  # noqa: S608
        for name in (row["name"] for row in tables)
    }


@FUZZ
@given(
    method=METHODS,
    path=ROUTE,
    headers=st.lists(HEADER, max_size=5),
    body=BODIES,
    query=st.binary(max_size=40),
)
async def test_a_stranger_gets_no_500_and_leaves_nothing_behind(
    placet: Running, method: str, path: str, headers: Headers, body: bytes, query: bytes
) -> None:
    before = size(placet)
    status, said = await call(placet.app, method, path, headers, body, query)
    assert status < 500 or (status, path.rstrip("/")) == (503, "/readyz"), said
    assert size(placet) == before


@FUZZ
@given(event=st.sampled_from(EVENTS), action=st.sampled_from(ACTIONS), body=OBJECTS | BODIES)
async def test_what_is_signed_is_taken_or_refused_and_stops_nothing(
    placet: Running, event: str, action: str, body: Any
) -> None:
    owner = {"id": 99, "owner": {"id": 9919}, "full_name": "acme/x"}
    whole = {"action": action, "repository": owner} | body if isinstance(body, dict) else body
    raw = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
    guid = f"guid-{time.monotonic_ns()}"
    named = signed(raw) | {"x-github-event": event, "x-github-delivery": guid}
    headers = [(name.encode(), str(value).encode()) for name, value in named.items()]
    status, said = await call(placet.app, "POST", "/webhook", headers, raw)
    assert status in (202, 400), said
    with anyio.fail_after(5):
        while placet.store.waiting(1):  # noqa: ASYNC110 (the worker has no event for it)
            await anyio.sleep(0.001)
    assert placet.hall.ready["worker"]()


@FUZZ
@given(
    method=st.sampled_from(["GET", "POST"]),
    path=ROUTE.filter(lambda path: path.startswith("/v1")),
    body=OBJECTS.map(lambda value: json.dumps(value).encode()) | BODIES,
    key=st.none() | st.binary(max_size=9),
    query=st.binary(max_size=40),
)
async def test_an_agent_gets_no_500(
    placet: Running, method: str, path: str, body: bytes, key: bytes | None, query: bytes
) -> None:
    headers = [*CALLER, *([(b"idempotency-key", key)] if key is not None else [])]
    status, said = await call(placet.app, method, path, headers, body, query)
    assert status < 500, said


@FUZZ
@given(
    method=st.sampled_from(["GET", "POST", "PUT"]),
    path=st.sampled_from(OPERATOR),
    body=st.fixed_dictionaries({}, optional=dict.fromkeys(OPERATOR_SAYS, VALUES)).map(
        lambda value: json.dumps(value).encode()
    )
    | BODIES,
    query=st.binary(max_size=40)
    | st.sampled_from([b"proposal=p_1", b"proposal=p_1&login=lee", b"proposal=%00&login=%ff"]),
)
async def test_the_operator_gets_no_500(
    placet: Running, method: str, path: str, body: bytes, query: bytes
) -> None:
    headers = [(b"content-type", b"application/json")]
    status, said = await call(operators_app(placet.app), method, path, headers, body, query)
    assert status < 500, said


ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
MODERN = [
    *CALLER,
    (b"accept", b"application/json, text/event-stream"),
    (b"mcp-protocol-version", b"2026-07-28"),
]
TOOLS = ("rows__update", "rows__read", "placet_status", "placet_list", "placet_withdraw", "rows")


@FUZZ
@given(
    tool=st.sampled_from(TOOLS),
    arguments=OBJECTS | st.fixed_dictionaries({"ids": VALUES}, optional={"placet": VALUES}),
    meta=st.dictionaries(
        st.sampled_from(["progressToken", "io.github.placet/session", "io.github.placet/key"]),
        VALUES,
    ),
)
async def test_a_tool_called_over_mcp_is_answered_without_a_fault(
    placet: Running, tool: str, arguments: Any, meta: dict[str, Any]
) -> None:
    params = {"name": tool, "arguments": arguments, "_meta": meta | ENVELOPE}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = [*MODERN, (b"mcp-method", b"tools/call"), (b"mcp-name", tool.encode())]
    raw = json.dumps(body).encode()
    status, said = await call(placet.app, "POST", "/mcp", headers, raw, stays=True)
    assert status < 500, said
    assert b"Something went wrong" not in said


@FUZZ
@given(body=OBJECTS.map(lambda value: json.dumps(value).encode()) | BODIES)
async def test_whatever_is_posted_to_mcp_gets_no_500(placet: Running, body: bytes) -> None:
    status, said = await call(placet.app, "POST", "/mcp", MODERN, body, stays=True)
    assert status < 500, said
