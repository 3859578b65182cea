"""Calls to tools that others wrote and run: what a call can come back with, and from where.

One call of one tool, nothing more; what is a preview, a change or a read-back is decided above.
"""

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

    MCP: {content, structuredContent, isError}, as on the wire. HTTP: {status, headers, body}.
    """

    value: JSON
    error: str = ""


class Upstream(Protocol):
    """A way to call declared tools where they live."""

    async def call(self, tool: Tool, arguments: dict[str, JSON], key: str | None) -> Heard:
        """Call it once, with an idempotency key if there is one; Unreached or Unreturned."""
