"""What JSON Schema says of single values, as both OpenAPI versions write it."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
BLANKS: dict[str, Callable[[], Any]] = {
    "array": list,
    "integer": int,
    "number": int,
    "boolean": bool,
    "string": str,
}


def types_of(schema: dict[str, Any]) -> set[str]:
    """Give the JSON types a schema names (3.0 writes one, 3.1 may write several)."""
    kind = schema.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


def is_a(kind: str, value: Any) -> bool:
    """Whether a value has this JSON type; true and false are no integers."""
    return isinstance(value, JSON_TYPES[kind]) and (
        kind == "boolean" or not isinstance(value, bool)
    )


def blank(schema: dict[str, Any], name: str) -> Any:
    """Give the emptiest value of a schema that is no object."""
    if schema.get("format") in ("uri", "uri-template"):
        return f"https://github.invalid/{name}"
    if schema.get("format") == "date-time":
        return "2020-01-01T00:00:00Z"
    kinds = types_of(schema)
    found = next((make() for kind, make in BLANKS.items() if kind in kinds), "")
    return "0" * schema["minLength"] if found == "" and "minLength" in schema else found


def limits(schema: dict[str, Any], value: Any, where: str) -> Iterator[str]:
    """Say which of enum, maxLength, maxItems and pattern an outside value breaks."""
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {json.dumps(value)[:80]} is not a member of {schema['enum']}."
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        yield f"{where}: only {schema['maxLength']} characters are allowed."
    if isinstance(value, list) and len(value) > schema.get("maxItems", len(value)):
        yield f"{where}: no more than {schema['maxItems']} items are allowed."
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value[:80]!r} has the wrong form."
