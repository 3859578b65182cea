"""What nobody may see of a call: a keyed hash stands for it, so that the digest binds it too.

Values in, values out; `vault` keeps the real ones.
"""

import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from .canonical import JSON, MISSING, canonical, digest, pointer_get, pointer_of, pointer_put
from .plan import Planned
from .tools import printable

EVERY_CALL = ""  # the salt of what compares between all calls: no plan shows it
SIZE = 32  # bytes of a key
SHORTEST = 4  # characters of a secret that is looked for elsewhere; shorter ones are words
MOST = 1000  # parts of secrets that are looked for elsewhere: the longest ones
COVERED = "[hidden]"
"""Stands in texts for a secret; in plans and results a mark does."""
_NAMED = frozenset({"arguments", "effects", "preconditions"})
_TAIL = 2000
World = Mapping[str, JSON]
"""`arguments`, `preview`, `effects`, `preconditions` and `result`, as far as they are known."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret key of the server; `kid` names it, and tells nothing about it."""

    kid: str
    mac: bytes = field(repr=False)
    box: bytes = field(repr=False)

    @classmethod
    def of(cls, raw: bytes) -> "Key":
        """The key made of 32 bytes of chance; ValueError for any other number."""
        if len(raw) != SIZE:
            raise ValueError(f"a secret key has {SIZE} bytes")
        kid, mac, box = (hmac.digest(raw, f"placet {use}".encode(), sha256) for use in _USES)
        return cls(kid.hex()[:8], mac, box)


_USES = ("kid", "mac", "box")


@dataclass(frozen=True, slots=True)
class Veil:
    """Hides what stands at `pointers` (RFC 6901), and wherever else the same text stands.

    `salt` is that of a proposal: only in its family do marks compare. `known` are worlds whose
    secrets are hidden as well.
    """

    key: Key
    salt: str
    pointers: tuple[str, ...]
    known: tuple[World, ...] = field(default=(), repr=False)

    def mark(self, pointer: str, value: JSON) -> str:
        """What stands for this value in this place: `hmac:<kid>:` and 64 hex digits."""
        said = canonical([self.salt, pointer]) + canonical(value)
        return f"hmac:{self.key.kid}:{hmac.digest(self.key.mac, said, sha256).hex()}"

    def hide(self, world: World) -> dict[str, JSON]:
        """The world without its secrets."""
        marks = self._marks([world, *self.known])
        hidden: JSON = dict(world)
        for pointer in sorted(self.pointers, key=len):  # what holds another secret goes first
            value = pointer_get(dict(world), pointer)
            if value is not MISSING and pointer_get(hidden, pointer) is not MISSING:
                hidden = pointer_put(hidden, pointer, self.mark(pointer, value))
        parts = hidden.items() if isinstance(hidden, dict) else ()
        cover = _Cover(marks)
        return {name: cover.over(part, inside=name not in _NAMED) for name, part in parts}

    def plan(self, arguments: JSON, planned: Planned) -> tuple[JSON, Planned]:
        """Arguments and plan as people see them."""
        said: dict[str, Any] = self.hide(
            {
                "arguments": arguments,
                "effects": [*planned.effects],
                "preview": planned.preview,
                "preconditions": planned.preconditions,
                "warnings": [*planned.warnings],
            }
        )
        return said.pop("arguments"), replace(planned, **said)

    def text(self, text: str) -> str:
        """A text without what is secret in the known worlds, also where it was cut off."""
        marks = dict.fromkeys(self._marks(self.known), COVERED)
        return _cut(_Cover(marks).text(text), marks)

    def lines(self, lines: JSON) -> JSON:
        """Lists and objects without what is secret in the known worlds."""
        return _Cover(self._marks(self.known)).over(lines, inside=True)

    def _marks(self, worlds: Iterable[World]) -> dict[str, str]:
        """Every form in which a secret may stand somewhere, and what is put there instead."""
        marks: dict[str, str] = {}
        parts: list[tuple[str, str]] = []
        for pointer, value in self._secrets(worlds):
            marks.setdefault(digest(value), self.mark(pointer, value))
            parts += _texts(pointer, value)
        for at, text in sorted(parts, key=lambda part: -len(part[1]))[:MOST]:
            for form in _forms(text):
                if len(form) >= SHORTEST and form not in marks:
                    marks[form] = self.mark(at, form)
        return marks

    def _secrets(self, worlds: Iterable[World]) -> Iterator[tuple[str, JSON]]:
        for world in worlds:
            for pointer in self.pointers:
                value = pointer_get(dict(world), pointer)
                if value is not MISSING:
                    yield pointer, value


def _texts(pointer: str, value: JSON) -> Iterator[tuple[str, str]]:
    """Every text and number in a secret, and where."""
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in parts:
            yield from _texts(pointer + pointer_of([step]), part)
    elif isinstance(value, str):
        yield pointer, value
    elif value is not None and not isinstance(value, bool):
        yield pointer, canonical(value).decode()


def _forms(text: str) -> set[str]:
    """A text as it is, in JSON, in Python's and in our errors, in an URL, and its digest."""
    quoted = "".join(c if re.fullmatch(r"[\w.~-]", c, re.ASCII) else _percent(c) for c in text)
    wide = json.dumps(text, ensure_ascii=False)[1:-1]
    shown = {printable(text, len(text)), ascii(text)[1:-1], repr(text)[1:-1], wide, quoted}
    return {text, digest(text), json.dumps(text)[1:-1], *shown}


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


class _Cover:
    """Puts marks over whatever is secret, wherever it stands."""

    def __init__(self, marks: Mapping[str, str]) -> None:
        self._marks = marks
        self._own = frozenset(marks.values())

    def over(self, value: JSON, *, inside: bool) -> JSON:
        """A value with marks in it; `inside`: its keys are somebody's data, not names of ours."""
        if isinstance(value, str):
            return value if value in self._own else self.text(value)
        if isinstance(value, list):
            return [self.over(part, inside=inside) for part in value]
        if isinstance(value, dict):
            named = ((self.text(k) if inside else k, part) for k, part in value.items())
            return {k: self.over(part, inside=True) for k, part in named}
        if value is None or isinstance(value, bool) or not self._marks:
            return value
        mark = self._marks.get(canonical(value).decode())
        return f"{mark}#" if mark else value  # the number is not the text of it

    def text(self, text: str) -> str:
        """A text with marks in it."""
        found = sorted((form for form in self._marks if form in text), key=len, reverse=True)
        if not found:
            return text
        return re.sub("|".join(map(re.escape, found)), lambda hit: self._marks[hit[0]], text)


def _cut(text: str, marks: Mapping[str, str]) -> str:
    """The text without a secret that its end breaks off."""
    whole = text.removesuffix("…")
    for form in sorted(marks, key=len, reverse=True):
        for length in range(min(len(form), len(whole), _TAIL), SHORTEST - 1, -1):
            if whole.endswith(form[:length]):
                return whole[:-length] + COVERED + text[len(whole) :]
    return text
