"""JSON as VS Code writes it: with comments, and with commas that end a list."""

import json
import re
from typing import Any, NoReturn

# A string, a comment to the end of its line, or one between marks.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


def loads(text: str) -> Any:
    """The value; ValueError for anything else, and for an object that has one key twice."""
    plain = _TOKEN.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
    plain = _COMMA.sub(lambda found: found[1] or "", plain)
    try:
        return json.loads(plain, object_pairs_hook=_once, parse_constant=_refused)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def commented(text: str) -> bool:
    """Whether there are comments, which are lost when it is written again."""
    return any(found[0][0] == "/" for found in _TOKEN.finditer(text))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one key twice")
    return found


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
