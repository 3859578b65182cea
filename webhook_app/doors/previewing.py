"""The operator's proof that a preview changes nothing: read, preview, read, and read once more.

What is proven is kept with the tool's definition, so a tool that changes is unproven again.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from proposals.canonical import JSON
from proposals.ports import PlanFailed
from proposals.store import Proof
from proposals.tools import BadArguments, Tool, UnknownTool
from proposals.tools.recipe import Look
from webhook_app.toolkits.recipes.looking import Eyes
from webhook_app.toolkits.recipes.watching import Seen, differing, watched

from .hall import Hall, Here
from .problem import Problem

router = APIRouter()
MOST = 16  # trials that wait for their last reading


class Reading(BaseModel):
    """A call of a read whose answer must stay the same."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool: str
    arguments: dict[str, Any] = {}


class Asked(BaseModel):
    """A call whose preview is to be tried; `reads` are looked at beside what its plan reads."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool: str
    arguments: dict[str, Any] = {}
    reads: Annotated[list[Reading], Field(max_length=16)] = []


@dataclass(frozen=True, slots=True)
class Trial:
    """A preview that was run and changed nothing at once; read again later, it is proven."""

    tool: Tool
    arguments: JSON
    looks: Sequence[Look]
    before: Sequence[Seen]
    at: datetime


@dataclass(slots=True)
class Trials:
    """The trials that wait for their last reading; the oldest makes room for a new one."""

    waiting: dict[str, Trial] = field(default_factory=dict)

    def keep(self, trial: Trial) -> str:
        """Keep a trial, under the id that this gives."""
        while len(self.waiting) >= MOST:
            self.waiting.pop(next(iter(self.waiting)))
        id_ = f"c_{secrets.token_hex(8)}"
        self.waiting[id_] = trial
        return id_


def _trials(request: Request) -> Trials:
    found = request.app.state.trials
    if not isinstance(found, Trials):
        raise TypeError("the application has not been started")
    return found


Kept = Annotated[Trials, Depends(_trials)]


@router.post("/previews")
async def begin(asked: Asked, here: Here, trials: Kept) -> dict[str, Any]:
    """Read, run the preview as planning does, and read again; nothing is proven yet."""
    tool, looks = _tool(here, asked.tool), [_look(read) for read in asked.reads]
    if not (tool.recipe.pre or looks):
        hint = "Name reads that would show a change, with --read."
        raise Problem(422, "nothing_to_compare", "Its plan reads nothing before.", hint)
    arguments = _arguments(tool, asked.arguments)
    before = await _steady(here, tool, arguments, looks)
    began = here.now()
    failed = await _previewed(here, tool, asked.arguments)
    changed = differing(before, await _watched(here, tool, arguments, looks))
    if changed:
        here.store.disprove(tool.name)
        _publish(here, tool.name, "")
    elif failed:
        raise failed
    trial = None if changed else trials.keep(Trial(tool, arguments, looks, before, began))
    return _said(tool, before, changed) | {"trial": trial, "proven": False}


@router.post("/previews/{trial}/again")
async def again(trial: str, here: Here, trials: Kept) -> dict[str, Any]:
    """Read once more; if all is as it was before the preview, the tool is proven."""
    found = trials.waiting.pop(trial, None)
    if found is None:
        raise Problem(404, "not_found", "There is no such trial.", "Begin with the preview again.")
    tool = found.tool
    if _tool(here, tool.name).definition != tool.definition:
        hint = "Check it again as it is now."
        raise Problem(409, "tool_changed", "The tool was changed meanwhile.", hint)
    now = await _watched(here, tool, found.arguments, found.looks)
    changed = differing(found.before, now)
    waited = here.now() - found.at
    if changed:
        here.store.disprove(tool.name)
    else:
        reads = tuple(seen.of for seen in now)
        here.store.prove(Proof(tool.name, tool.definition, reads, waited, here.now()))
    _publish(here, tool.name, "" if changed else tool.definition)
    said = {"trial": None, "proven": not changed, "waited": waited.total_seconds()}
    return _said(tool, now, changed) | said


def _tool(here: Hall, name: str) -> Tool:
    try:
        tool = here.catalog.find(name)
    except UnknownTool as error:
        raise Problem(404, error.code, str(error), error.hint) from None
    if tool.recipe.preview is None:
        hint = "Approvers see the exact call, and that there is no dry run."
        raise Problem(422, "no_preview", f"{name} has no preview to prove.", hint)
    return tool


def _look(read: Reading) -> Look:
    try:
        return Look(tool=read.tool, args=read.arguments)
    except ValueError:
        hint = "Give the arguments as plain JSON, without references."
        raise Problem(422, "bad_read", f"{read.tool!a:.80} cannot be called so.", hint) from None


def _arguments(tool: Tool, arguments: dict[str, Any]) -> JSON:
    try:
        return tool.validate(arguments)
    except BadArguments as error:
        raise Problem(422, error.code, str(error), error.hint) from None


async def _steady(here: Hall, tool: Tool, arguments: JSON, looks: Sequence[Look]) -> Sequence[Seen]:
    """The readings before, made twice: what differs by itself shows nothing."""
    first = await _watched(here, tool, arguments, looks)
    second = await _watched(here, tool, arguments, looks)
    if unsteady := differing(first, second):
        hint = "Choose a read that stays the same, or let `drop` in its pre take out what varies."
        detail = f"Without any preview it differs from one moment to the next: {unsteady[0]}."
        raise Problem(409, "unsteady", detail, hint)
    return second


async def _watched(
    here: Hall, tool: Tool, arguments: JSON, looks: Sequence[Look]
) -> Sequence[Seen]:
    eyes = Eyes(here.catalog.reach, here.ports.runner.read)
    seen = await watched(eyes, tool, arguments, looks)
    for one in seen:
        if one.unclear:
            hint = "See that it can be read, and check again."
            raise Problem(409, "not_readable", f"{one.of}: {one.unclear}", hint)
    return seen


async def _previewed(here: Hall, tool: Tool, arguments: dict[str, Any]) -> Problem | None:
    """Run the preview, twice, as planning does; why it failed, which may have changed something."""
    try:
        await here.ports.runner.plan_twice(tool, arguments)
    except (PlanFailed, BadArguments) as error:
        return Problem(409, error.code, f"The preview failed: {error}", error.hint)
    return None


def _publish(here: Hall, name: str, definition: str) -> None:
    known = here.catalog.find(name)
    here.catalog.publish(known.model_copy(update={"proven": definition}))


def _said(tool: Tool, seen: Sequence[Seen], changed: list[str]) -> dict[str, Any]:
    return {
        "tool": tool.name,
        "definition": tool.definition,
        "reads": [one.of for one in seen],
        "changed": changed,
    }
