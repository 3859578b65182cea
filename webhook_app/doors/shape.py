"""The shape of what is answered about a proposal, for those who check it: `placet.call/v1`."""

from typing import Any

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
