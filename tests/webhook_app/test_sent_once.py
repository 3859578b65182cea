"""Nothing sends again what may have arrived: each way out, before a server whose link breaks.

The server takes every request that changes something, and then no answer of it comes.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from proposals.tools import Catalog, declared
from proposals.transcript import Use
from proposals.upstreams import Unreturned
from sandbox.stage import served
from tests.cut_link import listening
from webhook_app.adapters.desk import Desk
from webhook_app.client import AsyncPlacet, Placet, PlacetError
from webhook_app.settings import Upstream
from webhook_app.toolkits.http import HttpUpstreams
from webhook_app.toolkits.mcp import McpUpstreams

pytestmark = pytest.mark.anyio

TOOLS = json.dumps({"tools": [{"name": "a.b", "wire": "a__b", "gated": True}]}).encode()
HALF = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"
ENDS = ("closed", "reset", "half")


class Breaking:
    """A server that answers reads on a connection that it keeps, and breaks it at any POST."""

    def __init__(self, end: str) -> None:
        self.url = ""
        self.posts = 0
        self._end = end

    async def carry(self, read: asyncio.StreamReader, write: asyncio.StreamWriter) -> None:
        """Answer one connection's requests until it breaks."""
        while await self._answered(read, write):
            pass
        if self._end == "half":
            write.write(HALF)
            await write.drain()
        if self._end == "reset":
            write.transport.abort()
        write.close()

    async def _answered(self, read: asyncio.StreamReader, write: asyncio.StreamWriter) -> bool:
        try:
            head = (await read.readuntil(b"\r\n\r\n")).lower()
        except asyncio.IncompleteReadError:
            return False
        if head.startswith(b"get"):
            sizes = f"content-type: application/json\r\ncontent-length: {len(TOOLS)}"
            write.write(f"HTTP/1.1 200 OK\r\n{sizes}\r\n\r\n".encode() + TOOLS)
            await write.drain()
            return True
        size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await read.readexactly(size)
        self.posts += 1
        return False


@asynccontextmanager
async def breaking(end: str) -> AsyncIterator[Breaking]:
    made = Breaking(end)
    async with listening(made.carry) as made.url:
        yield made


async def direct(url: str) -> None:
    def asked() -> None:
        with Placet(url, "t") as placet:
            placet.tools()
            with pytest.raises(PlacetError) as lost:
                placet.call("a.b", {"n": 1})
            assert (lost.value.code, lost.value.status) == ("unreachable", 0)

    await anyio.to_thread.run_sync(asked)


async def awaited(url: str) -> None:
    async with AsyncPlacet(url, "t") as placet:
        await placet.tools()
        with pytest.raises(PlacetError) as lost:
            await placet.call("a.b", {"n": 1})
        assert (lost.value.code, lost.value.status) == ("unreachable", 0)


async def desk(url: str) -> None:
    async with AsyncPlacet(url, "t") as placet:
        said = await Desk(placet).ask(Use("u", "a__b", {"n": 1}))
    assert (said["status"], said["executed"]) == ("unknown", None)


async def api(url: str) -> None:
    tool = {"effect": "write", "method": "POST", "path": "/x", "arguments": {"properties": {}}}
    catalog = Catalog.of(declared({"api": {"post": tool}}, {"api": "http"}))
    upstreams = HttpUpstreams({"api": Upstream(base_url=url)}, {})
    try:
        with pytest.raises(Unreturned):
            await upstreams.call(catalog.find("api.post"), {}, "key")
    finally:
        await upstreams.close()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("ask", [direct, awaited, desk, api])
async def test_a_change_whose_connection_breaks_is_sent_once(
    ask: Callable[[str], Awaitable[None]], end: str
) -> None:
    async with breaking(end) as server:
        await ask(server.url)
        assert server.posts == 1


PRIMED = "id: 1\nretry: 1\ndata:\n\n"  # from here on a client may ask for the rest of the stream


class Losing:
    """A server of MCP that takes a call of its tool and loses the answer, in one way or another."""

    def __init__(self, way: str) -> None:
        self.calls = 0
        self.resumed = 0
        self._way = way
        self.app = Starlette(routes=[Route("/mcp", self.take, methods=["POST", "GET", "DELETE"])])

    async def take(self, request: Request) -> Response:
        if request.method != "POST":
            self.resumed += "last-event-id" in request.headers
            return Response(status_code=405)
        said = await request.json()
        if "id" not in said:
            return Response(status_code=202)
        if said["method"] == "tools/call":
            self.calls += 1
            return self._lost()
        tools = [{"name": "pay", "inputSchema": {"type": "object"}}]
        begun = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        begun |= {"serverInfo": {"name": "x", "version": "1"}}
        result: dict[str, Any] = {"initialize": begun, "tools/list": {"tools": tools}}
        body = {"jsonrpc": "2.0", "id": said["id"], "result": result[said["method"]]}
        return JSONResponse(body, headers={"mcp-session-id": "s"})

    def _lost(self) -> Response:
        stream = "text/event-stream"
        return {
            "bad-gateway": lambda: Response("<h1>", 502),
            "no-json": lambda: Response("{", media_type="application/json"),
            "stream-ends": lambda: Response(": hello\n\n", media_type=stream),
            "stream-to-resume": lambda: Response(PRIMED, media_type=stream),
            "stream-of-words": lambda: Response("data: hello\n\n", media_type=stream),
        }[self._way]()


@pytest.mark.parametrize(
    "way", ["bad-gateway", "no-json", "stream-ends", "stream-to-resume", "stream-of-words"]
)
async def test_a_call_whose_answer_is_lost_is_made_once(tmp_path: Path, way: str) -> None:
    server = Losing(way)
    tools = {"bank": {"pay": {"effect": "write", "timeout": "20s"}}}
    catalog = Catalog.of(declared(tools, {"bank": "mcp"}))
    async with served(server.app) as url:  # type: ignore[arg-type]
        upstreams = McpUpstreams({"bank": Upstream(url=f"{url}/mcp")}, tmp_path, {})
        try:
            await upstreams.start(catalog)
            with pytest.raises(Unreturned):
                await upstreams.call(catalog.find("bank.pay"), {}, None)
        finally:
            await upstreams.close()
    assert server.calls == 1
    assert (server.resumed > 0) == (way == "stream-to-resume")
