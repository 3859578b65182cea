"""`placet mcp`: an agent's stdio, relayed message by message to the server's /mcp.

It knows the agent's token and nothing else. A server that was started again has forgotten the
session: it is opened anew. Sent again is only what that server refused because it did not know the
session, for then nothing was done. A call may be done at once (modes `announce` and `confirm`), so
whatever else has no answer is never sent again: the agent is told that nobody knows.
"""

import logging
import re
import secrets
from collections import deque
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
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
_BROKEN = "Nothing was done: the connection to Placet broke before this was sent. Ask again."
_FITS = re.compile(r"[!-~]([ -~]*[!-~])?")  # what can stand in a header of HTTP
_UNFIT = "Nothing was done: the method and the protocol version must be visible ASCII. Mend them."
_HARMLESS = "It changes nothing; ask again."
_LOG = logging.getLogger(__name__)


async def bridge(url: str, token: str, session: str | None) -> None:
    """Relay stdin and stdout until stdin ends; `session` names the conversation, if it is known."""
    headers = {"Authorization": f"Bearer {token}"}
    headers |= {"Placet-Session": session} if session else {}
    async with pipes() as (given, taken), anyio.create_task_group() as tasks:
        relay = _Relay(taken)
        tasks.start_soon(relay.hear, given)
        while not relay.over:
            await relay.through(reaching(f"{url}/mcp", headers, MOST))


@dataclass
class _Relay:
    """Both directions, and what is needed to open the session again.

    `_due` was certainly not taken by the server; `_asked` was sent and has no answer. What is taken
    out of one of them goes to its next place before anything else can run: nothing is dropped when
    the streams of a session are given up.
    """

    taken: Taken
    over: bool = False
    _lost: anyio.Event = field(default_factory=anyio.Event)
    _version: str = ""
    _opening: JSONRPCRequest | None = None
    _known: bool = True
    _due: deque[JSONRPCMessage] = field(default_factory=deque)
    _news: anyio.Event = field(default_factory=anyio.Event)
    _asked: dict[str | int | None, JSONRPCRequest] = field(default_factory=dict)
    _twice: set[str | int] = field(default_factory=set)
    _again: JSONRPCRequest | None = None
    _answered: anyio.Event = field(default_factory=anyio.Event)

    async def hear(self, given: Given) -> None:
        """Take what the agent says, until it leaves, whatever becomes of the server meanwhile."""
        async for message in given:
            self._heard(message)
            self._news.set()
        self.over = True
        self._lost.set()

    def _heard(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._twice.discard(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            gone = cancelled_request_id_from_params(message.params)
            self._asked.pop(gone, None)
            kept = [m for m in self._due if not (isinstance(m, JSONRPCRequest) and m.id == gone)]
            self._due = deque(kept)
        self._due.append(message)

    async def through(self, streams: AbstractAsyncContextManager[Any]) -> None:
        """Relay through these streams until the agent leaves or the server forgot the session."""
        self._lost = anyio.Event()
        try:
            async with streams as (read, write), anyio.create_task_group() as both:
                both.start_soon(self._down, read)
                both.start_soon(self._up, write)
                await self._lost.wait()
                await self._settle()
                both.cancel_scope.cancel()
        except ExceptionGroup:
            _LOG.warning("The session with Placet broke; the next message opens another.")
            self._undone(_BROKEN)
            await anyio.sleep(SETTLING)
        self._known = False
        lost, self._asked = self._asked, {}
        for request in lost.values():
            self.taken.send_nowait(_error(request, *_unknown(request, _BROKE)))

    async def _settle(self) -> None:
        with anyio.move_on_after(SETTLING):
            while self._asked and not self.over:  # noqa: ASYNC110 (answers come one by one)
                await anyio.sleep(SETTLING / 50)

    async def _up(self, write: Any) -> None:
        while not self._lost.is_set():
            if not self._due:
                self._news = anyio.Event()
                await self._news.wait()
            elif self._opening is None or self._known:
                await self._send(write, self._due.popleft())
            else:
                await self._reopen(write, self._opening)

    async def _reopen(self, write: Any, opening: JSONRPCRequest) -> None:
        """Open the session again for what is due; where that fails, none of it is sent."""
        self._again = opening.model_copy(update={"id": f"again-{secrets.token_hex(8)}"})
        self._answered = anyio.Event()
        with anyio.move_on_after(HANDSHAKE):
            await _write(write, self._again, {})
            await self._answered.wait()
        if self._known:
            await self._send(write, JSONRPCNotification(jsonrpc="2.0", method=_BEGUN))
        else:
            self._undone(_NOT_DONE)
            self._lost.set()

    def _undone(self, words: str) -> None:
        due, self._due = self._due, deque()
        for message in due:
            if isinstance(message, JSONRPCRequest):
                self.taken.send_nowait(_error(message, CONNECTION_CLOSED, words))

    async def _send(self, write: Any, message: JSONRPCMessage) -> None:
        found = _headers(message, self._version)
        fits = all(_FITS.fullmatch(value) for value in found.values())
        if isinstance(message, JSONRPCRequest):
            if not fits:
                self.taken.send_nowait(_error(message, INVALID_REQUEST, _UNFIT))
                return
            self._asked[message.id] = message
        if fits:
            await _write(write, message, found)

    async def _down(self, read: Any) -> None:
        async for said in read:
            message = said.message if isinstance(said, SessionMessage) else None
            if not isinstance(message, JSONRPCResponse | JSONRPCError):
                if message is not None:
                    self.taken.send_nowait(message)
            elif self._again is not None and message.id == self._again.id:
                self._reopened(message)
            elif asked := self._asked.pop(message.id, None):  # else it was given up
                self._answer(message, asked)
        self._lost.set()

    def _reopened(self, message: JSONRPCResponse | JSONRPCError) -> None:
        """The agent knows nothing of this opening."""
        if isinstance(message, JSONRPCResponse):
            self._known, self._version = True, _version(message)
        self._answered.set()

    def _answer(self, message: JSONRPCResponse | JSONRPCError, asked: JSONRPCRequest) -> None:
        if isinstance(message, JSONRPCError):
            if self._opening is not None and message.error.message.startswith(_GONE):
                self._refused(asked)
                return
            message = _told(asked, message)
        elif asked.method == "initialize":
            self._opening, self._version, self._known = asked, _version(message), True
        self.taken.send_nowait(message)

    def _refused(self, asked: JSONRPCRequest) -> None:
        """It is sent again in another session, once: a server may forget each one at once."""
        self._known = False
        self._lost.set()
        if asked.id in self._twice:
            self.taken.send_nowait(_error(asked, CONNECTION_CLOSED, _NOT_DONE))
        else:
            self._twice.add(asked.id)
            self._due.append(asked)


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


async def _write(write: Any, message: JSONRPCMessage, headers: dict[str, str]) -> None:
    await write.send(SessionMessage(message, metadata=ClientMessageMetadata(headers=headers)))


def _headers(message: JSONRPCMessage, version: str) -> dict[str, str]:
    """The headers that go with a message: the version, and in the newer era what it is about."""
    if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
        return {MCP_PROTOCOL_VERSION_HEADER: version} if version else {}
    params: Mapping[str, Any] = message.params or {}
    meta = params.get("_meta")
    modern = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    if not isinstance(modern, str):
        opens = message.method == "initialize" or not version
        return {} if opens else {MCP_PROTOCOL_VERSION_HEADER: version}
    return headers(modern, message.method, params)
