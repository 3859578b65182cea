"""Who owns a path by a CODEOWNERS file, as far as its patterns can be told for sure.

GitHub reads most of gitignore's patterns, but not as gitignore does: `docs/*` stops at the folders
below, and negation, ranges and escapes mean nothing. A library for gitignore would answer wrongly,
so this one is small and strict instead: what it does not know for sure, nobody can tell.
Source: docs.github.com, "About code owners".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where the file may be: GitHub uses the first one that is there."""

LONGEST = 200
"""Characters of the longest pattern that is looked at."""

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
    """The last line that matches a path; one without owners takes away what stood before it."""
    lines = list(enumerate(text.split("\n"), start=1))
    for number, line in reversed(lines):
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
        return any(_fits(rest, path[i:]) for i in range(len(path) + 1)) if rest else bool(path)
    return bool(path) and fnmatchcase(path[0], first) and _fits(rest, path[1:])
