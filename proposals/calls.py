"""What passes the gate: calls, registered tools, the policies by name, and how a call can pause."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .canonical import JSON
from .tools import Tool


class Status(StrEnum):
    """What became of a call, as it is logged."""

    EXECUTED = "executed"
    CACHE_HIT = "cache_hit"
    BLOCKED = "blocked"
    RETRIED = "retried"
    FAILED = "failed"
    FALLBACK = "fallback"


class Denied(Exception):
    """A call that never runs; `code` is unknown_tool, no_policy or key_conflict."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConfirmationRequired(Exception):
    """A call that waits for a person: a pause, not a failure. Resume by asking the store.

    `call_args` are the exact arguments (`args` is Python's own), `proposal` where they wait.
    """

    blocked_on = "waiting for approval"

    def __init__(self, tool: str, call_args: JSON, proposal: str) -> None:
        super().__init__(f"{tool} waits for approval ({proposal}); nothing has been done yet")
        self.tool = tool
        self.call_args = call_args
        self.proposal = proposal


class Transient(Exception):
    """A read that failed in a way that may pass: no connection, a timeout, a busy server."""


Policy = Callable[[Tool], bool]
Run = Callable[[JSON, str | None], Awaitable[JSON]]


def deny_destructive(tool: Tool) -> bool:
    """Let reads run; everything that changes anything waits for a person."""
    return tool.effect == "read"


def always_approve(_: Tool) -> bool:
    """Let everything run: for tests and flows that are trusted by construction, never by a file."""
    return True


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered tool: what it is, how it runs, and for reads how often and what instead."""

    tool: Tool
    run: Run
    retries: int = 0
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call; without a `session` nothing is remembered, `key` is for what is not a read.

    `instead_of`: the reads that failed before this one was fallen back on.
    """

    tool: str
    arguments: JSON
    session: str | None = None
    key: str | None = None
    instead_of: frozenset[str] = frozenset()


class Holder(Protocol):
    """Whoever asks people: the store behind it is the only authority on what they said."""

    async def hold(self, tool: Tool, arguments: JSON, key: str | None) -> str:
        """Propose the call, or find the proposal that it has; its id."""

    async def result(self, proposal: str) -> JSON:
        """Its result once applied; ConfirmationRequired while it waits, Denied when it ended."""


Log = Callable[[Status, Call], None]
