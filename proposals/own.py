"""Placet's own tools, as every agent is offered them, whatever way it calls. Pure."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .tools import BadArguments

MOST_WAIT = 25.0  # seconds; clients give up after 30 or 60


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


OWN: dict[str, type[BaseModel]] = {
    "placet_discard_draft": Discard,
    "placet_list": List,
    "placet_status": Status,
    "placet_withdraw": Withdraw,
}
M = TypeVar("M", bound=BaseModel)


def read(model: type[M], given: Any) -> M:
    """Read the arguments of one of them; BadArguments when they do not fit."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/" + "/".join(str(step)[:80] for step in first["loc"])
        hint = f"Known arguments: {', '.join(model.model_fields)}."
        raise BadArguments("bad_arguments", f"{where}: {first['msg']}.", hint, where) from None
