"""One open session with an MCP server: requests and their answers as they are on the wire.

Requests go past the library's models: one broken tool would make its whole listing unreadable,
and an answer that does not fit the tool's own output schema would not arrive at all.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any, Self

import anyio
from mcp import ClientSession, MCPError
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    Implementation,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from proposals.tools import printable
from proposals.upstreams import Progress, Unreached, Unreturned

from .era import enveloped, headers, mirrored, modern
from .http import NOT_SENT, OVER

HANDSHAKE = 30.0  # seconds
FIRST, LONGEST = 1.0, 60.0  # seconds between two tries to hear of changes, doubled each time
_NO_ANSWER = frozenset({CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT})


class Refused(Exception):
    """The server answered a request with an error of its own, of this `code` of JSON-RPC."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"error {code}: {words}")
        self.code = code
        self.words = words


class _Watched:
    """What is read from the server, until it says no more; that is noticed before all else."""

    def __init__(self, read: Any, ended: asyncio.Event) -> None:
        self._read = read
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """In which the library handles the last message."""
        return getattr(self._read, "last_context", None)

    async def receive(self) -> Any:
        return await self._read.receive()

    async def aclose(self) -> None:
        self._ended.set()
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._read.__anext__()
        except BaseException:
            self._ended.set()
            raise

    async def __aenter__(self) -> Self:
        await self._read.__aenter__()
        return self

    async def __aexit__(self, *failed: object) -> None:
        self._ended.set()
        await self._read.__aexit__(*failed)


class Session:
    """An open session; `server` is how it names itself, `ended` is set when it is over.

    `stale` is set when the server says that its tools have changed; `schemas` are those of its
    tools' arguments, as far as they are known.
    """

    def __init__(self, read: Any, write: Any) -> None:
        self.ended = asyncio.Event()
        self.dispatcher: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(
            _Watched(read, self.ended), write
        )
        self.stale = asyncio.Event()
        self.server: dict[str, str] = {}
        self.schemas: Mapping[str, Mapping[str, Any]] = {}
        self._version = ""

    async def heard(self, message: object) -> None:
        """Notice what the server says unasked."""
        if isinstance(message, ToolListChangedNotification):
            self.stale.set()

    def agreed(self, server: Implementation | None, version: str) -> None:
        """Keep what was agreed on when the session began; a newer server may not say its name."""
        self.server = {"name": server.name, "version": server.version} if server else {}
        self._version = version

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        seconds: float,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Ask, and wait for the answer: Refused, Unreached or Unreturned when there is none."""
        options = CallOptions(timeout=seconds, headers=self._headers(method, params))
        if progress is not None:
            options["on_progress"] = _told(progress)
        if modern(self._version):
            params = enveloped(self._version, _client(), params)
        try:
            return await self.dispatcher.send_raw_request(method, params, options)
        except MCPError as error:
            if error.message.startswith(OVER):
                self.ended.set()
            raise _words(error) from None

    def _headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        if not modern(self._version):
            return {"mcp-protocol-version": self._version}
        schema = self.schemas.get(str(params.get("name")), {}) if method == "tools/call" else {}
        return headers(self._version, method, params) | mirrored(schema, params)


def _told(watch: Progress) -> Callable[..., Coroutine[Any, Any, None]]:
    async def told(progress: float, total: float | None, message: str | None) -> None:
        await watch(progress, total, message)

    return told


def _words(error: MCPError) -> Exception:
    """What an error means for the request: not carried out, no answer, or an answer of its own."""
    words = printable(error.message, 500)
    if words.startswith(NOT_SENT):
        return Unreached("upstream_down", words.removeprefix(OVER).removeprefix(NOT_SENT))
    if error.code in _NO_ANSWER:
        return Unreturned(words)
    return Refused(error.code, words)


def readable(result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a tool call, as far as it is one; Unreturned when it is something else.

    Only what the tool said comes out: no `_meta`, which is between the server and its client.
    """
    kind = result.get("resultType", "complete")
    if kind != "complete":
        raise Unreturned(f"its answer is of another kind: {printable(str(kind), 40)}")
    try:
        CallToolResult.model_validate(result, by_name=False)
    except ValidationError:
        raise Unreturned("its answer is no result of a tool call") from None
    return {
        "content": result.get("content", []),
        "structuredContent": result.get("structuredContent"),
        "isError": result.get("isError") is True,
    }


@asynccontextmanager
async def opened(streams: AbstractAsyncContextManager[Any]) -> AsyncIterator[Session]:
    """Open a session over these streams. No roots, sampling or elicitation are offered."""
    async with streams as (read, write):
        session = Session(read, write)
        async with ClientSession(
            dispatcher=session.dispatcher,
            message_handler=session.heard,
            read_timeout_seconds=HANDSHAKE,
            client_info=_client(),
        ) as client:
            session.agreed(*await _begun(client))
            async with anyio.create_task_group() as tasks:
                if client.discover_result is not None:
                    tasks.start_soon(_follow, client, session)
                yield session
                tasks.cancel_scope.cancel()


def _client() -> Implementation:
    return Implementation(name="placet", version=version("placet"))


async def _begun(client: ClientSession) -> tuple[Implementation | None, str]:
    """Begin as the older era does; a server that knows only the newer one says what it is."""
    try:
        begun = await client.initialize()
    except MCPError as error:
        first = _words(error)
    except RuntimeError as error:  # it named a version that is of no handshake
        first = Refused(UNSUPPORTED_PROTOCOL_VERSION, printable(str(error)))
    else:
        return begun.server_info, begun.protocol_version
    if isinstance(first, Unreturned):
        raise first
    try:
        await client.discover()
    except (MCPError, RuntimeError, ValidationError):
        raise first from None
    return client.server_info, str(client.protocol_version)


async def _follow(client: ClientSession, session: Session) -> None:
    """Hear of changed tools as the newer era has it, as long as the server lets itself be heard.

    What changed while nobody heard is found by listing anew.
    """
    pause = FIRST
    while True:
        try:
            async with listen(client, tools_list_changed=True) as changes:
                session.stale.set()
                async for _ in changes:
                    session.stale.set()
        except MCPError:
            return
        except (SubscriptionLost, TimeoutError):
            pass
        await anyio.sleep(pause)
        pause = min(pause * 2, LONGEST)
