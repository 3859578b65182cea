"""Calls to tools that others wrote and run: what a call can come back with, and from where.

One call of one tool, nothing more; what is a preview, a change or a read-back is decided above.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from .canonical import JSON
from .tools import Tool


class Unreached(Exception):
    """The call was certainly not sent: the upstream is down, or the tool is not there (`code`)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unreturned(Exception):
    """The call was sent and no answer came: a write may have happened, a read may be repeated."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back. `value` is what references point into; `error` its own words when it failed.

    MCP: {content, structuredContent, isError}, as on the wire. HTTP: {status, headers, body}; a
    command or a Python tool: its result. `refused`: an error that is certain to have changed
    nothing, whatever else may be said of errors. `wire`: the value is an MCP result as on the wire.
    """

    value: JSON
    error: str = ""
    refused: bool = False
    wire: bool = False


Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Told how far a call is: so much, of how much if that is known, and words for it."""

PROGRESS: ContextVar[Progress | None] = ContextVar("progress", default=None)
"""Whoever waits for the call that is being made here, and wants to know how far it is."""


class Upstream(Protocol):
    """A way to call declared tools where they live."""

    async def ready(self, tool: Tool) -> None:
        """Unreached when a call of it would certainly not be sent as things stand."""

    async def call(self, tool: Tool, arguments: dict[str, JSON], key: str | None) -> Heard:
        """Call it once, with an idempotency key if there is one; Unreached or Unreturned."""
