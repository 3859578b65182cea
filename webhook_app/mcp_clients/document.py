"""One client's file as a document: which servers it names, and the same file without some."""

import copy
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webhook_app.settings.toml import table

from . import jsonc
from .snippets import Client, entry, inputs
from .tables import without_tables

PLACET = "placet"
_KEYS: dict[Client, str] = {
    "claude-code": "mcpServers",
    "vscode": "servers",
    "codex": "mcp_servers",
}
_MOST = 20_000_000  # characters


class Unreadable(ValueError):
    """The file is no client's configuration, or cannot be read; never with a value of it."""


@dataclass(frozen=True, slots=True)
class Original:
    """A server as a client's file names it: under which keys, and what it says."""

    name: str
    place: tuple[str, ...]
    said: Mapping[str, Any]

    @property
    def bridge(self) -> bool:
        """Whether this is Placet's own bridge, started as the snippets say."""
        command, arguments = self.said.get("command"), self.said.get("args")
        return isinstance(command, str) and Path(command).name == PLACET and arguments == ["mcp"]

    @property
    def on(self) -> bool:
        """Whether the client uses it."""
        return self.said.get("enabled") is not False and self.said.get("disabled") is not True


@dataclass(frozen=True, slots=True)
class Document:
    """A file of one kind of client, as text and as what it says."""

    client: Client
    path: Path
    text: str
    data: Mapping[str, Any]

    @property
    def loses_comments(self) -> bool:
        """Whether writing it again drops comments."""
        return self.client != "codex" and jsonc.commented(self.text)

    def originals(self) -> list[Original]:
        """Every server it names, Placet's bridge among them."""
        return [
            Original(name, place, said)
            for place, servers in self._places()
            for name, said in servers.items()
            if isinstance(said, dict)
        ]

    def rewritten(self, gone: Iterable[Original], url: str) -> str:
        """The file without these servers, and with one entry for Placet at this address."""
        away = {(*one.place, one.name) for one in gone}
        if self.client == "codex":
            return self._toml({name for *_, name in away}, url)
        data = copy.deepcopy(dict(self.data))
        for *place, name in away:
            del _at(data, place)[name]
        there = any(one.bridge for one in self.originals())
        if not there:
            data.setdefault(_KEYS[self.client], {})[PLACET] = entry(self.client, url)
            if self.client == "vscode":
                data["inputs"] = [*_still_used(data), *inputs()]
        end = "\n" if self.text.endswith("\n") else ""
        return json.dumps(data, indent=_indent(self.text), ensure_ascii=False) + end

    def _places(self) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
        key = _KEYS[self.client]
        if isinstance(servers := self.data.get(key), dict):
            yield (key,), servers
        projects = self.data.get("projects")
        for name, project in projects.items() if isinstance(projects, dict) else ():
            inner = project.get(key) if isinstance(project, dict) else None
            if self.client == "claude-code" and isinstance(inner, dict):
                yield ("projects", name, key), inner

    def _toml(self, away: set[str], url: str) -> str:
        key = _KEYS["codex"]
        text = without_tables(self.text, key, away)
        wanted = copy.deepcopy(dict(self.data))
        wanted[key] = {k: v for k, v in wanted.get(key, {}).items() if k not in away}
        if not any(one.bridge for one in self.originals()):
            fields = entry("codex", url)
            lines = table([key, PLACET], fields)
            text = text.rstrip("\n") + ("\n\n" if text.strip() else "") + "\n".join(lines) + "\n"
            wanted[key][PLACET] = fields
        try:
            same = tomllib.loads(text) == wanted
        except tomllib.TOMLDecodeError:
            same = False
        if not same:
            raise Unreadable(
                f"{self.path} writes its servers in a way that cannot be taken apart here. Write "
                f"each as a table of its own, [{key}.NAME]."
            )
        return text


def read(path: Path) -> Document:
    """Read a client's file, whichever client's it is; Unreadable."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise Unreadable(f"{path} cannot be read: {why}.") from None
    if len(text) > _MOST:
        raise Unreadable(f"{path} is too large.")
    return parsed(path, text)


def parsed(path: Path, text: str) -> Document:
    """What a client's file of this name says with this text; Unreadable."""
    try:
        data = tomllib.loads(text) if path.suffix == ".toml" else jsonc.loads(text)
    except ValueError:
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        raise Unreadable(f"{path} is not {kind}. Mend it first.") from None
    if not isinstance(data, dict):
        raise Unreadable(f"{path} is no configuration of a client.")
    return Document(_client(path, data), path, text, data)


def _client(path: Path, data: Mapping[str, Any]) -> Client:
    if path.suffix == ".toml":
        return "codex"
    if "servers" in data and "mcpServers" not in data:
        return "vscode"
    if "mcpServers" in data or "projects" in data:
        return "claude-code"
    raise Unreadable(
        f"{path} names no MCP servers: there is neither mcpServers (Claude Code and others) nor"
        " servers (VS Code)."
    )


def _at(data: dict[str, Any], place: Iterable[str]) -> dict[str, Any]:
    for step in place:
        data = data[step]
    return data


def _still_used(data: Mapping[str, Any]) -> list[Any]:
    """The inputs of VS Code that what is left asks for."""
    said = json.dumps(data.get("servers"))
    given = data.get("inputs")
    listed = given if isinstance(given, list) else []
    return [i for i in listed if not isinstance(i, dict) or f"${{input:{i.get('id')}}}" in said]


def _indent(text: str) -> int | str:
    """How the file is indented."""
    for line in text.splitlines()[1:]:
        if stripped := line.lstrip():
            lead = line[: len(line) - len(stripped)]
            return "\t" if lead.startswith("\t") else len(lead) or 2
    return 2
