"""The operator's stop: freeze and unfreeze everything, resume a repository, see what is wrong."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from proposals import flow
from proposals.plan import Proposal
from proposals.ports import ForgeError
from proposals.store import Problem as Trouble
from proposals.store import scope
from proposals.words import stamp

from .hall import Hall, Here
from .problem import Problem

router = APIRouter()


class Freezing(BaseModel):
    """Why everything is to stop, in words that approvers read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    why: Annotated[str, Field(min_length=1, max_length=200)]


class Resuming(BaseModel):
    """The repository to go on with: the name that tools use, or its numeric id."""

    model_config = ConfigDict(extra="forbid", strict=True)

    repository: Annotated[str, Field(min_length=1, max_length=100)]


@router.post("/freeze")
async def freeze(wanted: Freezing, here: Here) -> dict[str, Any]:
    """Let nothing start any more, and show it on every open proposal."""
    waiting = flow.freeze(here.ports, wanted.why)
    here.worker.wake()
    return {"frozen": True, "why": wanted.why, "waiting": [p.id for p in waiting]}


@router.post("/unfreeze")
async def unfreeze(here: Here) -> dict[str, Any]:
    """Let proposals start again; what was approved meanwhile is looked at now."""
    lifted, waiting = flow.unfreeze(here.ports)
    return {"frozen": False, "was_frozen": lifted, "waiting": _look_at(here, waiting)}


@router.post("/resume")
async def resume(wanted: Resuming, here: Here) -> dict[str, Any]:
    """Lift the halt of one repository, after somebody has looked at its ledger."""
    repository = _repository(here, wanted.repository)
    try:
        if scope(repository) in here.store.halts():
            await flow.catch_up(here.ports, repository)
    except ForgeError as error:
        why = f"The ledger cannot be read, so nothing is resumed: {error}"
        hint = "Try again when GitHub answers; `placet restore` reads it from a clone instead."
        raise Problem(503, "ledger_unread", why, hint) from None
    lifted, waiting = flow.resume(here.ports, repository)
    return {
        "repository": repository,
        "was_halted": lifted,
        "waiting": _look_at(here, waiting),
    }


def standing(here: Hall) -> dict[str, Any]:
    """What stops or slows the server now: halts, problems, and writes that wait for a limit."""
    brakes = [
        {"installation": installation, "seconds": round(seconds), "waiting": waiting}
        for installation, (seconds, waiting) in sorted(here.brakes().items())
    ]
    return {
        "halts": here.store.halts(),
        "problems": [_shown(p) for p in here.store.problems()],
        "brakes": brakes,
    }


def _shown(found: Trouble) -> dict[str, Any]:
    return {
        "repository": found.repository,
        "code": found.code,
        "why": found.why,
        "since": stamp(found.at) if found.at else None,
        "proposal": found.proposal or None,
    }


def _repository(here: Hall, name: str) -> int:
    known = here.ports.repositories
    if name in known:
        return known[name]
    if name.isascii() and name.isdecimal() and len(name) < 17:  # noqa: PLR2004 (2**53)
        return int(name)
    names = ", ".join(sorted(known)) or "none"
    hint = f"Name one of placet.toml ({names}) or give its numeric id."
    raise Problem(404, "not_found", f"There is no repository {name!r}.", hint)


def _look_at(here: Hall, waiting: list[Proposal]) -> list[str]:
    for proposal in waiting:
        here.worker.nudge(proposal.id)
    here.worker.wake()
    return [p.id for p in waiting]
