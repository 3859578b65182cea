"""The way in to /mcp: who may come, and which messages are taken."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.running import AGENT, OTHER_AGENT, Running, running
from webhook_app.doors.mcp.serving import SESSIONS

pytestmark = pytest.mark.anyio
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


@pytest.fixture
async def placet(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as placet:
        yield placet


async def post(placet: Running, body: Any, token: str = AGENT, **headers: str) -> httpx.Response:
    sent = {
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await placet.http.post("/mcp", content=raw, headers=sent)


@pytest.mark.parametrize("token", ["", "wrong", AGENT[:-1]])
async def test_without_an_agents_token_nothing_answers(placet: Running, token: str) -> None:
    response = await post(placet, OPENING, token)
    assert (response.status_code, response.json()["code"]) == (401, "unauthorized")
    assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_revoked_agent_is_out_at_once(placet: Running) -> None:
    assert (await post(placet, OPENING)).status_code == 200
    placet.store.revoke_agent("cleanup-bot", placet.hall.now())
    assert (await post(placet, OPENING)).status_code == 401


async def test_a_session_answers_only_the_agent_that_opened_it(placet: Running) -> None:
    session = (await post(placet, OPENING)).headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    other = await post(placet, listing, OTHER_AGENT, mcp_session_id=session)
    assert other.status_code == 404


async def test_an_agent_with_all_its_sessions_open_leaves_room_for_the_others(
    placet: Running,
) -> None:
    opened = [await post(placet, OPENING) for _ in range(SESSIONS)]
    assert {response.status_code for response in opened} == {200}
    assert (await post(placet, OPENING)).status_code == 503
    assert (await post(placet, OPENING, OTHER_AGENT)).status_code == 200
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    oldest = opened[0].headers["mcp-session-id"]
    assert (await post(placet, listing, mcp_session_id=oldest)).status_code == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b'{"jsonrpc":"2.0","id":1,"id":2}', "duplicate_key", id="twice"),
        pytest.param(b'{"id":NaN}', "not_a_number", id="nan"),
        pytest.param(b'{"id":9007199254740993}', "number_too_large", id="2**53+1"),
        pytest.param(b'{"id":"\\ud800"}', "lone_surrogate", id="surrogate"),
        pytest.param(b"[" * 1000, "too_deep", id="deep"),
        pytest.param(b"{", "not_json", id="half"),
        pytest.param(b'{"a":"\xff"}', "not_utf8", id="not-utf-8"),
    ],
)
async def test_json_that_readers_could_differ_about_is_not_taken(
    placet: Running, body: bytes, code: str
) -> None:
    response = await post(placet, body)
    assert (response.status_code, response.json()["error"]["data"]["code"]) == (400, code)


async def test_a_body_that_is_too_large_is_not_read(placet: Running) -> None:
    response = await post(placet, b'"' + b"x" * 1_000_001 + b'"')
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


async def test_no_fault_of_ours_tells_its_words(placet: Running) -> None:
    session = (await post(placet, OPENING)).headers["mcp-session-id"]
    await placet.ask({"tool": "rows.update", "arguments": {"ids": [1]}})
    placet.store.db.execute("UPDATE proposal SET identities = 'no JSON'")
    listing = {"name": "placet_list", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": listing}
    response = await post(placet, call, mcp_session_id=session)
    assert "JSON" not in response.text
    assert "Expecting" not in response.text
    assert "Something went wrong in Placet" in response.text
