"""The one argument that gated tools take beside their own: it is for Placet alone. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .tools import BadArguments

RESERVED = "placet"


class Reserved(BaseModel):
    """Beside the tool's own arguments, for Placet alone."""

    model_config = ConfigDict(extra="forbid", strict=True)

    confirm_token: Annotated[
        str | None, Field(max_length=200, description="The token of a preview that was agreed to.")
    ] = None
    key: Annotated[
        str | None,
        Field(
            pattern=r"^[!-~]{1,255}$",
            description="An idempotency key: the same key always gives the same call.",
        ),
    ] = None
    reason: Annotated[
        str, Field(max_length=2000, description="Why; people read it as your claim.")
    ] = ""


RESERVED_SCHEMA = Reserved.model_json_schema() | {"title": "For Placet"}


def with_reserved(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Let a tool's schema take the argument beside its own."""
    return {**schema, "properties": {**schema["properties"], RESERVED: RESERVED_SCHEMA}}


def reserved(given: object) -> Reserved:
    """Read the argument; BadArguments when it is something else."""
    try:
        return Reserved.model_validate({} if given is None else given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join([f"/{RESERVED}", *(str(step)[:80] for step in first["loc"])])
        hint = f"Known members: {', '.join(Reserved.model_fields)}."
        message = f"{where}: {first['msg']}."
        raise BadArguments("bad_placet_argument", message, hint, where) from None
