"""What passes the gate: calls, registered tools, the policies by name, and how a call can pause."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .canonical import JSON
from .plan import Aim
from .tools import Tool
from .upstreams import Heard


class Status(StrEnum):
    """What became of a call, as it is logged."""

    EXECUTED = "executed"
    CACHE_HIT = "cache_hit"
    BLOCKED = "blocked"
    RETRIED = "retried"
    FAILED = "failed"
    FALLBACK = "fallback"


class Denied(Exception):
    """A call that never runs: `code` is unknown_tool, no_policy, key_conflict or an end's reason.

    `hint` says what to do instead.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


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


Policy = Callable[[Tool], bool]
Run = Callable[[JSON, str | None], Awaitable[Heard]]


def deny_destructive(tool: Tool) -> bool:
    """Let reads run; everything that changes anything waits for a person."""
    return tool.effect == "read"


def always_approve(_: Tool) -> bool:
    """Let everything run: for tests and flows that are trusted by construction, never by a file."""
    return True


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered tool: what it is, how it runs, and for reads how often and what instead.

    `run` raises Unreached or Unreturned; `memo`: how many seconds one session is answered from
    memory when it reads the same again.
    """

    tool: Tool
    run: Run
    retries: int = 0
    fallback: str | None = None
    memo: float = math.inf


@dataclass(frozen=True, slots=True)
class Call:
    """One call; without a `session` nothing is remembered, `key` is for what is not a read.

    `agent` is its name, `said` its own words, `aim` somebody's page that the call is tied to,
    `token` that of its preview, in mode `confirm`.
    `instead_of`: the reads that failed before this one was fallen back on.
    """

    tool: str
    arguments: JSON
    session: str | None = None
    key: str | None = None
    agent: str = ""
    said: str = ""
    aim: Aim | None = None
    token: str | None = None
    instead_of: frozenset[str] = frozenset()


class Holder(Protocol):
    """Whoever asks people: the store behind it is the only authority on what they said."""

    async def hold(self, call: Call) -> str:
        """Propose a call, its arguments as they fit the tool, or find its proposal; the id."""

    async def result(self, proposal: str) -> Heard:
        """Its result once applied; ConfirmationRequired while it waits, Denied when it ended."""


Log = Callable[[Status, Call], None]
