"""`placet mcp`: an agent's stdio, relayed message by message to the server's /mcp.

It knows the agent's token and nothing else. A server that was started again has forgotten the
session: it is opened anew, and what was not answered is sent again, which is safe, because nothing
that changes anything is done by a call.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from webhook_app.toolkits.mcp.http import NOT_SENT, OVER, reaching

MOST = 100_000_000  # bytes of one answer; the server caps what it hands on
_GONE = f"{OVER}HTTP status 404"
_WORDS = {f"{NOT_SENT}HTTP status 401": "Placet does not know the token in PLACET_TOKEN."}
_BEGUN = "notifications/initialized"


async def bridge(url: str, token: str, session: str | None) -> None:
    """Relay stdin and stdout until stdin ends; `session` names the conversation, if it is known."""
    headers = {"Authorization": f"Bearer {token}"}
    headers |= {"Placet-Session": session} if session else {}
    async with stdio_server() as (given, taken):
        relay = _Relay(given, taken)
        while not relay.over:
            relay.lost = anyio.Event()
            await relay.through(reaching(f"{url}/mcp", headers, MOST))


@dataclass
class _Relay:
    """Both directions; what is needed to open the session again is kept."""

    given: Any
    taken: Any
    over: bool = False
    lost: anyio.Event = field(default_factory=anyio.Event)
    _version: str = ""
    _opening: JSONRPCRequest | None = None
    _unanswered: dict[str | int, JSONRPCRequest] = field(default_factory=dict)
    _reopened: anyio.Event | None = None

    async def through(self, streams: AbstractAsyncContextManager[Any]) -> None:
        """Relay through these streams until the agent leaves or the server forgot the session."""
        async with streams as (read, write), anyio.create_task_group() as both:
            both.start_soon(self._down, read)
            both.start_soon(self._up, write, both.cancel_scope)
            await self.lost.wait()
            both.cancel_scope.cancel()

    async def _up(self, write: Any, scope: anyio.CancelScope) -> None:
        if self._opening is not None:
            await self._reopen(write, self._opening)
        async for said in self.given:
            if isinstance(said, SessionMessage):
                await self._send(write, said.message)
        self.over = True
        scope.cancel()

    async def _reopen(self, write: Any, opening: JSONRPCRequest) -> None:
        self._reopened = anyio.Event()
        await self._send(write, opening)
        await self._reopened.wait()
        await self._send(write, JSONRPCNotification(jsonrpc="2.0", method=_BEGUN))
        for request in list(self._unanswered.values()):
            await self._send(write, request)

    async def _send(self, write: Any, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            if message.method == "initialize":
                self._opening = message
            else:
                self._unanswered[message.id] = message
        metadata = ClientMessageMetadata(headers=_headers(message, self._version))
        await write.send(SessionMessage(message, metadata=metadata))

    async def _down(self, read: Any) -> None:
        async for said in read:
            message = said.message if isinstance(said, SessionMessage) else None
            if isinstance(message, JSONRPCError) and self._forgotten(message):
                self.lost.set()
            elif isinstance(message, JSONRPCResponse) and self._is_opening(message):
                self._version = str(message.result.get("protocolVersion", ""))
                await self._opened(message)
            elif message is not None:
                await self._answer(message)

    def _forgotten(self, message: JSONRPCError) -> bool:
        return self._opening is not None and message.error.message.startswith(_GONE)

    def _is_opening(self, message: JSONRPCResponse) -> bool:
        return self._opening is not None and message.id == self._opening.id

    async def _opened(self, message: JSONRPCResponse) -> None:
        """Hand the first opening on; the agent knows nothing of the others."""
        if self._reopened is not None:
            self._reopened.set()
        else:
            await self.taken.send(SessionMessage(message))

    async def _answer(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._unanswered.pop(message.id, None)
        if isinstance(message, JSONRPCError):
            words = _WORDS.get(message.error.message, message.error.message)
            words = words.removeprefix(OVER).removeprefix(NOT_SENT)
            message = message.model_copy(
                update={"error": message.error.model_copy(update={"message": words})}
            )
        await self.taken.send(SessionMessage(message))


def _headers(message: JSONRPCMessage, version: str) -> dict[str, str]:
    """The headers that go with a message: the version, and in the newer era what it is about."""
    if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
        return {MCP_PROTOCOL_VERSION_HEADER: version} if version else {}
    params: Mapping[str, Any] = message.params or {}
    modern = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
    if not isinstance(modern, str):
        opens = message.method == "initialize" or not version
        return {} if opens else {MCP_PROTOCOL_VERSION_HEADER: version}
    about = params.get(NAME_BEARING_METHODS.get(message.method, ""))
    named = {MCP_NAME_HEADER: encode_header_value(about)} if isinstance(about, str) else {}
    return {MCP_PROTOCOL_VERSION_HEADER: modern, MCP_METHOD_HEADER: message.method, **named}
