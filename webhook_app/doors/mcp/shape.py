"""The reserved argument of gated tools, and the shape of what they return: `placet.call/v1`."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proposals.flow import Refusal

RESERVED = "placet"
_NULL = {"type": "null"}
_TEXT = {"type": "string"}
_FIELDS: dict[str, Any] = {
    "schema": {"const": "placet.call/v1"},
    "status": _TEXT,
    "executed": {"type": ["boolean", "null"]},
    "tool": _TEXT,
    "proposal": {"type": ["string", "null"]},
    "digest": {"type": ["string", "null"]},
    "already_applied": {"type": "boolean"},
    "summary": _TEXT,
    "effects": {"type": "array"},
    "cost": {"type": ["object", "null"]},
    "warnings": {"type": "array"},
    "pull_request": {"type": ["string", "null"]},
    "expires_at": {"type": ["string", "null"]},
    "confirm_token": {"type": ["string", "null"]},
    "say_to_user": {"type": "string", "description": "Tell the user this."},
    "next": {"type": ["object", "null"], "description": "The call to make next, and when not to."},
    "result": {"description": "What the tool returned, once it ran."},
    "_verification": {"type": "object"},
    "error": {"type": ["object", "null"]},
    "turn_report": {"type": "object"},
}
CALL: dict[str, Any] = {"type": "object", "properties": _FIELDS, "required": list(_FIELDS)}
LIST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "proposals": {"type": "array", "items": CALL},
        "turn_report": {"type": "object"},
    },
    "required": ["proposals", "turn_report"],
}
DISCARDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "draft": {"type": "string"},
        "_verification": {"type": "object"},
        "turn_report": {"type": "object"},
    },
    "required": ["draft", "_verification", "turn_report"],
}


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


def reserved(given: object) -> Reserved:
    """Read the reserved argument; Refusal when it is something else."""
    try:
        return Reserved.model_validate({} if given is None else given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join([f"/{RESERVED}", *(str(step)[:80] for step in first["loc"])])
        hint = f"Known members: {', '.join(Reserved.model_fields)}."
        raise Refusal("bad_placet_argument", f"{where}: {first['msg']}.", hint) from None
