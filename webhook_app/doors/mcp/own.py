"""Placet's own tools: how a proposal stands, which there are, and taking one back."""

import asyncio
from typing import Annotated, Any, TypeVar

import mcp_types as types
import structlog
from mcp.server import ServerRequestContext
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proposals import flow
from proposals.answer import answer, details
from proposals.flow import Refusal
from proposals.lifecycle import ALIVE, State
from proposals.plan import Proposal
from proposals.turn import Scope
from webhook_app.doors.hall import Hall
from webhook_app.doors.turning import discarded, reported

from .answering import structured
from .shape import CALL, DISCARDED, LIST

MOST_WAIT = 25.0  # seconds; clients give up after 30 or 60
_LOOK, _TELL = 0.25, 5.0  # seconds between looks at the store, and between words of progress
_log = structlog.get_logger("placet")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Status(_Strict):
    """How one of your proposals stands: whether it waits, was applied, or ended, and why."""

    proposal: Annotated[str, Field(max_length=100)]
    wait: Annotated[
        float, Field(ge=0, le=MOST_WAIT, description="Seconds to wait for something to happen.")
    ] = 0.0


class List(_Strict):
    """Your own proposals, newest first."""

    limit: Annotated[int, Field(ge=1, le=200)] = 20


class Withdraw(_Strict):
    """Take one of your proposals back, when it is no longer wanted; nothing of it is done then."""

    proposal: Annotated[str, Field(max_length=100)]
    reason: Annotated[str, Field(max_length=300)] = ""


class Discard(_Strict):
    """Let go of a draft: a call of yours that lacked input and is no longer wanted."""

    draft: Annotated[str, Field(max_length=100)]


M = TypeVar("M", Status, List, Withdraw, Discard)
_MODELS: dict[str, type[BaseModel]] = {
    "placet_discard_draft": Discard,
    "placet_list": List,
    "placet_status": Status,
    "placet_withdraw": Withdraw,
}
OWN = tuple(_MODELS)
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
        for name, model in _MODELS.items()
    ]


async def own(
    here: Hall, ctx: ServerRequestContext, scope: Scope, params: types.CallToolRequestParams
) -> types.CallToolResult:
    """Answer a call of one of our own tools; Refusal or Problem."""
    model = _MODELS[params.name]
    given = params.arguments or {}
    if model is Status:
        found = await _status(here, ctx, scope, _read(Status, given))
        return structured(reported(here, scope, found))
    if model is Withdraw:
        return structured(reported(here, scope, _withdraw(here, scope, _read(Withdraw, given))))
    if model is Discard:
        return structured(discarded(here, scope, _read(Discard, given).draft))
    mine = here.store.proposals(agent=scope.agent, limit=_read(List, given).limit)
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


def _read(model: type[M], given: dict[str, Any]) -> M:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/" + "/".join(str(step)[:80] for step in first["loc"])
        hint = f"Known arguments: {', '.join(model.model_fields)}."
        raise Refusal("bad_arguments", f"{where}: {first['msg']}.", hint) from None
