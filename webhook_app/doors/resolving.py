"""The operator's word on an outcome that nobody knows and that has no page to say it on."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from proposals import flow
from proposals.answer import details

from .hall import Here
from .problem import Problem

router = APIRouter()


class Resolving(BaseModel):
    """What the operator found out about one proposal, and how."""

    model_config = ConfigDict(extra="forbid", strict=True)

    proposal: Annotated[str, Field(min_length=1, max_length=100)]
    outcome: Literal["applied", "failed"]
    why: Annotated[str, Field(min_length=1, max_length=300)]


@router.post("/resolve")
async def resolve(found: Resolving, here: Here) -> dict[str, Any]:
    """Settle an unknown outcome; the receipt says that the operator asserted it."""
    proposal = here.store.proposal(found.proposal)
    if proposal is None:
        hint = "placet status lists the latest."
        raise Problem(404, "not_found", "There is no such proposal.", hint)
    try:
        done = found.outcome == "applied"
        over = flow.settle_by_operator(here.ports, proposal, done, found.why)
    except flow.Refusal as error:
        raise Problem(error.status, error.code, str(error), error.hint) from None
    here.worker.wake()
    return details(over, here.settings.url)
