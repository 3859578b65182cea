"""The agents' API, /v1: propose a call, ask how it stands, take it back, undo it, list the tools.

Bodies are read by the rules of plans (proposals.canonical), so that what is approved is what was
sent: a key given twice, NaN or an integer that JSON readers round is an error, never a guess.
"""

from typing import Annotated, Any, TypeVar

import structlog
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from proposals import flow
from proposals.answer import answer, details
from proposals.calls import Call, Denied
from proposals.canonical import MAX_TEXT, NotCanonical, loads
from proposals.flow import Ask
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.store import Agent
from proposals.tools import BadArguments, Tool
from proposals.turn import Scope

from .aimed import TARGET, Targeted
from .calling import called, held, named
from .hall import Caller, Hall, Here, body, is_json
from .offering import description
from .planned import in_time, planned, still_planning
from .problem import DESCRIBED, Problem
from .shape import CALL
from .turning import Action, discarded, kept, recorded, reported, scope_of, turned

router = APIRouter(prefix="/v1", tags=["proposals"], responses=DESCRIBED)
_log = structlog.get_logger("placet")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Asking(_Strict):
    """One call as an agent sends it; `reason` is shown to people as the agent's claim.

    `confirm_token` starts a call of mode `confirm` that was previewed, once its user said yes.
    """

    tool: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: dict[str, Any]
    reason: Annotated[str, Field(max_length=2000)] = ""
    target: Annotated[Targeted | None, WithJsonSchema(TARGET)] = None
    confirm_token: Annotated[str | None, Field(max_length=200)] = None


class Calling(Asking):
    """One call as an agent makes it, of any tool."""


class TakingBack(_Strict):
    """Why an agent takes its proposal back."""

    reason: Annotated[str, Field(max_length=300)] = ""


class Turning(_Strict):
    """What to do with the turn of a session: open the next, look at it, guard its end, close it."""

    action: Action


M = TypeVar("M", Asking, Calling, TakingBack, Turning)


def _takes(model: type[BaseModel]) -> dict[str, Any]:
    """Describe a body that is read by our own rules, for /openapi.json."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"content": content}}


def _gives(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the answer about one proposal, for /openapi.json."""
    words = {200: "How it stands.", 202: "It is still being planned: ask for it later."}
    content = {"application/json": {"schema": CALL}}
    return {n: {"description": words[n], "content": content} for n in statuses}


@router.post("/proposals", openapi_extra=_takes(Asking), responses=_gives(200, 202))
async def propose(request: Request, here: Here, caller: Caller) -> JSONResponse:
    """Ask for one call. It is planned and pinned, not done: 200, or 202 while it still plans.

    With the header Idempotency-Key the same call always gives the same proposal.
    """
    asked = await _read(request, Asking)
    aim = asked.target.aim() if asked.target else None
    token = asked.confirm_token
    ask = Ask(
        caller, asked.tool, asked.arguments, asked.reason, _key(request), aim=aim, token=token
    )
    made = Call(ask.tool, ask.arguments, _session(request), ask.key, caller.name)
    proposal = await planned(here, ask)
    said = held(here, proposal)
    status_code = 202 if proposal.state is State.PLANNING else 200
    return JSONResponse(recorded(here, made, said), status_code=status_code)


@router.post("/calls", openapi_extra=_takes(Calling), responses=_gives(200))
async def call(request: Request, here: Here, caller: Caller) -> dict[str, Any]:
    """Call a tool: a read is done at once, anything else is proposed and waits for people.

    The header Placet-Session names the agent's session, for tools whose reads are remembered.
    """
    asked = await _read(request, Calling)
    aim = asked.target.aim() if asked.target else None
    made = Call(
        asked.tool,
        asked.arguments,
        _session(request),
        _key(request),
        caller.name,
        asked.reason,
        aim,
        asked.confirm_token,
    )
    try:
        return reported(here, scope_of(made), (await called(here, made)).said)
    except BadArguments as error:
        raise Problem(422, error.code, str(error), error.hint, pointer=error.pointer) from None
    except Denied as error:
        raise Problem(422, error.code, str(error), error.hint) from None


@router.post("/turns", openapi_extra=_takes(Turning))
async def turns(request: Request, here: Here, caller: Caller) -> dict[str, Any]:
    """Open or close a turn, and get the facts: what was done, what waits, what lacks input.

    The header Placet-Session says whose turn; without it, it is that of all the agent's calls.
    """
    action = (await _read(request, Turning)).action
    return turned(here, _scope(request, caller), action)


@router.post("/drafts/{draft}/discard")
def discard(draft: str, request: Request, here: Here, caller: Caller) -> dict[str, Any]:
    """Let go of a call that lacks input."""
    return discarded(here, _scope(request, caller), draft)


