"""MCP servers at an address: their token, and what comes of a call when the way there is broken."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from proposals.tools import Catalog, declared
from proposals.upstreams import Heard, Unreached, Unreturned
from sandbox.stage import free_port, served
from tests.mcp_servers.offered import TOOLS, calendar, calls
from webhook_app.settings import Upstream
from webhook_app.toolkits.mcp import McpUpstreams

pytestmark = pytest.mark.anyio

TOKEN = "Bearer s3cret"


class Away:
    """A calendar at an address, and Placet's side of it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.catalog = Catalog.of(declared({"cal": TOOLS}, {"cal": "mcp"}))
        self.upstreams = McpUpstreams({}, folder, {})
        self.process: asyncio.subprocess.Process | None = None

    async def begin(self) -> None:
        """Start the server, at the port that it had before."""
        self.process = await asyncio.create_subprocess_exec(
            *calendar(self.folder, http=True),
            stdout=asyncio.subprocess.PIPE,
            env={"TOKEN": "s3cret", "PORT": str(self.port)},
        )
        assert self.process.stdout is not None
        assert int(await self.process.stdout.readline()) == self.port

    async def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        await self.process.wait()

    async def connect(self, token: str = TOKEN, most: int = 10_000_000) -> None:
        await self.upstreams.close()
        url = f"http://127.0.0.1:{self.port}/mcp"
        cal = Upstream(url=url, headers_env={"Authorization": "CAL"}, max_answer=most)
        self.upstreams = McpUpstreams({"cal": cal}, self.folder, {"CAL": token})
        await self.upstreams.start(self.catalog)

    async def call(self, name: str, **arguments: object) -> Heard:
        return await self.upstreams.call(self.catalog.find(f"cal.{name}"), dict(arguments), None)


PAGE = ("text/html", "<h1>Sorry</h1>")


def losing(status: int, port: int, page: tuple[str, str] = PAGE) -> Any:
    """A proxy before the calendar, which answers every tool call with a page of its own."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        body = await request.body()
        if request.method != "POST":
            answer = Response(status_code=405)
        elif b'"tools/call"' in body:
            answer = Response(page[1], status, media_type=page[0])
        else:
            async with httpx.AsyncClient() as http:
                url = f"http://127.0.0.1:{port}/mcp"
                kept = {k: v for k, v in request.headers.items() if k not in ("host", "connection")}
                there = await http.post(url, content=body, headers=kept)
            passed = {k: v for k, v in there.headers.items() if k.startswith(("mcp-", "content-t"))}
            answer = Response(there.content, there.status_code, passed)
        await answer(scope, receive, send)

    return app


@asynccontextmanager
async def served_in(folder: Path) -> AsyncIterator[Away]:
    made = Away(folder, free_port(0))
    await made.begin()
    await made.connect()
    try:
        yield made
    finally:
        await made.upstreams.close()
        if made.process and made.process.returncode is None:
            await made.kill()


@pytest.fixture
async def away(tmp_path: Path) -> AsyncIterator[Away]:
    """A calendar for this test alone."""
    async with served_in(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
async def steady(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Away]:
    """A calendar that no test of this module may harm."""
    async with served_in(tmp_path_factory.mktemp("cal")) as made:
        yield made


async def test_the_headers_come_from_the_environment(steady: Away) -> None:
    assert (await steady.call("list_events")).error == ""
    await steady.connect("Bearer wrong")
    assert steady.upstreams.down() == {"cal": "HTTP status 401"}
    await steady.connect()


async def test_a_server_that_was_started_again_is_taken_again(away: Away) -> None:
    await away.kill()
    await away.begin()
    made = await away.call("create_event", title="After the restart")
    assert made.error == ""
    assert sum("create_event" in line for line in calls(away.folder)) == 1


async def test_a_write_to_a_server_that_is_gone_was_certainly_not_sent(away: Away) -> None:
    await away.kill()
    with pytest.raises(Unreached) as caught:
        await away.call("create_event", title="Never")
    assert caught.value.code == "upstream_down"


async def test_a_write_whose_server_is_killed_is_unknown(away: Away) -> None:
    (away.folder / "fault").write_text("die")
    with pytest.raises(Unreturned, match="no answer came back"):
        await away.call("create_event", title="Once")
    assert (away.folder / "events.json").read_text().count("Once") == 1


async def test_an_answer_over_the_cap_is_not_read(steady: Away) -> None:
    await steady.connect(most=100_000)
    with pytest.raises(Unreturned):
        await steady.call("big", megabytes=1)
    assert (await steady.call("list_events")).error == ""
    await steady.connect()


async def test_megabytes_arrive_whole(steady: Away) -> None:
    value = (await steady.call("big", megabytes=3)).value
    assert isinstance(value, dict)
    assert value["content"][0]["text"] == "x" * 3_000_000


async def test_a_changed_tool_is_published(steady: Away) -> None:
    before = steady.catalog.find("cal.list_events")
    await steady.call("grow", describe="list_events")
    async with asyncio.timeout(30):
        while steady.catalog.find("cal.list_events") is before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        pytest.param(401, Unreached, id="token-no-longer-good"),
        pytest.param(403, Unreached, id="forbidden"),
        pytest.param(404, Unreached, id="session-forgotten"),
        pytest.param(429, Unreached, id="too-many"),
        pytest.param(500, Unreturned, id="broke-inside"),
        pytest.param(502, Unreturned, id="a-proxy-lost-it"),
        pytest.param(504, Unreturned, id="a-proxy-waited-too-long"),
    ],
)
async def test_a_proxys_page_is_never_taken_for_the_tools_answer(
    steady: Away, status: int, kind: type[Exception]
) -> None:
    async with served(losing(status, steady.port)) as address:
        cal = Upstream(url=f"{address}/mcp", headers_env={"Authorization": "CAL"})
        upstreams = McpUpstreams({"cal": cal}, steady.folder, {"CAL": TOKEN})
        try:
            await upstreams.start(steady.catalog)
            with pytest.raises(kind, match=f"HTTP status {status}"):
                await upstreams.call(steady.catalog.find("cal.create_event"), {"title": "x"}, None)
        finally:
            await upstreams.close()
    assert not any("create_event" in line for line in calls(steady.folder))


async def test_an_answer_in_one_piece_over_the_cap_is_not_read(steady: Away) -> None:
    page = ("application/json", '{"jsonrpc": "2.0", "id": 3, "result": {}' + " " * 200_000 + "}")
    async with served(losing(200, steady.port, page)) as address:
        headers = {"Authorization": "CAL"}
        cal = Upstream(url=f"{address}/mcp", headers_env=headers, max_answer=100_000)
        upstreams = McpUpstreams({"cal": cal}, steady.folder, {"CAL": TOKEN})
        try:
            await upstreams.start(steady.catalog)
            with pytest.raises(Unreturned, match="its answer has more than 100,000 bytes"):
                await upstreams.call(steady.catalog.find("cal.list_events"), {}, None)
        finally:
            await upstreams.close()
