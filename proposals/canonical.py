"""One JSON form for everything that is pinned, compared or signed: RFC 8785 over strict I-JSON.

Equal digests are the only meaning of "the same plan". Python equality is not (`True == 1`), and
the text is not either (`1.0` and `1`, order of keys).
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import Final, NamedTuple, TypeAlias

import rfc8785

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None

MAX_DEPTH = 64  # containers inside one another; the 65th is refused
MAX_SAFE = 2**53 - 1  # the largest whole number every JSON reader keeps exact (RFC 7493, 2.2)
MAX_TEXT = 1_000_000  # bytes of JSON text that `loads` takes unless told otherwise
MAX_VALUE = 4_000_000  # items plus characters of any value; also the end of shared structures


class Missing(Enum):
    """The type of MISSING, so that an absent member is never mistaken for null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


class NotCanonical(ValueError):
    """A value that has no safe canonical form; `code` is stable, `pointer` says where (RFC 6901).

    Codes: duplicate_key, not_a_number, number_too_large, lone_surrogate, too_deep, too_large,
    not_json, not_utf8. The message is ASCII, bounded, and says what to send instead.
    """

    def __init__(self, code: str, message: str, pointer: str = "") -> None:
        where = f" (at {ascii(pointer)[1:-1]:.200})" if pointer else ""
        super().__init__(message + where)
        self.code = code
        self.pointer = pointer


class BadPointer(ValueError):
    """A JSON Pointer that RFC 6901 does not allow, or that names the whole value."""


def loads(text: bytes | str, *, limit: int = MAX_TEXT) -> JSON:
    """Read one JSON text by the rules of this module; `limit` is in bytes of UTF-8.

    Raises NotCanonical and nothing else, whatever the bytes are.
    """
    source = _decoded(text, limit)
    _refuse_depth(source)
    try:
        value = json.loads(
            source,
            object_pairs_hook=_members,
            # 18 characters are beyond MAX_SAFE already; int() of thousands is slow or refuses.
            parse_int=lambda digits: int(digits[:18]),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotCanonical("not_json", f"Not one JSON value: {error.msg} ({where}).") from None
    return check(value)


def check(value: object) -> JSON:
    """Apply the same rules to a value that did not come from text; gives a plain deep copy.

    Tuples, bytes, dates, decimals and keys that are not strings are refused, never converted.
    """
    return _Walk().plain(value)


def canonical(value: object) -> bytes:
    """Write the RFC 8785 bytes of a value, which is checked first (NotCanonical)."""
    return rfc8785.dumps(check(value))


def digest(value: object) -> str:
    """`sha256:` and the hex SHA-256 of the canonical bytes: the name of a plan."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def same(a: object, b: object) -> bool:
    """Whether two values have one digest: `1` and `1.0` do, `1` and `true` do not."""
    return digest(a) == digest(b)


def pointer_get(value: JSON, pointer: str) -> JSON | Missing:
    """Look up a JSON Pointer (RFC 6901): the value, or MISSING; BadPointer when malformed."""
    for token in _tokens(pointer):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and (place := _place(token)) < len(value):
            value = value[place]
        else:
            return MISSING
    return value


def pointer_split(value: JSON, pointers: Iterable[str]) -> tuple[JSON, dict[str, JSON]]:
    """Take out the members that the pointers name: what is left, and what they named if present.

    Every pointer speaks of the value as given: taking one list item moves no other.
    """
    wanted = {pointer: _tokens(pointer) for pointer in pointers}
    if not all(wanted.values()):
        raise BadPointer("The empty pointer names everything; name a member, as in /preview/at.")
    found = ((pointer, pointer_get(value, pointer)) for pointer in wanted)
    taken = {pointer: part for pointer, part in found if not isinstance(part, Missing)}
    return _without(value, [wanted[pointer] for pointer in taken]), taken


def pointer_put(value: JSON, pointer: str, new: JSON) -> JSON:
    """The value with `new` in the place of what is there; as it was when nothing is."""
    return _with(value, _tokens(pointer), new)


def pointer_of(path: Iterable[str | int]) -> str:
    """Write a path of keys and list places as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class _Twice(NamedTuple):
    """Stands in the parsed value where an object had a key twice, until the walk finds it."""

    key: str


def _members(pairs: list[tuple[str, object]]) -> dict[str, object] | _Twice:
    members: dict[str, object] = {}
    for key, value in pairs:
        if key in members:
            return _Twice(key)
        members[key] = value
    return members


def _decoded(text: bytes | str, limit: int) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > limit:
        raise NotCanonical("too_large", f"{len(data)} bytes of JSON; send at most {limit}.")
    if isinstance(text, str):
        return text
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotCanonical("not_utf8", f"Byte {error.start} is not UTF-8; send UTF-8.") from None


# A string, closed or not (so that no text is scanned twice), or a bracket.
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)

