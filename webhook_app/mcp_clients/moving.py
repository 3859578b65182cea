"""A client's server as an upstream of Placet: what can move does, what cannot says why.

Values of `env` and of headers go to the environment of Placet's server, whatever they are; what
would put a secret anywhere else stays where it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webhook_app.settings import Upstream

from .document import PLACET, Document, Original
from .secrets import secret_address, secret_in

_IGNORED = frozenset(
    {
        *("type", "enabled", "disabled", "timeout", "startup_timeout_sec", "startup_timeout_ms"),
        *("tool_timeout_sec", "required", "alwaysAllow", "autoApprove", "trust", "gallery"),
        *("version", "description", "default_tools_approval_mode", "oauth_resource"),
    }
)
_STDIO = frozenset({"command", "args", "env", "env_vars"})
_HTTP = frozenset({"url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"})
_STREAMS = frozenset({None, "http", "streamable-http", "streamableHttp", "streamable_http"})
_WHOLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_LINE = re.compile(r"(?!\s)[^\x00-\x1f\x7f'\"\\]*(?<!\s)")


@dataclass(frozen=True, slots=True)
class Move:
    """A server that moves: its upstream, and the variables that hold what was in the file.

    A variable is None when the file does not hold its value; `ask` says what it must be.
    """

    original: Original
    name: str
    fields: Mapping[str, Any]
    variables: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    ask: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> list[str]:
        """The variables that it takes from elsewhere."""
        env = [str(value).removeprefix("env:") for value in self.fields.get("env", {}).values()]
        named = [*env, *map(str, self.fields.get("headers_env", {}).values())]
        return [name for name in named if name not in self.variables]


@dataclass(frozen=True, slots=True)
class Left:
    """A server that stays where it is, and why: in words without any value of the file."""

    original: Original
    why: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What becomes of a file's servers."""

    moves: tuple[Move, ...]
    left: tuple[Left, ...]


class _Stays(ValueError):
    """A server that cannot move."""


def moved(document: Document, declared: Mapping[str, Any]) -> Moved:
    """Decide for each server of the file; `declared` are the upstreams of placet.toml so far."""
    moves: list[Move] = []
    left: list[Left] = []
    known, taken = dict(declared), set[str]()
    for one in document.originals():
        if one.bridge:
            continue
        try:
            move = _move(document, one)
            if known.setdefault(move.name, move.fields) != move.fields:
                raise _Stays(f"[upstream.{move.name}] is declared otherwise already")  # noqa: TRY301
            if twice := taken & move.variables.keys():
                raise _Stays(f"two values would both be {min(twice)}")  # noqa: TRY301
            taken |= move.variables.keys()
            moves.append(move)
        except _Stays as error:
            left.append(Left(one, str(error)))
    return Moved(tuple(moves), tuple(left))


def _move(document: Document, one: Original) -> Move:
    if not one.on:
        raise _Stays("it is switched off")
    name = "-".join(re.findall(r"[A-Za-z0-9]+", one.name))
    if not name or name.lower() == PLACET:
        raise _Stays("its name has no letters or digits, or is Placet's own")
    over_http = "url" in one.said
    known = _IGNORED | (_HTTP if over_http else _STDIO)
    if strange := [key for key in one.said if key not in known]:
        raise _Stays(f'it says "{strange[0]:.40}", which has no counterpart in placet.toml')
    shelf = _Shelf(name)
    fields = _reached(one.said, shelf) if over_http else _run(document, one.said, shelf)
    try:
        upstream = Upstream(**fields)
    except ValidationError as error:
        message = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in message["loc"])
        raise _Stays(f"its {where or 'entry'} cannot be an upstream's") from None
    said = upstream.model_dump(mode="json", exclude_defaults=True)
    return Move(one, name, said, shelf.variables, shelf.ask)


class _Shelf:
    """The variables of one upstream, and what is to be asked for."""

    def __init__(self, name: str) -> None:
        self._name = re.sub(r"[^A-Za-z0-9]", "_", name).upper()
        self.variables: dict[str, str | None] = {}
        self.ask: dict[str, str] = {}

    def put(self, key: str, value: object) -> str:
        """Take a value of the file in; the name of the variable that holds it."""
        if not isinstance(value, str):
            raise _Stays(f"{key:.40} is no text")
        if whole := _WHOLE.fullmatch(value):
            return whole[1]
        name = f"UPSTREAM_{self._name}_{re.sub(r'[^A-Za-z0-9]', '_', key).upper()}"
        if name in self.variables:
            raise _Stays(f"two of its values would both be {name}")
        if "${" in value:
            return self.want(name, f"what the client made of {key:.40}")
        if not _LINE.fullmatch(value):
            raise _Stays(f"the value of {key:.40} has quotes, or more than one line")
        self.variables[name] = value
        return name

    def want(self, name: str, ask: str) -> str:
        """Have the operator fill a variable in."""
        self.variables[name], self.ask[name] = None, ask
        return name

    def bearer(self, source: object) -> str:
        """The header that Codex makes of a variable."""
        ask = f"`Bearer ` and the value of {source!s:.60}"
        return self.want(f"UPSTREAM_{self._name}_AUTHORIZATION", ask)


def _run(document: Document, said: Mapping[str, Any], shelf: _Shelf) -> dict[str, Any]:
    """A server that is run as a command."""
    if said.get("type") not in (None, "stdio"):
        raise _Stays("it is of a type that Placet does not speak")
    words = [said.get("command"), *_list(said.get("args", []), "args")]
    if not all(isinstance(word, str) and word for word in words):
        raise _Stays("it has no command, or arguments that are no texts")
    command = [_filled(document, str(word)) for word in words]
    if number := secret_in(command[1:]):
        raise _Stays(
            f"its argument {number} looks like a secret, and a command line is no place for one:"
            " let the server take it from its environment"
        )
    env = {key: f"env:{shelf.put(key, v)}" for key, v in _table(said, "env").items()}
    env |= {str(n): f"env:{n}" for n in _list(said.get("env_vars", []), "env_vars")}
    return {"command": tuple(command), "env": env}


def _reached(said: Mapping[str, Any], shelf: _Shelf) -> dict[str, Any]:
    """A server at an address."""
    if said.get("type") not in _STREAMS:
        raise _Stays("it does not speak Streamable HTTP")
    headers = {k: shelf.put(k, v) for k, v in _table(said, "headers").items()}
    headers |= {k: shelf.put(k, v) for k, v in _table(said, "http_headers").items()}
    headers |= {k: str(v) for k, v in _table(said, "env_http_headers").items()}
    if source := said.get("bearer_token_env_var"):
        headers["Authorization"] = shelf.bearer(source)
    if not isinstance(said["url"], str) or secret_address(said["url"]):
        raise _Stays("its address holds what looks like a secret")
    return {"url": said["url"], "headers_env": headers}


def _filled(document: Document, word: str) -> str:
    """A word of a command, with VS Code's own names for folders filled in."""
    folder = document.path.resolve().parent
    if document.client == "vscode":
        workspace = folder.parent if folder.name == ".vscode" else folder
        word = word.replace("${workspaceFolder}", str(workspace))
        word = word.replace("${userHome}", str(Path.home()))
    if "${" in word:
        raise _Stays("its command holds a variable of the client's, which Placet does not fill in")
    return word


def _table(said: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = said.get(key) or {}
    if not isinstance(found, dict):
        raise _Stays(f"its {key} is no table")
    return found


def _list(found: object, key: str) -> list[Any]:
    if not isinstance(found, list):
        raise _Stays(f"its {key} is no list")
    return found
