"""A validator of JSON Schema (draft 2020-12) that fetches nothing and always ends soon.

Schemas are an upstream's and arguments an agent's: neither decides how long the server is busy.
"""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache, reduce
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from jsonschema_rs import Draft202012Validator as Compiled
from jsonschema_rs import FancyRegexOptions, RegexOptions, ValidationErrorKind
from jsonschema_rs import ValidationError as NoPattern
from referencing import Registry

from proposals.canonical import canonical

MOST = 100_000
"""Steps of one look at arguments: about one for each keyword that a value is held against."""
MAX_PATTERN = 2_000  # characters
_FEW = 10  # faults that are looked for; one is told
_FAULT, _TEXT, _COMPARED, _BACKTRACKS = 10, 100, 20, 20  # steps, or characters for one step
_MANIFOLD = frozenset({"$dynamicRef", "$ref", "allOf", "anyOf", "if", "not", "oneOf"})
_LEFT: ContextVar[int] = ContextVar("steps left", default=MOST)
_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class TooMuch(ValueError):
    """These arguments take too long to be held against this schema."""


def faults(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """The first few faults of a value; TooMuch, RecursionError, referencing's Unresolvable."""
    plain = {key: part for key, part in schema.items() if key != "$schema"}
    before = _LEFT.set(MOST)
    try:
        return list(islice(_Bounded(plain, registry=Registry()).iter_errors(value), _FEW))
    finally:
        _LEFT.reset(before)


def searchable(pattern: str) -> str:
    """A schema's pattern as it is; ValueError for one that cannot be searched for in bounded time.

    It is as JSON Schema says, of ECMA-262: Python's own way of searching cannot be stopped.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"a pattern has at most {MAX_PATTERN} characters")
    try:
        _search(pattern)
    except NoPattern:
        raise ValueError(f"{pattern!a:.80} is no pattern that is understood") from None
    return pattern


@lru_cache(maxsize=256)
def _search(pattern: str) -> tuple[Compiled, int]:
    """How a pattern is searched for, and the steps of one search; NoPattern."""
    try:
        return Compiled({"pattern": pattern}, pattern_options=RegexOptions()), 1
    except NoPattern:  # it looks around, or back: that takes as long as it is let
        options = FancyRegexOptions(backtrack_limit=10_000)
        return Compiled({"pattern": pattern}, pattern_options=options), _BACKTRACKS


def _spend(steps: int) -> None:
    left = _LEFT.get() - steps
    if left < 0:
        raise TooMuch("There is too much in it to be checked.")
    _LEFT.set(left)


def _found(pattern: str, text: str) -> bool:
    compiled, steps = _search(pattern)
    _spend(steps * (1 + len(text) // _TEXT))
    fault = next(compiled.iter_errors(text), None)
    if fault and isinstance(fault.kind, ValidationErrorKind.BacktrackLimitExceeded):
        raise TooMuch(f"Whether {text[:_TEXT]!a} matches {pattern!a:.200} takes too long to see.")
    return fault is None


def _size(value: object) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _counted(name: str, keyword: _Keyword) -> _Keyword:
    """The keyword, each use and each fault of which is counted."""
    weight = 3 if name in _MANIFOLD else 1

    def check(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        _spend(weight + (_size(said) + _size(value)) // 10)
        if name in ("const", "enum") and _size(value):
            options = len(said) if name == "enum" else 1
            _spend(options * len(canonical(value)) // _COMPARED)
        for fault in keyword(validator, said, value, schema) or ():
            _spend(_FAULT + len(fault.message) // _TEXT)
            yield fault

    return check


def _unique(_validator: Any, said: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if not said or not isinstance(value, list):
        return
    seen = set()
    for item in value:
        seen.add(form := canonical(item))
        _spend(len(form) // _COMPARED)
    if len(seen) < len(value):
        yield ValidationError("Its items are not all different.")


def _pattern(_validator: Any, said: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _found(said, value):
        yield ValidationError(f"{value[:_TEXT]!r} does not match {said!r}")


def _named(validator: Any, said: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """`patternProperties`."""
    for pattern, part in said.items() if isinstance(value, dict) else ():
        for key, one in value.items():
            if _found(pattern, key):
                yield from validator.descend(one, part, path=key, schema_path=pattern)


def _others(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    """`additionalProperties`: of what is neither named nor matched."""
    if not isinstance(value, dict):
        return
    patterns = schema.get("patternProperties", {})
    rest = {key: one for key, one in value.items() if key not in schema.get("properties", {})}
    rest = reduce(_without, patterns, rest)
    if isinstance(said, dict):
        for key, one in rest.items():
            yield from validator.descend(one, said, path=key)
    elif not said and rest:
        yield ValidationError(f"{min(rest)!r} is not known here")


def _without(values: dict[str, Any], pattern: str) -> dict[str, Any]:
    return {key: one for key, one in values.items() if not _found(pattern, key)}


_OWN: Mapping[str, _Keyword] = {
    "additionalProperties": _others,
    "pattern": _pattern,
    "patternProperties": _named,
    "uniqueItems": _unique,
}
_ALL: Mapping[str, _Keyword] = {**Draft202012Validator.VALIDATORS, **_OWN}
_Bounded: type[Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {name: _counted(name, keyword) for name, keyword in _ALL.items()}
)
