"""The facts of a turn, `placet.turn/v1`: what an agent may say that it did, and nothing else. Pure.

Made of what the store knows and never of anybody's words; the same shape when nothing happened.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .words import line, stamp

SCHEMA = "placet.turn/v1"
RULE = "Nothing may be described as done that is not listed as applied."
MOST = 40
"""Entries of a report; what is left out is counted in a last one."""

_WORDS = {
    "applied": "applied",
    "failed": "FAILED",
    "unknown": "OUTCOME UNKNOWN",
    "started": "OUTCOME UNKNOWN",
    "awaiting_approval": "awaiting approval",
    "pinned": "awaiting approval",
    "planning": "being planned, nothing done",
    "confirmation_required": "awaiting confirmation",
    "ended": "NOT DONE",
    "denied": "DENIED",
    "draft": "NOT DONE, input is missing",
    "omitted": "NOT LISTED",
}
_BASES = {"verified": "", "asserted": "a person said so, not read back"}
_NOT_CLEAN = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose calls belong together: one agent's, of one session when it names one."""

    agent: str
    session: str = ""

    @property
    def kind(self) -> str:
        """How a report names it."""
        return "session" if self.session else "agent"


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of calls; without an id it is what happened since the agent's last call."""

    id: str | None
    scope: Scope
    since: datetime
    closed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stood:
    """How a call stands: its `placet.call/v1`, and when it came to its end, if it did.

    `note`: what else the store knows of a change, such as that it was undone.
    """

    answer: Mapping[str, Any]
    ended: datetime | None = None
    note: str = ""


def report(
    turn: Turn, calls: Sequence[Stood], ended: Sequence[Stood], drafts: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Tell a turn: its `calls`, oldest first, what earlier calls `ended` since, pending `drafts`.

    A draft is {draft, section, tool, why}. A change counts for the turn in which it was made.
    """
    made = [c for c in calls if c.answer["status"] == "applied" and not _before(c, turn)]
    return {
        "schema": SCHEMA,
        "turn": turn.id,
        "scope": turn.scope.kind,
        "since": stamp(turn.since),
        "changes_this_turn": len({c.answer["proposal"] for c in made}),
        "entries": _bounded([_entry(c, turn) for c in calls]),
        "ended_since_last": _bounded([_entry(c) for c in ended]),
        "pending_drafts": [dict(d) for d in drafts],
        "rule": RULE,
    }


def text(report: Mapping[str, Any]) -> str:
    """The same report as lines, in the same order; every line of it is ours to begin."""
    applied = report["changes_this_turn"]
    drafts = [
        f"- {_clean(d['section'])} ({_clean(d['draft'])}): {_clean(d['tool'])}: {line(d['why'])}"
        for d in report["pending_drafts"]
    ]
    return "\n".join(
        (
            *_listed(f"Changes this turn ({applied} applied)", map(_line, report["entries"])),
            *_listed("Ended since the last turn", map(_line, report["ended_since_last"])),
            *_listed("Drafts that still lack input", drafts),
            report["rule"],
        )
    )


def _before(call: Stood, turn: Turn) -> bool:
    return call.ended is not None and call.ended < turn.since


def _entry(call: Stood, turn: Turn | None = None) -> dict[str, Any]:
    answer = call.answer
    why = _why(answer)
    if answer["status"] == "applied":
        again = "done before this turn, not done again" if turn and _before(call, turn) else ""
        why = ", ".join(part for part in (call.note, again, why) if part)
    return {
        "tool": line(answer["tool"], 100),
        "proposal": answer["proposal"],
        "status": answer["status"],
        "why": line(why),
    }


def _why(answer: Mapping[str, Any]) -> str:
    if answer["status"] == "applied":
        return _BASES.get(answer["_verification"]["verdict"], "the tool said so, not read back")
    error = answer["error"] or {}
    return str(error.get("message") or error.get("code") or "")


def _bounded(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest entries, and how many older ones are not listed."""
    if len(entries) <= MOST:
        return entries
    left = len(entries) - MOST + 1
    told = f"{left} earlier ones; ask placet_list about them"
    omitted = {"tool": "", "proposal": None, "status": "omitted", "why": told}
    return [omitted, *entries[left:]]


def _listed(title: str, lines: Any) -> list[str]:
    found = list(lines)
    return [f"{title}:", *found] if found else [f"{title}: none"]


def _line(entry: Mapping[str, Any]) -> str:
    word = _WORDS.get(entry["status"], "OUTCOME UNKNOWN")
    place = f" ({_clean(entry['proposal'])})" if entry["proposal"] else ""
    why = line(entry["why"])
    if word == "applied":
        return f"- {_clean(entry['tool'])}{place}: applied" + (f" ({why})" if why else "")
    if word.isupper() and not why:
        why = "no reason was given"
    return f"- {_clean(entry['tool'])}{place}: {word}" + (f": {why}" if why else "")


def _clean(name: str) -> str:
    """A name inside a line: a made-up one cannot look like more than a name."""
    return _NOT_CLEAN.sub("?", name[:100]) or "?"
