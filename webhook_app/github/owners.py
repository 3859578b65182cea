"""Who owns a path by a CODEOWNERS file, as far as its patterns can be told for sure.

GitHub reads most of gitignore's patterns, but not as gitignore does: `docs/*` stops at the folders
below, and negation, ranges and escapes mean nothing. A library for gitignore would answer wrongly,
so this one is small and strict instead: what it does not know for sure, nobody can tell.
Source: docs.github.com, "About code owners".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where the file may be: GitHub uses the first one that is there."""

LONGEST = 200
"""Characters of the longest pattern that is looked at."""

MOST = 5000
"""Lines that are looked at, from the end of the file: whoever may push can make it long."""

_OWNER = re.compile(r"@[\w.-]+(/[\w.-]+)?|[!-?A-~]+@[!-?A-~]+", re.ASCII)
_STRANGE = re.compile(r"[!#\[\]\\]|//|[^/]\*\*|\*\*[^/]|\*\*/$|^/$")


@dataclass(frozen=True, slots=True)
class Line:
    """The line that decides about a path: its number (0: none does), and whether it names owners.

    `owned` is None when nobody can tell.
    """

    number: int
    owned: bool | None


def deciding(text: str, path: str) -> Line:
    """The last line that matches a path; one without owners takes away what stood before it.

    When none of the last MOST lines does, nobody can tell.
    """
    lines = text.split("\n")
    numbers = range(len(lines), 0, -1)
    for number, line in zip(numbers, reversed(lines), strict=True):
        if number <= len(lines) - MOST:
            return Line(number, owned=None)
        pattern, *owners = _words(line) or [""]
        hit = matches(pattern, path) if pattern else False
        if hit is not False:
            sure = hit and all(_OWNER.fullmatch(owner) for owner in owners)
            return Line(number, bool(owners) if sure else None)
    return Line(0, owned=False)


def _words(line: str) -> list[str]:
    """The words of a line before its comment."""
    words = [word for word in re.split(r"[ \t\r]+", line) if word]
    return list(takewhile(lambda word: not word.startswith("#"), words))


def matches(pattern: str, path: str) -> bool | None:
    """Whether a pattern takes in a path of the repository; None: it is not known for sure."""
    if len(pattern) > LONGEST or not pattern.isprintable() or _STRANGE.search(pattern):
        return None
    parts, there = pattern.strip("/").split("/"), path.split("/")
    if "/" not in pattern.rstrip("/"):
        parts = ["**", *parts]
    below = _fits([*parts, "**"], there)
    if pattern.endswith("/"):
        return below
    return _fits(parts, there) or (below and _enters(parts[-1]))


def _enters(last: str) -> bool | None:
    """Whether a pattern that ends so takes in what is below the folders it matches."""
    if last == "*":
        return False
    return None if re.search("[*?]", last) else True


def _fits(parts: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the parts of a pattern are those of a path; `**` is any number, at the end one."""
    if not parts:
        return not path
    first, rest = parts[0], parts[1:]
    if first == "**":
        # Several in a row could share the path in very many ways, and mean no more than one.
        rest = list(dropwhile(lambda part: part == "**", rest))
        return any(_fits(rest, path[i:]) for i in range(len(path) + 1)) if rest else bool(path)
    return bool(path) and _named(path[0], first) and _fits(rest, path[1:])


def _named(name: str, pattern: str) -> bool:
    """Whether `*` and `?` of a pattern make it a name; a regular expression takes long to make."""
    head, *others = pattern.split("*")
    if not others:
        return _same(name, head)
    tail = others.pop()
    if len(name) < len(head) + len(tail) or not _same(name[: len(head)], head):
        return False
    at, end = len(head), len(name) - len(tail)
    for part in filter(None, others):
        found = (i for i in range(at, end - len(part) + 1) if _same(name[i : i + len(part)], part))
        if (start := next(found, None)) is None:
            return False
        at = start + len(part)
    return _same(name[end:], tail)


def _same(text: str, pattern: str) -> bool:
    pairs = zip(text, pattern, strict=False)
    return len(text) == len(pattern) and all(p in ("?", c) for c, p in pairs)
