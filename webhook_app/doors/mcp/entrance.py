"""The way in over Streamable HTTP: who calls, and whether the message is JSON that stays exact."""

import asyncio
import importlib
import importlib.util
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from proposals.canonical import MAX_TEXT, NotCanonical, loads
from webhook_app.doors.hall import agent, body, hall
from webhook_app.doors.problem import Problem, respond

from .reading import unread

PATH = "/mcp"
AGENT = "placet.agent"
"""Where a request's scope names the agent that the token belongs to."""


class Entrance:
    """The ASGI application at /mcp. Behind it a server runs from the first caller to `close`."""

    def __init__(self) -> None:
        self._opening = asyncio.Lock()
        self._manager: Any = None
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of an agent."""
        request = Request(scope, receive)
        try:
            here = hall(request)
            caller = agent(request, here)
            if request.method == "POST":
                receive = await _exact(request)
            manager = await self._opened(here)
        except Problem as problem:
            await respond(problem)(scope, receive, send)
        except NotCanonical as error:
            await _unread(error)(scope, receive, send)
        else:
            scope[AGENT] = caller
            await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """End every session."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _opened(self, here: Any) -> Any:
        async with self._opening:
            if self._manager is None:
                serving = await asyncio.to_thread(_serving)
                ready = asyncio.get_running_loop().create_future()
                # One task enters and leaves what the library opens; cancel scopes ask for that.
                self._task = asyncio.create_task(_kept(serving.managing(here), ready))
                self._manager = await ready
            return self._manager


async def _kept(managing: Any, ready: "asyncio.Future[Any]") -> None:
    try:
        async with managing as manager:
            ready.set_result(manager)
            await asyncio.Event().wait()
    except Exception as error:
        if ready.done():
            raise
        ready.set_exception(error)


def _serving() -> Any:
    """The part that needs the mcp library."""
    if importlib.util.find_spec("mcp") is None:
        hint = "The operator can install it: pip install placet[mcp]"
        raise Problem(501, "no_mcp", "This server has no MCP library.", hint)
    return importlib.import_module("webhook_app.doors.mcp.serving")


async def _exact(request: Request) -> Receive:
    """Read the body by the rules of plans; NotCanonical when JSON readers could differ about it."""
    raw = await body(request, MAX_TEXT)
    loads(raw)
    return _replayed(raw, request.receive)


def _unread(error: NotCanonical) -> JSONResponse:
    """Say it as MCP does, where no id can be read."""
    said = {"jsonrpc": "2.0", "id": None, "error": unread(error)}
    return JSONResponse(said, status_code=400)


def _replayed(raw: bytes, rest: Receive) -> Receive:
    """Hand a body on that was read already, and then whatever comes: the caller may hang up."""
    pending: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def receive() -> Message:
        return pending.pop() if pending else await rest()

    return receive
