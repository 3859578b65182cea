"""`placet mcp` before odd agents, agents that do not read, and a server that forgets at once."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio.to_thread
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.stage import served
from tests.cases.test_attacks_third_mcp import OPENING, Forgetful, Raw, bridged, taken
from tests.system.test_bridge import PROGRAM

pytestmark = pytest.mark.anyio

VERSION = "io.modelcontextprotocol/protocolVersion"
LONG = "x" * 300_000  # more than a pipe holds


class Wayward(Forgetful):
    """Holds answers and openings back until it is told to go on, and forgets sessions at will."""

    def __init__(self) -> None:
        super().__init__()
        self.faithless = False
        self.refused = 0
        self.open, self.release = asyncio.Event(), asyncio.Event()
        self.open.set()

    async def take(self, request: Request) -> Response:
        said = await request.json() if request.method == "POST" else {}
        name = said.get("params", {}).get("name")
        if said.get("method") == "initialize":
            await self.open.wait()
        answer = await super().take(request)
        self.refused += answer.status_code == 404
        if self.faithless:
            self.sessions.clear()
        if answer.status_code == 200 and name == "held":
            await self.release.wait()
        if answer.status_code == 200 and name == "garbled":
            return JSONResponse({}, headers={"content-encoding": "gzip"})
        return answer


@pytest.fixture
async def server() -> AsyncIterator[Wayward]:
    made = Wayward()
    yield made
    made.release.set()


@pytest.fixture
async def url(server: Wayward) -> AsyncIterator[str]:
    async with served(server.app) as found:  # type: ignore[arg-type]
        yield found


@pytest.fixture
async def agent(url: str) -> AsyncIterator[Raw]:
    async with bridged(url, "t") as made:
        await made.opened()
        yield made


async def refused(server: Wayward) -> None:
    async with asyncio.timeout(60):
        while not server.refused:  # noqa: ASYNC110 (the server of this test says when)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        pytest.param("tools/call", {"name": "a", "_meta": "x"}, "result", id="meta-is-text"),
        pytest.param("tools/call", {"name": "a", "_meta": [1]}, "result", id="meta-is-a-list"),
        pytest.param("tools/call", {"_meta": {VERSION: "é"}}, "error", id="version-no-ascii"),
        pytest.param("tools/call", {"_meta": {VERSION: "a\r\nb: c"}}, "error", id="version-lines"),
        pytest.param("tools/call", {"_meta": {VERSION: ""}}, "error", id="version-empty"),
        pytest.param("é", {"_meta": {VERSION: "2026-07-28"}}, "error", id="method-no-ascii"),
        pytest.param("notifications/x", {"_meta": 1}, None, id="notice-meta-is-a-number"),
        pytest.param("notifications/é", {"_meta": {VERSION: "x"}}, None, id="notice-no-ascii"),
    ],
)
async def test_an_odd_message_neither_ends_nor_hangs_the_bridge(
    agent: Raw, method: str, params: dict[str, Any], told: str | None
) -> None:
    await agent.send(7 if told else None, method, **params)
    if told:
        assert told in await agent.answer(7)
    await agent.call(8, "after")
    assert "result" in await agent.answer(8)


@pytest.mark.parametrize("what", [[1], {}, True, 1.0, None], ids=json.dumps)
async def test_a_cancellation_of_what_is_no_id_cancels_nothing(
    server: Wayward, agent: Raw, what: object
) -> None:
    """Lists cannot be looked up, and Python takes True and 1.0 for 1."""
    agent.heard.clear()
    await agent.call(1, "held")
    await taken(server, "held")
    await agent.send(None, "notifications/cancelled", requestId=what)
    await agent.call(2, "after")
    assert "result" in await agent.answer(2)
    server.release.set()
    assert "result" in await agent.answer(1)


async def test_a_session_that_breaks_is_told_and_another_is_opened(
    server: Wayward, agent: Raw
) -> None:
    """An answer that cannot be unpacked takes the library's session with it."""
    await agent.call(2, "garbled")
    assert "Nobody knows whether it was done" in (await agent.answer(2))["error"]["message"]
    await agent.call(3, "after")
    assert "result" in await agent.answer(3)
    assert server.taken == ["garbled", "after"]


async def test_a_server_that_forgets_each_session_at_once_is_not_asked_for_ever(
    server: Wayward, agent: Raw
) -> None:
    """Two instances that do not share their sessions, or a proxy that drops the header."""
    server.sessions.clear()
    server.faithless = True
    for id_ in (2, 3):
        await agent.call(id_, "first")
        assert "Nothing was done" in (await agent.answer(id_))["error"]["message"]
    assert (server.taken, len(agent.heard[2]), len(agent.heard[3])) == ([], 1, 1)
    assert server.opened <= 5  # the agent's own, and two for each call
    server.faithless = False
    await agent.call(4, "second")
    assert "result" in await agent.answer(4)
    assert server.taken == ["second"]


async def test_what_was_cancelled_while_it_waited_is_not_sent(server: Wayward, agent: Raw) -> None:
    """The server is started again, and the client has no patience until it is found."""
    server.sessions.clear()
    server.open.clear()
    await agent.call(2, "unwanted")
    await refused(server)
    await agent.call(3, "wanted")
    await agent.send(None, "notifications/cancelled", requestId=2)
    await agent.write(b"{}")
    await agent.answer(None)  # it has read everything before this
    server.open.set()
    assert "result" in await agent.answer(3)
    await agent.call(4, "after")
    assert "result" in await agent.answer(4)
    assert server.taken == ["wanted", "after"]
    assert 2 not in agent.heard


async def test_no_answer_is_dropped_when_a_session_ends_before_a_slow_reader(
    server: Wayward, agent: Raw
) -> None:
    """Stdout is full while an answer comes from a server that has forgotten the session."""
    pipe: Any = agent._process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # noqa: SLF001
    pipe.pause_reading()
    await agent.call(2, LONG)
    await taken(server, LONG)
    await agent.call(3, "held")
    await taken(server, "held")
    server.sessions.clear()
    await agent.call(4, "after")
    await refused(server)
    await asyncio.sleep(0.2)
    server.release.set()
    await taken(server, "after")
    pipe.resume_reading()
    for id_ in (2, 3, 4):
        await agent.answer(id_)
    assert "result" in agent.heard[2][0]
    assert "result" in agent.heard[4][0]
    assert [len(agent.heard[id_]) for id_ in (2, 3, 4)] == [1, 1, 1]


@contextmanager
def started(url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A bridge whose agent has said what opens a session, and has asked for a long answer."""
    env = {"PLACET_URL": url, "PLACET_TOKEN": "t"}
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    argv = [sys.executable, *PROGRAM]
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=none, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for end in (process.stdin, process.stdout):
            assert end is not None
            end.close()


def line(id_: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def asked(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line(1, "initialize", OPENING) + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdin.write(line(2, "tools/call", {"name": LONG}) + b"\n")
    process.stdin.flush()


async def test_an_agent_that_reads_nothing_can_leave(server: Wayward, url: str) -> None:
    with started(url) as process:
        await anyio.to_thread.run_sync(asked, process)
        await taken(server, LONG)
        assert process.stdin is not None
        process.stdin.close()
        assert await anyio.to_thread.run_sync(process.wait, 60) == 0


async def test_a_stdout_that_is_closed_ends_the_bridge(url: str) -> None:
    """Nobody can be answered any more, though stdin stays open."""
    with started(url) as process:
        await anyio.to_thread.run_sync(asked, process)
        assert process.stdout is not None
        process.stdout.close()
        await anyio.to_thread.run_sync(process.wait, 60)