_TOO_DEEP = f"Nested over {MAX_DEPTH} deep; send it flatter."
_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse_depth(source: str) -> None:
    """Count brackets before parsing: the parser would answer depth with RecursionError."""
    depth = 0
    for token in _BRACKETS.finditer(source):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
        if depth > MAX_DEPTH:
            raise NotCanonical("too_deep", _TOO_DEEP)


@dataclass(slots=True)
class _Walk:
    """One pass over a value. The path is a list, as a pointer per item would cost its length."""

    path: list[str | int] = field(default_factory=list)
    left: int = MAX_VALUE

    def plain(self, value: object) -> JSON:
        self._spend(1)
        match value:
            case None | bool():
                return value
            case int() | float():
                return self._number(value)
            case str():
                return self._text(value)
            case list():
                return [self._inside(place, item) for place, item in enumerate(value)]
            case dict():
                # All keys first: then no pointer ever holds what cannot be encoded.
                keys = [self._key(key) for key in value]
                items = zip(keys, value.values(), strict=True)
                return {key: self._inside(key, item) for key, item in items}
            case _Twice():
                raise self._refusal("duplicate_key", f"Key {value.key!a:.80} stands twice.")
        kind = type(value).__name__
        raise self._refusal("not_json", f"{kind!a} is not JSON; send a string or a list.")

    def _inside(self, step: str | int, item: object) -> JSON:
        self.path.append(step)
        if len(self.path) >= MAX_DEPTH and isinstance(item, list | dict):
            raise self._refusal("too_deep", _TOO_DEEP)
        plain = self.plain(item)
        self.path.pop()
        return plain

    def _number(self, number: float) -> JSON:
        if isinstance(number, float) and not isfinite(number):
            raise self._refusal(
                "not_a_number",
                "NaN, Infinity and what overflows to it are not JSON; send it as a string.",
            )
        if not -MAX_SAFE <= number <= MAX_SAFE:
            raise self._refusal(
                "number_too_large", f"Beyond {MAX_SAFE} digits get lost; send it as a string."
            )
        return int.__int__(number) if isinstance(number, int) else float.__float__(number)

    def _text(self, text: str) -> str:
        self._spend(len(text))
        if _SURROGATE.search(text):
            raise self._refusal(
                "lone_surrogate", "A lone surrogate is no character; send well-formed Unicode."
            )
        return str.__str__(text)

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            kind = type(key).__name__
            raise self._refusal("not_json", f"A key is {kind!a}; send every key as a string.")
        return self._text(key)

    def _spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise NotCanonical("too_large", f"Over {MAX_VALUE} items and characters; send less.")

    def _refusal(self, code: str, message: str) -> NotCanonical:
        return NotCanonical(code, message, pointer_of(self.path))


def _tokens(pointer: str) -> tuple[str, ...]:
    if (pointer and not pointer.startswith("/")) or re.search(r"~(?![01])", pointer):
        raise BadPointer(f"{pointer!a:.80} is no JSON Pointer (RFC 6901); write /a/b.")
    steps = pointer.split("/")[1:]
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _place(token: str) -> int:
    """Read a list place of RFC 6901; anything else is a place beyond every list."""
    return int(token) if re.fullmatch(r"0|[1-9][0-9]{0,8}", token) else MAX_VALUE * 1000


def _without(value: JSON, paths: list[tuple[str, ...]]) -> JSON:
    gone = {path[0] for path in paths if len(path) == 1}

    def below(step: str) -> list[tuple[str, ...]]:
        return [path[1:] for path in paths if len(path) > 1 and path[0] == step]

    if isinstance(value, dict):
        return {k: _without(v, below(k)) for k, v in value.items() if k not in gone}
    if isinstance(value, list):
        return [_without(v, below(str(i))) for i, v in enumerate(value) if str(i) not in gone]
    return value


def _with(value: JSON, path: tuple[str, ...], new: JSON) -> JSON:
    if not path:
        return new
    if isinstance(value, dict):
        return {k: _with(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    if isinstance(value, list):
        return [_with(v, path[1:], new) if str(i) == path[0] else v for i, v in enumerate(value)]
    return value
