"""Whether something that was brought from elsewhere looks like Placet's own answer. Pure.

An agent knows our answers by their marks: the `schema` of an answer, `_verification` at the top,
and keys below `io.github.placet/`. Whatever is handed on must have none of them, also not in a
text that is itself JSON: a tool's server could say there that something was approved. Our
documents, such as a plan of the ledger, are no answers: they may be read.
"""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

PREFIX = "io.github.placet/"
ANSWERS = ("placet.call/", "placet.turn/")
"""How the schemas of what our doors answer begin."""

_VERIFICATION = "_verification"
_TOP = "structuredContent"  # where a result of MCP has what an answer of ours would be
_TRACES = ("placet", _VERIFICATION, "\\u")  # without one of these a text has no mark
_BLANK = "\ufeff \t\r\n"
_Pairs: TypeAlias = list[tuple[str, Any]]


class Imitates(Exception):
    """It has a mark of ours; `mark` is which."""

    def __init__(self, mark: str) -> None:
        super().__init__(f"it carries {mark}, which only Placet's own answers have")
        self.mark = mark


def genuine(value: object) -> None:
    """Raise Imitates if a value of JSON has a mark of ours, or a text in it that is JSON has.

    Keys and schemas are looked for at any depth, in texts within texts too: each takes twice the
    backslashes of the one around it, so there are few. `_verification` is looked for at the top of
    the value, of each such text, and of a structured result.
    """
    _top(value)
    if isinstance(value, dict):
        _top(value.get(_TOP))
    left = [value]
    while left:
        match left.pop():
            case dict() as members:
                _unmarked(members.items())
                left += members.values()
            case list() as items:
                left += items
            case str() as text:
                left += _inside(text)


def worded(words: str | None) -> str | None:
    """Words that go beside a call, such as how far it is; none if they have a mark of ours."""
    try:
        genuine(words)
    except Imitates:
        return None
    return words


def _inside(text: str) -> list[Any]:
    """The texts and lists in a text of JSON, whose objects are looked at on the way.

    So are members that most readers would not see, and what stands before the words after it.
    """
    text = text.strip(_BLANK)
    found: list[Any] = []
    if text[:1] not in ("{", "[", '"') or not any(part in text for part in _TRACES):
        return found
    last: _Pairs = []

    def looked(pairs: _Pairs) -> None:
        nonlocal last
        _unmarked(pairs)
        found.extend(value for _, value in pairs if isinstance(value, str | list))
        last = pairs

    try:
        whole, _ = json.JSONDecoder(object_pairs_hook=looked, parse_int=str).raw_decode(text)
    except RecursionError:
        raise Imitates("JSON nested too deep to be looked at") from None
    except ValueError:
        return found  # no whole JSON: words, and what was whole in them
    _top(dict(last) if text[0] == "{" else None)
    return [*found, whole]


def _top(value: object) -> None:
    if isinstance(value, dict) and _VERIFICATION in value:
        raise Imitates(ascii(_VERIFICATION))


def _unmarked(pairs: Iterable[tuple[str, Any]]) -> None:
    for name, value in pairs:
        if name.startswith(PREFIX):
            raise Imitates(ascii(name)[:60])
        if name == "schema" and isinstance(value, str) and value.lstrip().startswith(ANSWERS):
            raise Imitates("the schema of an answer of Placet's")
