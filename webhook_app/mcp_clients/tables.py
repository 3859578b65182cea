"""Taking tables out of a TOML file, and leaving every other line as it is."""

import re
import tomllib
from typing import Any

_HEADER = re.compile(r"\s*\[{1,2}([^\[\]].*?)\]{1,2}\s*(?:#.*)?")


def without_tables(text: str, key: str, names: set[str]) -> str:
    """The text without the tables `[key.NAME]` and what is below them.

    Whoever calls this must look whether what is left is what was wanted: a line inside a text of
    several lines can look like a header.
    """
    kept: list[str] = []
    away = False
    for line in text.splitlines(keepends=True):
        if found := _HEADER.fullmatch(line.rstrip("\r\n")):
            path = _path(found[1])
            away = path[:1] == [key] and len(path) > 1 and path[1] in names
        if not away:
            kept.append(line)
    return "".join(kept)


def _path(dotted: str) -> list[str]:
    """The steps of a dotted key; none when it is no key."""
    try:
        found: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return []
    steps = []
    while isinstance(found, dict) and found:
        step = next(iter(found))
        steps.append(step)
        found = found[step]
    return steps
