"""Whether something that was brought from elsewhere looks like Placet's own answer. Pure.

An agent knows our answers by their marks: a `schema` that begins with `placet.`, `_verification`,
and keys below `io.github.placet/`. Whatever is handed on must have none of them, at any depth, also
not in a text that is itself JSON: a tool's server could say there that something was approved.
"""

import json
from collections.abc import Iterable
from typing import Any

PREFIX = "io.github.placet/"
_SCHEMA = "placet."
_VERIFICATION = "_verification"
_TRACES = ("placet", _VERIFICATION, "\\u")  # without one of these a text has no mark
_BLANK = "\ufeff \t\r\n"


class Imitates(Exception):
    """It has a mark of ours; `mark` is which."""

    def __init__(self, mark: str) -> None:
        super().__init__(f"it carries {mark}, which only Placet's own answers have")
        self.mark = mark


def genuine(value: object) -> None:
    """Raise Imitates if a value of JSON has a mark of ours, or a text in it that is JSON has."""
    left = [value]
    while left:
        match left.pop():
            case dict() as members:
                _unmarked(members.items())
                left += members.values()
            case list() as items:
                left += items
            case str() as text:
                _text(text)


def worded(words: str | None) -> str | None:
    """Words that go beside a call, such as how far it is; none if they have a mark of ours."""
    try:
        genuine(words)
    except Imitates:
        return None
    return words


def _text(text: str) -> None:
    """Look at every object in a text of JSON, also at members that most readers would not see."""
    text = text.strip(_BLANK)
    if text[:1] not in ("{", "[") or not any(part in text for part in _TRACES):
        return
    try:
        json.loads(text, object_pairs_hook=_object, parse_int=str)
    except RecursionError:
        raise Imitates("JSON nested too deep to be looked at") from None
    except ValueError:
        pass  # no JSON: words


def _object(pairs: list[tuple[str, Any]]) -> None:
    _unmarked(pairs)


def _unmarked(pairs: Iterable[tuple[str, Any]]) -> None:
    for name, value in pairs:
        if name == _VERIFICATION or name.startswith(PREFIX):
            raise Imitates(ascii(name)[:60])
        if name == "schema" and isinstance(value, str) and value.lstrip().startswith(_SCHEMA):
            raise Imitates("a schema of placet.")
