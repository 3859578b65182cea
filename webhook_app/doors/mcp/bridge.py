"""`placet mcp`: an agent's stdio, relayed message by message to the server's /mcp.

It knows the agent's token and nothing else. A server that was started again has forgotten the
session: it is opened anew. Sent again is only what that server refused because it did not know the
session, for then nothing was done. A call may be done at once (modes `announce` and `confirm`), so
whatever else has no answer is never sent again: the agent is told that nobody knows.
"""

import secrets
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from webhook_app.toolkits.mcp.era import headers
from webhook_app.toolkits.mcp.http import NOT_SENT, OVER, reaching

from .pipes import Given, Taken, pipes

MOST = 100_000_000  # bytes of one answer; the server caps what it hands on
SETTLING = 1.0  # seconds in which what is under way beside a refused message is still answered
HANDSHAKE = 30.0  # seconds for a session to be opened again
_GONE = f"{OVER}HTTP status 404"
_WORDS = {f"{NOT_SENT}HTTP status 401": "Placet does not know the token in PLACET_TOKEN."}
_BEGUN = "notifications/initialized"
_CANCELLED = "notifications/cancelled"
_BROKE = "the connection to Placet broke"
_NOT_DONE = "Nothing was done: Placet's server was started again and could not be reached anew."
_LOOK = (
    "Nobody knows whether it was done. Do not call it again: ask placet_status or placet_list how"
    " it stands, and tell the user."
)
_HARMLESS = "It changes nothing; ask again."


async def bridge(url: str, token: str, session: str | None) -> None:
    """Relay stdin and stdout until stdin ends; `session` names the conversation, if it is known."""
    headers = {"Authorization": f"Bearer {token}"}
    headers |= {"Placet-Session": session} if session else {}
    async with pipes() as (given, taken):
        relay = _Relay(given, taken)
        while not relay.over:
            relay.lost = anyio.Event()
            await relay.through(reaching(f"{url}/mcp", headers, MOST))


@dataclass
class _Relay:
    """Both directions, and what is needed to open the session again.

    `_asked` was sent and has no answer; `_refused` was certainly not taken.
    """

    given: Given
    taken: Taken
    over: bool = False
    lost: anyio.Event = field(default_factory=anyio.Event)
    _version: str = ""
    _opening: JSONRPCRequest | None = None
    _asked: dict[str | int, JSONRPCRequest] = field(default_factory=dict)
    _refused: dict[str | int, JSONRPCRequest] = field(default_factory=dict)
    _again: JSONRPCRequest | None = None
    _answered: anyio.Event = field(default_factory=anyio.Event)
    _known: bool = True

    async def through(self, streams: AbstractAsyncContextManager[Any]) -> None:
        """Relay through these streams until the agent leaves or the server forgot the session."""
        async with streams as (read, write), anyio.create_task_group() as both:
            both.start_soon(self._down, read)
            both.start_soon(self._up, write, both.cancel_scope)
            await self.lost.wait()
            with anyio.move_on_after(SETTLING):
                while self._asked:  # noqa: ASYNC110 (what comes is answers, one by one)
                    await anyio.sleep(SETTLING / 50)
            both.cancel_scope.cancel()

    async def _up(self, write: Any, scope: anyio.CancelScope) -> None:
        if self._opening is not None:
            await self._reopen(write, self._opening)
        async for message in self.given:
            if self._opening is not None and not self._known:
                await self._reopen(write, self._opening)
            await self._send(write, message)
        self.over = True
        scope.cancel()

    async def _reopen(self, write: Any, opening: JSONRPCRequest) -> None:
        """Open the session again, and send what was refused; all else that waits is given up."""
        lost, self._asked = self._asked, {}
        for request in lost.values():
            await self.taken.send(_error(request, *_unknown(request, _BROKE)))
        self._again = opening.model_copy(update={"id": f"again-{secrets.token_hex(8)}"})
        self._answered, self._known = anyio.Event(), False
        with anyio.move_on_after(HANDSHAKE):
            await _write(write, self._again, "")
            await self._answered.wait()
        refused, self._refused = self._refused, {}
        if self._known:
            await self._send(write, JSONRPCNotification(jsonrpc="2.0", method=_BEGUN))
        for request in refused.values():
            if self._known:
                await self._send(write, request)
            else:
                await self.taken.send(_error(request, CONNECTION_CLOSED, _NOT_DONE))

    async def _send(self, write: Any, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._asked[message.id] = message
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            self._asked.pop((message.params or {}).get("requestId", ""), None)
        await _write(write, message, self._version)

    async def _down(self, read: Any) -> None:
        async for said in read:
            message = said.message if isinstance(said, SessionMessage) else None
            if not isinstance(message, JSONRPCResponse | JSONRPCError):
                if message is not None:
                    await self.taken.send(message)
            elif self._again is not None and message.id == self._again.id:
                self._reopened(message)
            else:
                await self._answer(message, self._asked.pop(_id(message), None))

    def _reopened(self, message: JSONRPCResponse | JSONRPCError) -> None:
        """The agent knows nothing of this opening."""
        if isinstance(message, JSONRPCResponse):
            self._known, self._version = True, _version(message)
        self._answered.set()

    async def _answer(
        self, message: JSONRPCResponse | JSONRPCError, asked: JSONRPCRequest | None
    ) -> None:
        if asked is None:  # it was given up, or is answered
            return
        if isinstance(message, JSONRPCError):
            if self._opening is not None and message.error.message.startswith(_GONE):
                self._refused[asked.id] = asked
                self.lost.set()
                return
            message = _told(asked, message)
        elif asked.method == "initialize":
            self._opening, self._version, self._known = asked, _version(message), True
        await self.taken.send(message)


def _id(message: JSONRPCResponse | JSONRPCError) -> str | int:
    return "" if message.id is None else message.id


def _version(opened: JSONRPCResponse) -> str:
    return str(opened.result.get("protocolVersion", ""))


def _told(asked: JSONRPCRequest, message: JSONRPCError) -> JSONRPCError:
    """What the agent is told of an error: whether it was done, where that is not known."""
    words, code = message.error.message, message.error.code
    if words.startswith(NOT_SENT):
        words = _WORDS.get(words, words).removeprefix(OVER).removeprefix(NOT_SENT)
        return _error(asked, code, words)
    if code in (CONNECTION_CLOSED, PARSE_ERROR) and message.error.data is None:
        return _error(asked, *_unknown(asked, words))
    return message


def _unknown(asked: JSONRPCRequest, why: str) -> tuple[int, str]:
    """What is said of a request that was sent and has no answer."""
    advice = _LOOK if asked.method == "tools/call" else _HARMLESS
    return CONNECTION_CLOSED, f"No answer came ({why}). {advice}"


def _error(asked: JSONRPCRequest, code: int, words: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=asked.id, error=ErrorData(code=code, message=words))


async def _write(write: Any, message: JSONRPCMessage, version: str) -> None:
    metadata = ClientMessageMetadata(headers=_headers(message, version))
    await write.send(SessionMessage(message, metadata=metadata))


def _headers(message: JSONRPCMessage, version: str) -> dict[str, str]:
    """The headers that go with a message: the version, and in the newer era what it is about."""
    if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
        return {MCP_PROTOCOL_VERSION_HEADER: version} if version else {}
    params: Mapping[str, Any] = message.params or {}
    modern = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
    if not isinstance(modern, str):
        opens = message.method == "initialize" or not version
        return {} if opens else {MCP_PROTOCOL_VERSION_HEADER: version}
    return headers(modern, message.method, params)
