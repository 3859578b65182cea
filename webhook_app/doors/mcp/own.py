"""Placet's own tools: how a proposal stands, which there are, and taking one back."""

import asyncio
from typing import Any

import mcp_types as types
import structlog
from mcp.server import ServerRequestContext

from proposals import flow
from proposals.answer import answer, details
from proposals.flow import Refusal
from proposals.lifecycle import ALIVE, State
from proposals.own import OWN, Discard, List, Status, Withdraw, read
from proposals.plan import Proposal
from proposals.turn import Scope
from webhook_app.doors.hall import Hall
from webhook_app.doors.shape import CALL, DISCARDED, LIST
from webhook_app.doors.turning import discarded, reported

from .answering import structured

_LOOK, _TELL = 0.25, 5.0  # seconds between looks at the store, and between words of progress
_log = structlog.get_logger("placet")
_SHAPES = {"placet_discard_draft": DISCARDED, "placet_list": LIST}


def listed() -> list[types.Tool]:
    """Our own tools, for tools/list."""
    return [
        types.Tool(
            name=name,
            description=model.__doc__,
            input_schema=model.model_json_schema(),
            output_schema=_SHAPES.get(name, CALL),
            annotations=types.ToolAnnotations(
                read_only_hint=model in (List, Status),
                destructive_hint=False,
                open_world_hint=False,
            ),
        )
        for name, model in OWN.items()
    ]


async def own(
    here: Hall, ctx: ServerRequestContext, scope: Scope, params: types.CallToolRequestParams
) -> types.CallToolResult:
    """Answer a call of one of our own tools; Refusal or Problem."""
    model = OWN[params.name]
    given = params.arguments or {}
    if model is Status:
        found = await _status(here, ctx, scope, read(Status, given))
        return structured(reported(here, scope, found))
    if model is Withdraw:
        return structured(reported(here, scope, _withdraw(here, scope, read(Withdraw, given))))
    if model is Discard:
        return structured(discarded(here, scope, read(Discard, given).draft))
    mine = here.store.proposals(agent=scope.agent, limit=read(List, given).limit)
    return structured(reported(here, scope, {"proposals": [answer(p) for p in mine]}))


async def _status(
    here: Hall, ctx: ServerRequestContext, scope: Scope, asked: Status
) -> dict[str, Any]:
    clock = asyncio.get_running_loop().time
    began = told = clock()
    first = found = _mine(here, scope, asked.proposal)
    while clock() - began < asked.wait and _waits(found) and found.state is first.state:
        if clock() - told >= _TELL:
            told = clock()
            await ctx.session.report_progress(told - began, asked.wait, answer(found)["status"])
        await asyncio.sleep(_LOOK)
        found = _mine(here, scope, asked.proposal)
    return details(found, here.settings.url)


def _waits(found: Proposal) -> bool:
    return found.state in ALIVE or found.state is State.STARTED


def _withdraw(here: Hall, scope: Scope, asked: Withdraw) -> dict[str, Any]:
    ended = flow.withdraw(here.ports, asked.proposal, scope.agent, asked.reason)
    here.worker.wake()
    _log.info("withdrawn", agent=scope.agent, proposal=ended.id)
    return details(ended, here.settings.url)


def _mine(here: Hall, scope: Scope, id_: str) -> Proposal:
    found = here.store.proposal(id_)
    if found is None or found.agent != scope.agent:
        message = "There is no such proposal of yours."
        raise Refusal("not_found", message, "placet_list lists yours.", 404)
    return found
