"""Paths of GitHub's API, built from checked parts: githubkit sends whatever it is given."""

import re
from typing import NewType

from .answer import NotSent

Route = NewType("Route", str)

_PART = re.compile(r"[A-Za-z0-9_.-]{1,255}")
_BOT = re.compile(r"[A-Za-z0-9-]{1,100}\[bot\]")


def route(*parts: str | int) -> Route:
    """Join parts to a path; NotSent for a part that could be read as anything but one name."""
    return Route("/".join(_part(part) for part in parts))


def inside(path: str) -> tuple[str, ...]:
    """The parts of a file path or branch name, for `route` to check one by one."""
    return tuple(path.split("/"))


def _part(part: str | int) -> str:
    text = str(part)
    if _BOT.fullmatch(text):
        return text.replace("[", "%5B").replace("]", "%5D")
    if not _PART.fullmatch(text) or text in (".", ".."):
        raise NotSent(f"{text[:80]!r} is no name that GitHub gives, so nothing was asked", 400)
    return text
