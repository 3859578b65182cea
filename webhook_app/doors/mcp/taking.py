"""tools/call: from the wire to the gate and back. Nothing of the caller's envelope goes on."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext

from proposals.answer import denied
from proposals.calls import Call, Denied, Status
from proposals.flow import Refusal
from proposals.lifecycle import IllegalMoveError
from proposals.own import OWN
from proposals.reserved import RESERVED, Reserved, reserved
from proposals.store import Agent, StoreStopped
from proposals.tools import BadArguments, Tool, UnknownTool, missing, printable
from proposals.turn import Scope
from proposals.upstreams import PROGRESS
from webhook_app.doors.calling import called, named, noted
from webhook_app.doors.hall import Hall
from webhook_app.doors.problem import Problem
from webhook_app.doors.turning import reported

from .answering import relayed, structured
from .eliciting import Offers
from .entrance import AGENT
from .listing import PREFIX
from .naming import wired
from .own import own

_SESSIONS = (f"{PREFIX}session", "vscode.conversationId")
_LOOK = "Look at its state."
_DISK = "The operator must look at the disk; then call it again."
_REFUSALS = (Refusal, Denied, BadArguments, Problem, UnknownTool)


Taken = types.CallToolResult | types.InputRequiredResult


async def take(
    here: Hall, offers: Offers, ctx: ServerRequestContext, params: types.CallToolRequestParams
) -> Taken:
    """Take one call of a tool, ours or a declared one; what is refused says what to do instead."""
    scope = Scope(agent_of(ctx).name, session(ctx, params.meta or {}) or "")
    try:
        if params.name in OWN:
            return await own(here, ctx, scope, params)
        result, said = await _declared(here, ctx, scope, params)
        return (await offers.make(ctx, said) if said else None) or result
    except _REFUSALS as error:
        said = denied(printable(params.name, 80), error.code, str(error), error.hint)
        return structured(reported(here, scope, said), wrong=True)
    except IllegalMoveError:
        detail = "The proposal has moved on meanwhile."
        return structured(denied(params.name, "already_over", detail, _LOOK), wrong=True)
    except StoreStopped:
        detail = "The store cannot be written."
        return structured(denied(params.name, "store_stopped", detail, _DISK), wrong=True)


def agent_of(ctx: ServerRequestContext) -> Agent:
    """The agent whose token came with this very request."""
    found = ctx.request.scope.get(AGENT) if ctx.request is not None else None
    if not isinstance(found, Agent):
        raise TypeError("a request came in past the entrance")
    return found


def session(ctx: ServerRequestContext, meta: Mapping[str, Any]) -> str | None:
    """The conversation that a call is part of, as its client names it; None when it does not."""
    header = ctx.request.headers.get("placet-session") if ctx.request is not None else None
    said = (header, *(meta.get(name) for name in _SESSIONS))
    return next((found for found in map(named, said) if found), None)


async def _declared(
    here: Hall, ctx: ServerRequestContext, scope: Scope, params: types.CallToolRequestParams
) -> tuple[types.CallToolResult, dict[str, Any] | None]:
    """The result of a call of a declared tool, and what was said of it if it was held."""
    tool = _tool(here, scope, params.name)
    given = dict(params.arguments or {})
    asked = Reserved() if tool.effect == "read" else reserved(given.pop(RESERVED, None))
    meta: Mapping[str, Any] = params.meta or {}
    key = asked.key or named(meta.get(f"{PREFIX}key"))
    call = Call(
        tool.name,
        given,
        scope.session or None,
        key,
        scope.agent,
        asked.reason,
        token=asked.confirm_token,
    )
    watch = PROGRESS.set(ctx.session.report_progress if "progress_token" in meta else None)
    try:
        came = await called(here, call)
    finally:
        PROGRESS.reset(watch)
    if came.heard is not None:
        return relayed(tool.kind, came.heard), None
    held = came.said["proposal"] is not None
    return structured(came.said, wrong=not held), came.said if held else None


def _tool(here: Hall, scope: Scope, wire: str) -> Tool:
    """The tool of exactly this name on the wire; the call of any other is noted and denied."""
    tools = wired(here)
    if wire not in tools:
        noted(here, Status.BLOCKED, Call(wire, {}, agent=scope.agent))
        raise missing(wire, [*tools, *OWN])
    return tools[wire]
