"""Turns over HTTP: opened, looked at, guarded, closed; and the facts in every answer."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from proposals.lifecycle import Event
from tests.running import AGENT, OTHER_AGENT, Running, running
from tests.webhook_app.test_webhook_door import problem
from webhook_app.doors.turning import shown

pytestmark = pytest.mark.anyio
SHAPE = {"turn", "report", "text", "pending", "correction"}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def placet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("placet")) as placet:
        yield placet


async def send(
    placet: Running, path: str, body: Any, session: str | None = "s", token: str = AGENT
) -> httpx.Response:
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    headers |= {"placet-session": session} if session is not None else {}
    return await placet.http.post(f"/v1/{path}", content=json.dumps(body), headers=headers)


async def turn(placet: Running, action: str, session: str | None = "s") -> dict[str, Any]:
    response = await send(placet, "turns", {"action": action}, session)
    assert response.status_code == 200
    said = response.json()
    assert isinstance(said, dict)
    assert set(said) == SHAPE
    return said


async def ask(placet: Running, n: int, session: str | None = "s") -> dict[str, Any]:
    body = {"tool": "rows.update", "arguments": {"ids": [n]}}
    said = (await send(placet, "proposals", body, session)).json()
    assert isinstance(said, dict)
    return said


def stood(report: dict[str, Any], key: str = "entries") -> list[tuple[str, str]]:
    return [(e["proposal"], e["status"]) for e in report[key]]


async def test_a_turn_has_one_shape_also_when_nothing_happened(placet: Running) -> None:
    opened = await turn(placet, "open", "empty")
    assert opened["turn"].startswith("t_")
    for action in ("look", "guard", "close", "close", "look"):
        said = await turn(placet, action, "empty")
        assert said["report"]["entries"] == []
        assert said["text"].startswith("Changes this turn (0 applied): none\n")
        assert said["pending"] == "<pending>\nnone\n</pending>"
        assert said["correction"] is None
    assert said["turn"] is None


async def test_a_call_brings_the_facts_of_its_turn(placet: Running) -> None:
    opened = await turn(placet, "open")
    said = await ask(placet, 1)
    assert said["turn_report"]["turn"] == opened["turn"]
    assert stood(said["turn_report"]) == [(said["proposal"], "pinned")]
    status = (await placet.get(f"/v1/proposals/{said['proposal']}")).json()
    assert status["turn_report"]["scope"] == "agent"
    placet.store.move(said["proposal"], Event.WITHDRAWN, placet.hall.now(), why="no more")
    again = await turn(placet, "open")
    assert stood(again["report"]) == [(said["proposal"], "ended")]
    assert "NOT DONE: no more" in again["text"]


async def test_without_a_session_the_facts_are_those_since_the_last_call(placet: Running) -> None:
    one = await ask(placet, 11, None)
    assert (one["turn_report"]["turn"], one["turn_report"]["scope"]) == (None, "agent")
    placet.store.move(one["proposal"], Event.WITHDRAWN, placet.hall.now(), why="no more")
    two = await ask(placet, 12, None)
    assert stood(two["turn_report"]) == [(two["proposal"], "pinned")]
    assert stood(two["turn_report"], "ended_since_last") == [(one["proposal"], "ended")]


async def test_sessions_and_agents_are_apart(placet: Running) -> None:
    await turn(placet, "open", "one")
    await ask(placet, 21, "one")
    assert (await turn(placet, "look", "two"))["report"]["entries"] == []
    other = await send(placet, "turns", {"action": "look"}, "one", OTHER_AGENT)
    assert other.json()["report"]["entries"] == []


async def test_a_call_that_lacks_input_is_a_draft_and_the_guard_asks_about_it_once(
    placet: Running,
) -> None:
    session = "drafting"
    await turn(placet, "open", session)
    call = {"tool": "rows.update", "arguments": {"sleep": 0}}
    said = (await send(placet, "calls", call, session)).json()
    assert (said["schema"], said["status"], said["executed"]) == ("placet.call/v1", "draft", False)
    assert (said["proposal"], said["error"]["code"]) == (None, "missing_argument")
    [draft] = said["turn_report"]["pending_drafts"]
    assert draft["section"] == "rows.update"
    assert (await turn(placet, "guard", session))["correction"] is None
    opened = await turn(placet, "open", session)
    assert "rows.update" in opened["pending"]
    asked = await turn(placet, "guard", session)
    assert "three ways on" in asked["correction"]
    assert (await turn(placet, "guard", session))["correction"] is None
    gone = await send(placet, f"drafts/{draft['draft']}/discard", {}, session)
    assert gone.json()["_verification"]["verdict"] == "verified"
    assert gone.json()["turn_report"]["pending_drafts"] == []
    twice = await send(placet, f"drafts/{draft['draft']}/discard", {}, session)
    assert problem(twice) == (404, "no_draft")


async def test_a_call_with_what_was_missing_settles_the_draft(placet: Running) -> None:
    session = "settling"
    await send(placet, "calls", {"tool": "rows.update", "arguments": {}}, session)
    said = await ask(placet, 31, session)
    assert said["turn_report"]["pending_drafts"] == []


async def test_a_call_that_is_not_taken_is_told_and_a_read_is_not(placet: Running) -> None:
    session = "refused"
    await turn(placet, "open", session)
    await send(placet, "calls", {"tool": "rows.drop", "arguments": {}}, session)
    await send(placet, "calls", {"tool": "rows.update", "arguments": {"ids": "x"}}, session)
    await send(placet, "calls", {"tool": "rows.read", "arguments": {"x": 1}}, session)
    read = await send(placet, "calls", {"tool": "rows.read", "arguments": {}}, session)
    told = read.json()["turn_report"]
    assert [(e["tool"], e["status"]) for e in told["entries"]] == [
        ("rows.drop", "denied"), ("rows.update", "denied"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "session", "code"),
    [
        pytest.param({"action": "reopen"}, "s", "bad_request", id="no-such-action"),
        pytest.param({}, "s", "bad_request", id="no-action"),
        pytest.param({"action": "open", "agent": "x"}, "s", "unknown_member", id="another-agent"),
        pytest.param({"action": "open"}, "", "bad_session", id="an-empty-session"),
        pytest.param({"action": "open"}, "a b", "bad_session", id="a-session-that-is-no-name"),
        pytest.param({"action": "open"}, "s" * 256, "bad_session", id="a-session-too-long"),
    ],
)
async def test_what_is_no_turn_is_refused(
    placet: Running, body: Any, session: str, code: str
) -> None:
    assert problem(await send(placet, "turns", body, session)) == (422, code)


async def test_a_turn_needs_a_token(placet: Running) -> None:
    response = await send(placet, "turns", {"action": "open"}, token="wrong")
    assert problem(response) == (401, "unauthorized")


async def test_a_draft_keeps_nothing_that_the_tool_calls_secret(placet: Running) -> None:
    tool = placet.hall.catalog.find("rows.update").model_copy(
        update={"secrets": ("/arguments/token", "/arguments/a/b")}
    )
    given: dict[str, Any] = {"token": "t0p", "a": {"b": "s3cret", "c": 1}}
    assert shown(tool, given) == {"a": {"c": 1}}
    whole = tool.model_copy(update={"secrets": ("/arguments",)})
    assert shown(whole, given) == {}
