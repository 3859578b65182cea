"""The one line that names a proposal: in the pull request's title and in the agent's words.

Values in it were chosen by an agent: a line must stay one line, mention nobody and link nothing.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from proposals.canonical import JSON, BadPointer, canonical, pointer_get

if TYPE_CHECKING:
    from .declaration import Tool

MAX_TITLE = 72  # characters; GitHub cuts a phone notification near there
MAX_VALUE = 24
_HOLE = re.compile(r"\{(count(?::[A-Za-z ]{1,24})?|/arguments(?:/[^{}]*)?)\}")
# Printable by Unicode's tables, yet nothing is seen of them.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]")
_UNSEEN_FAR = re.compile("[\U000e0100-\U000e01ef]")


def title(tool: "Tool", plan: Mapping[str, JSON]) -> str:
    """The tool's summary filled from a plan: at most 72 printable characters on one line.

    It mentions nobody and links nothing. A value that is not there is shown as `?`.
    """

    def filled(hole: re.Match[str]) -> str:
        if hole[1].startswith("count"):
            return _counted(plan.get("effects"), hole[1].removeprefix("count").lstrip(":"))
        found = pointer_get(dict(plan), hole[1])
        shown = found if isinstance(found, str) else _text(found)
        return _cut(_plain(shown), MAX_VALUE)

    return _cut(_plain(_HOLE.sub(filled, tool.summary or f"Run {tool.name}")), MAX_TITLE)


def undo_title(summary: str) -> str:
    """The line of the proposal that takes back what a proposal with this line did."""
    return _cut(f"Undo: {summary}", MAX_TITLE)


def check_template(template: str) -> str:
    """The template itself; ValueError when it could not be filled."""
    rest = _HOLE.sub("", template)
    if "{" in rest or "}" in rest:
        raise ValueError(
            "in braces may stand {count}, {count:row} or a pointer such as {/arguments/id}"
        )
    for hole in _HOLE.finditer(template):
        try:
            pointer_get(None, "" if hole[1].startswith("count") else hole[1])
        except BadPointer as error:
            raise ValueError(str(error)) from None
    return template


def _counted(effects: JSON, noun: str) -> str:
    """How many effects, with the noun when one is given: `1 customer`, `3 customers`."""
    if not isinstance(effects, list):
        return "?"
    many = noun and len(effects) != 1
    return f"{len(effects)} {noun}{'s' if many else ''}".strip()


def _text(value: object) -> str:
    return canonical(value).decode() if isinstance(value, bool | int | float | list | dict) else "?"


def _plain(text: str) -> str:
    text = re.sub(r"\s", " ", text)
    text = "".join(c for c in text if c.isprintable())
    text = _UNSEEN_FAR.sub("", _UNSEEN.sub("", text))
    text = text.replace("@", "(at)").replace("://", ":")
    text = re.sub(r"#+(?=\d)", "", text)
    text = re.sub(r"(?i)\bGH-+(?=\d)", "GH ", text)
    return re.sub(r" {2,}", " ", text).strip()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
