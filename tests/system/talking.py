"""An agent's MCP client before the gateway of a town, over real HTTP, in either protocol era."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from sandbox.stage import served
from sandbox.testing import Town

ERAS = ("legacy", "2026-07-28")


@contextlib.asynccontextmanager
async def at(here: Town) -> AsyncIterator[str]:
    """Serve whichever Placet runs in the town; its address."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and here.app is not None:
            await here.app(scope, receive, send)

    async with served(app) as url:  # type: ignore[arg-type]
        yield url


@contextlib.asynccontextmanager
async def talking(
    url: str, token: str, era: str, *, session: str = "", **more: Any
) -> AsyncIterator[Client]:
    """A client of the gateway at this address."""
    headers = {"Authorization": f"Bearer {token}"}
    headers |= {"Placet-Session": session} if session else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=era, **more) as client,
    ):
        yield client


async def call(client: Client, tool: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Call a tool; what it said, structured."""
    said = (await client.call_tool(tool, arguments, **more)).structured_content
    assert isinstance(said, dict)
    return said
