"""An MCP server at an address: streamable HTTP, whose failures say what is certain of them."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED

NOT_SENT = f"not done {secrets.token_hex(8)}: "
"""How an error of ours begins that says a request was not carried out; nobody else can say it."""
OVER = f"{NOT_SENT}over: "
"""The same, where the session is gone as well and another must be opened."""
_TIMEOUT = httpx2.Timeout(30, read=None)  # each call has a time limit of its own
_REFUSED = frozenset({401, 403, 404, 405, 429})  # the server did not take the request
_FORGOTTEN = 404
_BROKEN = 500


@asynccontextmanager
async def reaching(url: str, headers: Mapping[str, str], most: int) -> AsyncIterator[Any]:
    """Give the streams of a session at this address; an answer has at most `most` bytes."""
    transport = _Plain(httpx2.AsyncHTTPTransport(), most)
    async with (
        httpx2.AsyncClient(
            headers=dict(headers), timeout=_TIMEOUT, transport=transport, trust_env=False
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=most) as streams,
    ):
        yield streams


class _Plain(httpx2.AsyncBaseTransport):
    """Puts failures into words that the session hands to the one request they concern.

    Otherwise one broken connection would take every other call of the session with it, and an
    error page of a proxy would look like the tool's own answer.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, most: int) -> None:
        self._inner = inner
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            return _failure(f"{OVER}no connection")
        except httpx2.TransportError as error:
            return _failure(f"the connection broke: {type(error).__name__}")
        if response.status_code in _REFUSED:
            await response.aclose()
            begins = OVER if response.status_code == _FORGOTTEN else NOT_SENT
            return _failure(f"{begins}HTTP status {response.status_code}")
        if response.status_code >= _BROKEN:
            await response.aclose()
            return _failure(f"HTTP status {response.status_code}")
        return await self._bounded(response)

    async def _bounded(self, response: httpx2.Response) -> httpx2.Response:
        """Read an answer in JSON here, up to the cap; the library would read it to any length."""
        if not response.headers.get("content-type", "").lower().startswith("application/json"):
            return response
        read = bytearray()
        try:
            async for part in response.aiter_bytes():
                read += part
                if len(read) > self._most:
                    return _failure(f"its answer has more than {self._most:,} bytes")
        except httpx2.TransportError as error:
            return _failure(f"the connection broke: {type(error).__name__}")
        finally:
            await response.aclose()
        kept = {k: v for k, v in response.headers.items() if k.lower() not in _FRAMING}
        return httpx2.Response(response.status_code, headers=kept, content=bytes(read))

    async def aclose(self) -> None:
        await self._inner.aclose()


_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def _failure(message: str) -> httpx2.Response:
    error = {"code": CONNECTION_CLOSED, "message": message}
    return httpx2.Response(502, json={"jsonrpc": "2.0", "id": None, "error": error})
