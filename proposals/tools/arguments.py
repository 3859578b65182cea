"""Whether arguments fit a tool's JSON Schema (draft 2020-12): no coercion, nothing unknown."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from proposals.canonical import (
    JSON,
    MISSING,
    BadPointer,
    NotCanonical,
    canonical,
    loads,
    pointer_get,
    pointer_of,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ONE = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_OPEN = ("additionalProperties", "unevaluatedProperties")
_REFERENCES = ("$ref", "$dynamicRef")
_CODES = {
    "additionalProperties": "unknown_argument",
    "unevaluatedProperties": "unknown_argument",
    "required": "missing_argument",
}


class BadArguments(ValueError):
    """The arguments do not fit the tool: the agent must change them. `code` is stable.

    Codes: unknown_argument, missing_argument, bad_arguments, flag_not_yours, and those of
    canonical.NotCanonical; upstream_down and not_usable are for the operator to mend.
    `pointer` (RFC 6901) says where, `hint` what to send instead.
    """

    def __init__(self, code: str, message: str, hint: str = "", pointer: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.pointer = pointer


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with every object that names its properties closed, unless it says otherwise.

    ValueError says in words why a schema cannot be used; no reference may leave it.
    """
    if schema.get("$schema", DIALECT) != DIALECT:
        raise ValueError(f"only {DIALECT} is understood")
    whole = {"type": "object", "properties": {}} | dict(schema)
    if whole["type"] != "object":
        raise ValueError('arguments are an object; write type = "object"')
    try:
        Draft202012Validator.check_schema(whole)
        plain = loads(canonical(whole))
    except SchemaError as error:
        raise ValueError(f"{error.json_path}: {error.message:.200}") from None
    for part in _parts(plain):
        if "$id" in part:
            raise ValueError("$id is not understood; references are written #/$defs/name")
        for name in _REFERENCES:
            _refuse_far(plain, part.get(name, "#"))
        if "properties" in part and not any(key in part for key in _OPEN):
            part["additionalProperties"] = False
    return plain if isinstance(plain, dict) else {}


def fitting(schema: Mapping[str, Any], arguments: object) -> JSON:
    """The arguments, read back from their canonical bytes, if they fit; else BadArguments."""
    try:
        plain = loads(canonical(arguments))
    except NotCanonical as error:
        raise BadArguments(error.code, str(error), pointer=error.pointer) from None
    try:
        faults = list(Draft202012Validator(schema).iter_errors(plain))
    except RecursionError:
        message = "The tool's schema leads back to itself; its operator must mend it."
        raise BadArguments("bad_arguments", message) from None
    if faults:
        raise _refusal(min(faults, key=lambda fault: pointer_of(fault.absolute_path)))
    return plain


def printable(text: str, limit: int = 200) -> str:
    """Text of a tool or an agent for logs and errors: one bounded line, the rest escaped."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:limit])
    return line if len(text) <= limit else line + "…"


def nearest(name: str, names: list[str]) -> str:
    """The question `Did you mean ...?` with a leading space, or nothing when none is near."""
    near = get_close_matches(name, names, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema; a property that is named like a keyword is none."""
    if not isinstance(schema, dict):
        return
    yield schema
    inner = [schema[key] for key in _ONE if key in schema]
    inner += [part for key in _LIST for part in schema.get(key, ())]
    inner += [part for key in _NAMED for part in schema.get(key, {}).values()]
    for part in inner:
        yield from _parts(part)


def _refuse_far(schema: JSON, reference: str) -> None:
    try:
        found = reference.startswith("#") and pointer_get(schema, reference[1:]) is not MISSING
    except BadPointer:
        found = False
    if not found:
        raise ValueError(f"{reference!a:.80} is not in the schema; references stay inside it")


def _refusal(fault: ValidationError) -> BadArguments:
    code = _CODES.get(str(fault.validator), "bad_arguments")
    path, hint = list(fault.absolute_path), ""
    message = printable(fault.message)
    if code == "unknown_argument" and isinstance(fault.instance, dict):
        names = list(fault.schema.get("properties", {})) if isinstance(fault.schema, dict) else []
        unknown = min(fault.instance.keys() - set(names))
        path.append(unknown)
        message = f'There is no argument "{printable(unknown, 80)}".'
        hint = f"Known here: {', '.join(names) or 'none'}.{nearest(unknown, names)}"
    elif fault.validator == "type":
        hint = "Nothing is converted: a number is no string, and a string is no number."
    return BadArguments(code, message, hint, pointer_of(path))
