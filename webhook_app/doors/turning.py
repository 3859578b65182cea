"""Turns, drafts and the facts that ride in every answer: what an agent may say that it did."""

import secrets
from typing import Any, Literal

from proposals import answer
from proposals.calls import Call
from proposals.canonical import JSON, pointer_split
from proposals.drafts import MISSING_INPUT, Draft, named, pending
from proposals.tools import BadArguments, Tool, UnknownTool
from proposals.turn import Scope, text

from .hall import Hall
from .problem import Problem

Action = Literal["open", "look", "guard", "close"]


def turned(here: Hall, scope: Scope, action: Action) -> dict[str, Any]:
    """Open, look at, guard or close the turn of a session; the answer has always one shape.

    `turn` is the one that is open afterwards; `report` tells of the one before when it is opened.
    """
    opened = f"t_{secrets.token_hex(8)}" if action == "open" else None
    report, correction = None, None
    if opened:
        report = here.store.open_turn(scope, opened, here.now())
    elif action == "close":
        report = here.store.close_turn(scope, here.now())
    elif action == "guard" and (found := here.store.confront(scope)):
        correction = found.words
    report = report or here.store.turn_report(scope, here.now())
    return {
        "turn": None if action == "close" else opened or report["turn"],
        "report": report,
        "text": text(report),
        "pending": pending(here.store.drafts(scope)),
        "correction": correction,
    }


def discarded(here: Hall, scope: Scope, draft: str) -> dict[str, Any]:
    """Let a draft go, and look that it is gone."""
    if not here.store.discard_draft(scope, draft):
        detail = "There is no such draft in this session."
        raise Problem(404, "no_draft", detail, "The turn report lists the drafts that there are.")
    check = {"what": f"draft {draft}", "expected": "absent", "found": "absent", "ok": True}
    return {
        "draft": draft,
        "_verification": {"verdict": "verified", "ok": True, "checks": [check]},
        "turn_report": here.store.turn_report(scope, here.now()),
    }


def reported(here: Hall, scope: Scope, said: dict[str, Any]) -> dict[str, Any]:
    """An answer of ours with the facts of its turn."""
    return said | {"turn_report": here.store.turn_report(scope, here.now())}


def recorded(here: Hall, call: Call, said: dict[str, Any]) -> dict[str, Any]:
    """An answer to a call that changes something, kept as a part of its turn."""
    return kept(here, scope_of(call), said, _section(_tool(here, call), call))


def kept(here: Hall, scope: Scope, said: dict[str, Any], section: str = "") -> dict[str, Any]:
    """An answer, kept as a part of a turn; `section` is the one whose draft it settles."""
    here.store.record_call(scope, said, section, here.now())
    return reported(here, scope, said)


def refused(here: Hall, call: Call, code: str, message: str, hint: str) -> None:
    """Keep a call that was not taken as a part of its turn; one that only reads is none."""
    tool = _tool(here, call)
    if tool is None or tool.effect != "read":
        recorded(here, call, answer.denied(call.tool, code, message, hint))


def lacking(here: Hall, call: Call, error: BadArguments) -> dict[str, Any] | None:
    """Keep a call that lacks input as a draft; None when it is no such call."""
    tool = _tool(here, call)
    if error.code not in MISSING_INPUT or tool is None or tool.effect == "read":
        return None
    scope, section = scope_of(call), _section(tool, call)
    given = shown(tool, call.arguments)
    id_ = named((scope.agent, scope.session), section, tool.name, given)
    draft = Draft(id_, section, tool.name, given, str(error), here.now())
    here.store.record_draft(scope, draft)
    return reported(here, scope, answer.draft(tool.name, error.code, str(error), id_))


def scope_of(call: Call) -> Scope:
    """Whose turn a call belongs to."""
    return Scope(call.agent, call.session or "")


def _tool(here: Hall, call: Call) -> Tool | None:
    try:
        return here.catalog.find(call.tool)
    except UnknownTool:
        return None


def shown(tool: Tool, arguments: JSON) -> JSON:
    """What may be kept of the arguments: nothing that the tool declares secret."""
    left, _ = pointer_split({"arguments": arguments}, tool.secrets)
    return left.get("arguments", {}) if isinstance(left, dict) else {}


def _section(tool: Tool | None, call: Call) -> str:
    """What the drafts of a tool are about: its section, or the tool alone."""
    return (tool.section if tool else "") or call.tool
