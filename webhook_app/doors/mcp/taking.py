"""tools/call: from the wire to the gate and back. Nothing of the caller's envelope goes on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext

from proposals import flow
from proposals.answer import answer, denied
from proposals.calls import Call, Denied, Status
from proposals.flow import Refusal
from proposals.lifecycle import IllegalMoveError
from proposals.likeness import PREFIX, worded
from proposals.own import OWN
from proposals.reserved import RESERVED, Reserved, reserved
from proposals.store import Agent, StoreStopped
from proposals.tools import BadArguments, Tool, UnknownTool, missing, printable
from proposals.turn import Scope
from proposals.upstreams import PROGRESS
from webhook_app.doors.calling import Came, called, named, noted
from webhook_app.doors.hall import Hall
from webhook_app.doors.problem import Problem
from webhook_app.doors.turning import recorded, reported

from .answering import relayed, structured
from .eliciting import Offers, agreed
from .entrance import AGENT
from .naming import wired
from .own import own

_SESSIONS = (f"{PREFIX}session", "vscode.conversationId")
_LOOK = "Look at its state."
_DISK = "The operator must look at the disk; then call it again."
_DECLINED = "Whoever was asked at the client said no to the preview."
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
        return await _declared(here, offers, ctx, params)
    except _REFUSALS as error:
        why = (error.code, str(error), error.hint)
    except IllegalMoveError:
        why = ("already_over", "The proposal has moved on meanwhile.", _LOOK)
    except StoreStopped:
        why = ("store_stopped", "The store cannot be written.", _DISK)
    said = denied(printable(params.name, 80), *why)
    return structured(reported(here, scope, said), wrong=True)


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
    here: Hall, offers: Offers, ctx: ServerRequestContext, params: types.CallToolRequestParams
) -> Taken:
    """Take the call of a declared tool, and ask whoever sits at the client, where that helps."""
    scope = Scope(agent_of(ctx).name, session(ctx, params.meta or {}) or "")
    tool = _tool(here, scope, params.name)
    call, said = _call(tool, scope, params), agreed(params)
    if said == "accept" and call.token is None:
        call = replace(call, token=params.request_state or "")
    came = await _came(here, ctx, call, params)
    if came.heard is not None:
        return relayed(came.heard)
    if call.token is None and said is None:
        asked = await offers.form(ctx, came.said)
        if isinstance(asked, types.InputRequiredResult):
            return asked
        if asked == "accept":
            came = await called(here, replace(call, token=came.said["confirm_token"]))
        said = asked
    if said == "decline":
        came = _declined(here, call, came)
    held = came.said["proposal"] is not None
    page = await offers.page(ctx, came.said) if held else None
    return page or structured(came.said, wrong=not held)


def _call(tool: Tool, scope: Scope, params: types.CallToolRequestParams) -> Call:
    given = dict(params.arguments or {})
    asked = Reserved() if tool.effect == "read" else reserved(given.pop(RESERVED, None))
    meta: Mapping[str, Any] = params.meta or {}
    return Call(
        tool.name,
        given,
        scope.session or None,
        asked.key or named(meta.get(f"{PREFIX}key")),
        scope.agent,
        asked.reason,
        token=asked.confirm_token,
    )


async def _came(
    here: Hall, ctx: ServerRequestContext, call: Call, params: types.CallToolRequestParams
) -> Came:
    """What came of a call, whose client is told how far it is if it asked for that."""

    async def told(progress: float, total: float | None, words: str | None) -> None:
        await ctx.session.report_progress(progress, total, worded(words))

    watch = PROGRESS.set(told if "progress_token" in (params.meta or {}) else None)
    try:
        return await called(here, call)
    finally:
        PROGRESS.reset(watch)


def _declined(here: Hall, call: Call, came: Came) -> Came:
    """Take back what was previewed, which makes every token of it void."""
    if came.said["status"] != "confirmation_required":
        return came
    ended = flow.withdraw(here.ports, str(came.said["proposal"]), call.agent, _DECLINED)
    here.worker.wake()
    return Came(recorded(here, call, answer(ended)))


def _tool(here: Hall, scope: Scope, wire: str) -> Tool:
    """The tool of exactly this name on the wire; the call of any other is noted and denied."""
    tools = wired(here)
    if wire not in tools:
        noted(here, Status.BLOCKED, Call(wire, {}, agent=scope.agent))
        raise missing(wire, [*tools, *OWN])
    return tools[wire]
