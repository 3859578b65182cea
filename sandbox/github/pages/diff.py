"""A change as the lines a page shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.github.git import Change

LONGEST = 2_000
"""Lines shown of one file."""
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: kind is hunk, add, del or same; the number is None on the side that lacks it."""

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class ShownFile:
    """One changed file, with how many lines were left out."""

    path: str
    old_path: str
    status: str
    additions: int
    deletions: int
    lines: list[Line]
    more: int


def lines(patch: str) -> Iterator[Line]:
    """Number the lines of a patch on both sides."""
    old = new = 0
    for text in patch.split("\n"):
        if hit := HUNK.match(text):
            old, new = int(hit[1]), int(hit[2])
            yield Line("hunk", None, None, text)
        elif text.startswith("+"):
            yield Line("add", None, new, text[1:])
            new += 1
        elif text.startswith("-"):
            yield Line("del", old, None, text[1:])
            old += 1
        elif text.startswith("\\"):
            yield Line("hunk", None, None, text[2:])
        else:
            yield Line("same", old, new, text[1:])
            old, new = old + 1, new + 1


def shown(change: Change) -> ShownFile:
    """Give one changed file for the page."""
    found = list(lines(change.patch)) if change.patch else []
    return ShownFile(
        change.path,
        change.old_path,
        change.status,
        change.additions,
        change.deletions,
        found[:LONGEST],
        len(found[LONGEST:]),
    )