@router.get("/proposals")
def proposals(
    here: Here,
    caller: Caller,
    state: State | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """List the agent's own proposals, newest first."""
    found = here.store.proposals(agent=caller.name, state=state, limit=limit)
    return {"proposals": [answer(p) for p in found]}


@router.get("/proposals/{proposal}", responses=_gives(200))
def status(proposal: str, request: Request, here: Here, caller: Caller) -> dict[str, Any]:
    """Tell how a proposal stands, with its last verdict and its receipt."""
    found = details(_own(here, caller, proposal), here.settings.url)
    return reported(here, _scope(request, caller), found)


@router.get("/proposals/{proposal}/explanation")
async def explanation(proposal: str, here: Here, caller: Caller) -> dict[str, Any]:
    """Tell why it is or is not approved, rule by rule; GitHub is asked and nothing is changed."""
    return await flow.explanation(here.ports, _own(here, caller, proposal))


@router.post(
    "/proposals/{proposal}/withdraw", openapi_extra=_takes(TakingBack), responses=_gives(200)
)
async def withdraw(proposal: str, request: Request, here: Here, caller: Caller) -> dict[str, Any]:
    """Take a proposal back; nothing of it is done any more."""
    why = (await _read(request, TakingBack, empty=True)).reason
    ended = flow.withdraw(here.ports, proposal, caller.name, why)
    here.worker.wake()
    _log.info("withdrawn", agent=caller.name, proposal=ended.id)
    return reported(here, _scope(request, caller), details(ended, here.settings.url))


@router.post(
    "/proposals/{proposal}/undo", openapi_extra=_takes(TakingBack), responses=_gives(200, 202)
)
async def undo(proposal: str, request: Request, here: Here, caller: Caller) -> JSONResponse:
    """Ask for taking back what a proposal did: a new proposal, which needs its own approvals.

    Every time the same one, as long as it waits, runs or is applied.
    """
    original = _own(here, caller, proposal)
    why = (await _read(request, TakingBack, empty=True)).reason
    asked = await in_time(here, flow.undo(here.ports, original, said=why))
    asked = asked or here.store.undo_of(original.id)
    if asked is None:
        raise still_planning()
    _log.info("undo asked", agent=caller.name, proposal=asked.id, undoes=original.id)
    said = kept(here, _scope(request, caller), answer(asked))
    return JSONResponse(said, status_code=202 if asked.state is State.PLANNING else 200)


@router.get("/tools")
def tools(here: Here, caller: Caller) -> dict[str, Any]:  # noqa: ARG001 (the token is asked for)
    """List the tools that are declared; every other one is denied.

    `wire` is a name that every model interface takes; `description` is for the model.
    """
    return {"tools": [described(t) | _told(here, t) for t in here.catalog.list()]}


def _told(here: Hall, tool: Tool) -> dict[str, Any]:
    wire = here.settings.wire(tool.name)
    return {"arguments": tool.offered, "wire": wire, "description": description(tool)}


def _own(here: Hall, caller: Agent, proposal: str) -> Proposal:
    """One of the agent's own proposals; others are not there for it."""
    found = here.store.proposal(proposal)
    if found is None or found.agent != caller.name:
        detail = "There is no such proposal of yours."
        raise Problem(404, "not_found", detail, "GET /v1/proposals lists yours.")
    return found


def described(tool: Tool) -> dict[str, Any]:
    """What an agent may know of a tool: no commands, no environment."""
    return {
        "name": tool.name,
        "effect": tool.effect,
        "touches": list(tool.touches),
        "mode": tool.mode,
        "gated": tool.effect != "read",
        "undo": tool.undo,
        "summary": tool.summary,
        "targets": list(tool.targets),
        "arguments": tool.arguments,
    }


async def _read(request: Request, model: type[M], *, empty: bool = False) -> M:
    """Read a body into a model; every fault is a problem that says what to send instead."""
    raw = await body(request, MAX_TEXT)
    if empty and not raw:
        raw = b"{}"
    elif not is_json(request):
        hint = "Send Content-Type: application/json."
        raise Problem(415, "not_json_type", "The body is not declared as JSON.", hint)
    try:
        return model.model_validate(loads(raw))
    except NotCanonical as error:
        hint = "Send one JSON value as RFC 8259 and RFC 7493 have it."
        raise Problem(422, error.code, str(error), hint, pointer=error.pointer) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/" + "/".join(str(step)[:80] for step in first["loc"])
        code = "unknown_member" if first["type"] == "extra_forbidden" else "bad_request"
        hint = f"Known members: {', '.join(model.model_fields)}."
        raise Problem(422, code, f"{where}: {first['msg']}.", hint, pointer=where) from None


def _session(request: Request) -> str | None:
    """The session that a request names; a name that is none is refused, not left out."""
    said = request.headers.get("placet-session")
    if said is not None and named(said) is None:
        detail = "The Placet-Session is not 1 to 255 visible ASCII characters."
        raise Problem(422, "bad_session", detail, "Name the conversation, or send no such header.")
    return said


def _scope(request: Request, caller: Agent) -> Scope:
    """Whose turn a request is about."""
    return Scope(caller.name, _session(request) or "")


def _key(request: Request) -> str | None:
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    if len(keys) > 1 or not named(keys[0]):
        detail = "The Idempotency-Key is not 1 to 255 visible ASCII characters."
        raise Problem(422, "bad_idempotency_key", detail, "Send a UUID, for example.")
    return keys[0]
