"""JSON-RPC as both ways in read it: one strict JSON value, and words for what is none. Pure."""

import json
from typing import Any

from proposals.canonical import MAX_SAFE, NotCanonical, check

PARSE_ERROR = -32700


def unread(error: NotCanonical) -> dict[str, Any]:
    """The error of JSON-RPC that says what was wrong with a message, and what to send instead."""
    message = f"{error} Send one JSON value as RFC 8259 and RFC 7493 have it."
    return {"code": PARSE_ERROR, "message": message, "data": {"code": error.code}}


def id_of(line: bytes) -> str | int | None:
    """The id of a message that is refused, if anybody reads the same one; it is for the answer."""
    try:
        members = json.loads(line.decode(errors="replace"), object_pairs_hook=list)
        pairs = [pair for pair in members if isinstance(pair, tuple)]
        (found,) = [value for name, value in pairs if name == "id"]
        return _id(check(found))
    except (ValueError, TypeError, RecursionError):
        return None


def _id(said: object) -> str | int | None:
    whole = isinstance(said, int) and not isinstance(said, bool) and abs(said) <= MAX_SAFE
    return said if isinstance(said, str) or whole else None  # type: ignore[return-value]
