"""Whether arguments fit a tool's JSON Schema (draft 2020-12): no coercion, nothing unknown."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing.exceptions import Unresolvable

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

from .bounded import TooMuch, faults, searchable

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MOST_VALUES = 100_000
_ONE = (
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_OPEN = ("additionalProperties", "unevaluatedProperties")
_NAMES = "patternProperties"
_BESIDE = frozenset({_NAMES, "unevaluatedProperties"})  # the library searches these unbounded
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
    plain = loads(canonical(whole))
    parts = list(_reached(plain))
    for part in parts:
        _refuse_strange(part)
        if part is not plain:
            part.pop("$schema", None)  # it would take another validator
        if "properties" in part and not any(key in part for key in _OPEN):
            part["additionalProperties"] = False
    if {key for part in parts for key in part} >= _BESIDE:
        raise ValueError(f"{' and '.join(sorted(_BESIDE))} are not understood together")
    return plain if isinstance(plain, dict) else {}


def fitting(schema: Mapping[str, Any], arguments: object) -> JSON:
    """The arguments, read back from their canonical bytes, if they fit; else BadArguments."""
    if _more(arguments, MOST_VALUES):
        message = f"There are over {MOST_VALUES:,} values in it."
        raise BadArguments("too_large", message, "Send less at once.")
    try:
        plain = loads(canonical(arguments))
    except NotCanonical as error:
        raise BadArguments(error.code, str(error), pointer=error.pointer) from None
    try:
        found = faults(schema, plain)
    except (RecursionError, Unresolvable):
        message = "The tool's schema leads back to itself or nowhere; its operator must mend it."
        raise BadArguments("bad_arguments", message) from None
    except TooMuch as error:
        raise BadArguments("bad_arguments", str(error), "Send less at once.") from None
    if found:
        raise _refusal(min(found, key=lambda fault: pointer_of(fault.absolute_path)))
    return plain


def _more(value: object, most: int) -> bool:
    """Whether there are more values than so many in it; it takes no longer to look than to them."""
    left, seen = [value], 0
    while left and seen + len(left) <= most:
        one, seen = left.pop(), seen + 1
        if isinstance(one, dict | list) and len(one) <= most:
            left += one.values() if isinstance(one, dict) else one
        elif isinstance(one, dict | list):
            return True
    return bool(left)


def printable(text: str, limit: int = 200) -> str:
    """Text of a tool or an agent for logs and errors: one bounded line, the rest escaped."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:limit])
    return line if len(text) <= limit else line + "…"


def nearest(name: str, names: list[str]) -> str:
    """The question `Did you mean ...?` with a leading space, or nothing when none is near."""
    near = get_close_matches(name, names, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""


def _reached(whole: JSON) -> Iterator[dict[str, Any]]:
    """Every schema that may be held against a value, once it is seen to be well-formed.

    That is those inside, and what references lead to wherever it stands.
    """
    seen: set[int] = set()
    starts = [whole]
    while starts:
        start = starts.pop()
        if id(start) in seen:
            continue
        _refuse_malformed(start)
        for part in _parts(start):
            if id(part) not in seen:
                seen.add(id(part))
                starts += [_referred(whole, part[name]) for name in _REFERENCES if name in part]
                yield part


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


def _referred(whole: JSON, reference: str) -> JSON:
    """What a reference leads to; ValueError for one that leaves the schema.

    With a % in it, the validator would follow it elsewhere than it says.
    """
    inside = reference[:1] == "#" and "%" not in reference
    try:
        found = pointer_get(whole, reference[1:]) if inside else MISSING
    except BadPointer:
        found = MISSING
    if found is MISSING:
        raise ValueError(f"{reference!a:.80} is not in the schema; references stay inside it")
    return found


def _refuse_malformed(schema: Any) -> None:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"{error.json_path}: {error.message:.200}") from None


def _refuse_strange(part: Mapping[str, Any]) -> None:
    """Refuse what would have references or keywords mean another thing, and endless patterns."""
    if part.get("$schema", DIALECT) != DIALECT:
        raise ValueError(f"only {DIALECT} is understood")
    if "$id" in part:
        raise ValueError("$id is not understood; references are written #/$defs/name")
    for pattern in (*([part["pattern"]] if "pattern" in part else ()), *part.get(_NAMES, ())):
        searchable(pattern)


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
