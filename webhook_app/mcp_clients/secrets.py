"""What in a client's file is a secret, or may be: when in doubt it is, and is shown to nobody."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
_NAMED = re.compile(r"(token|secret|passw|pwd|credential|api[-_]?key|auth|private)", re.IGNORECASE)
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_][\w-]*)\s*[=:]\s*(.+)", re.DOTALL)
_NAMES = re.compile(r"\$\{[\w:-]+\}")
_KNOWN = re.compile(
    r"(gh[pousr]_|github_pat_|glpat-|sk-|xox[a-z]-|eyJ|AKIA|AIza|-----BEGIN|Bearer )"
)
_LOGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]*@|[?&][^=\s]+=")
_RANDOM, _BITS = 20, 3.5  # characters, and entropy of each, from which a word may be a key
# A path, a package with its version, an address without a query: long, and no keys.
_PLAIN = re.compile(r"(https?://[\w.:-]+)?[\w.@+~-]*(/[\w.@+~-]*)+|@?[a-z0-9._/-]+(@[\w.^~-]+)?")


def secret_in(arguments: list[str]) -> int | None:
    """The number of the first argument that looks like a secret; None when none does."""
    expected = False
    for number, word in enumerate(arguments, 1):
        flag = _FLAG.fullmatch(word)
        given = flag[2] if flag else word
        pair = _PAIR.fullmatch(word)
        named = bool(flag and _NAMED.search(flag[1])) or bool(pair and _NAMED.search(pair[1]))
        if given and (expected or named or _looks(given)):
            return number
        expected = named and given is None
    return None


def secret_address(url: str) -> bool:
    """Whether an address holds something that looks like a secret."""
    return _looks(url) or any(_looks(part) for part in url.split("/"))


def masked(said: Mapping[str, Any]) -> dict[str, Any]:
    """A server as it may be shown: no value that could be a secret."""
    return {key: _shown(key, value) for key, value in said.items()}


def _shown(key: str, value: Any) -> Any:
    match value:
        case str() if key in ("type", "command") and not _looks(value):
            return value
        case list() if key == "args" and all(isinstance(word, str) for word in value):
            first = secret_in(value)
            return value if first is None else [*value[: first - 1], HIDDEN]
        case list() if key == "env_vars":
            return value
        case dict():
            return {k: v if _open(k, v) else HIDDEN for k, v in value.items()}
        case bool() | int() | float():
            return value
        case _:
            return HIDDEN


def _open(name: str, value: Any) -> bool:
    """Whether a variable or header shows nothing: it names where its value comes from."""
    return name == "PLACET_URL" or (isinstance(value, str) and bool(_NAMES.fullmatch(value)))


def _looks(word: str) -> bool:
    if _KNOWN.match(word) or _LOGIN.search(word):
        return True
    return len(word) >= _RANDOM and not _PLAIN.fullmatch(word) and _entropy(word) > _BITS


def _entropy(word: str) -> float:
    """Bits for each character, as often as each occurs."""
    counts = Counter(word).values()
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts)
