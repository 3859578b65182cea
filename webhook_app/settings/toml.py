"""Writing TOML, one line per value; no text can end its string or the line it stands on."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = frozenset(chr(code) for code in range(0x20, 0x7F)) - {'"', "\\"}
_SHORT = 0xFFFF


def quoted(text: str) -> str:
    """A text as a basic string of TOML, everything beyond plain ASCII escaped."""
    return '"' + "".join(c if c in _PLAIN else _escaped(c) for c in text) + '"'


def key(name: str) -> str:
    """A name as a key."""
    return name if _BARE.fullmatch(name) else quoted(name)


def value(said: Any) -> str:
    """A value as TOML on one line; TypeError for what TOML cannot say, such as null."""
    match said:
        case bool():
            return str(said).lower()
        case str():
            return quoted(said)
        case int() | float():
            return repr(said)
        case Mapping():
            return "{" + ", ".join(f"{key(k)} = {value(v)}" for k, v in said.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(value, said)) + "]"
        case _:
            raise TypeError(f"TOML has no way to write {said!r}")


def table(name: Sequence[str], fields: Mapping[str, Any]) -> list[str]:
    """The lines of a table: its header, and one for each field."""
    header = "[" + ".".join(map(key, name)) + "]"
    return [header, *(f"{key(k)} = {value(v)}" for k, v in fields.items())]


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= _SHORT else f"\\U{code:08x}"
