"""Read placet.toml and the environment; refuse the start over anything that is not understood."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError as Unparsable

from proposals.tools import BadDeclaration, Catalog, declared

from .fields import STORE, Floor, Repository, Settings
from .upstreams import MAX_WIRE_NAME, Upstream

FILE = "placet.toml"
# Those of the server's settings that have a table of their own.
TABLES = ("policy_floor", "repository", "upstream")
_PATHS = ("store", "private_key_file")
Table = Mapping[str, Any]


class SettingsError(Exception):
    """The server cannot start as it is set up: the operator must act as the message says."""

    def __init__(self, message: str) -> None:
        super().__init__(f"placet: {message}")


@dataclass(frozen=True, slots=True)
class Config:
    """Everything the server starts from; `root` is where relative paths of tools begin."""

    settings: Settings
    tools: Catalog
    root: Path


def load(path: Path | None) -> Config:
    """Read the whole configuration; SettingsError. Without a path: ./placet.toml, if it is there.

    Relative paths in the file begin where the file is.
    """
    file, root = _read(path)
    _known("", file, ("server", "tool", *TABLES))
    server = [name for name in Settings.model_fields if name not in TABLES]
    _known("server", _table(file, "server"), server)
    nested = (("policy_floor", Floor), ("repository", Repository), ("upstream", Upstream))
    for name, model in nested:
        for key in _table(file, name):
            _known(f"{name}.{key}", _table(_table(file, name), key, name), model.model_fields)
    settings = _settings({**_rooted(file, root), **{t: file[t] for t in TABLES if t in file}})
    try:
        kinds = {name: upstream.kind for name, upstream in settings.upstream.items()}
        tools = Catalog.of(declared(_table(file, "tool"), kinds))
    except BadDeclaration as error:
        raise SettingsError(f"{FILE}: {error}") from None
    _governed(tools, settings)
    _called(tools, settings)
    _floored(tools, settings)
    return Config(settings, tools, root)


def store_path(path: Path | None) -> Path:
    """Find the store, and nothing else, for the operator's commands; SettingsError."""
    if said := os.environ.get("PLACET_STORE"):
        return Path(said).absolute()
    file, root = _read(path)
    return Path(_rooted(file, root)["store"]).absolute()


def _read(path: Path | None) -> tuple[Table, Path]:
    place = path or Path(FILE)
    try:
        return tomllib.loads(place.read_text("utf-8")), place.absolute().parent
    except FileNotFoundError:
        if path is None:
            return {}, Path.cwd()
        raise SettingsError(f"there is no file {place}. Name yours with --config.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{place} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{place} is not TOML: {error}. Mend that line.") from None


def _table(file: Table, name: str, inside: str = "") -> Table:
    table = file.get(name, {})
    if not isinstance(table, dict):
        whole = f"{inside}.{name}" if inside else name
        raise SettingsError(f"{FILE}: {whole} must be a table. Write [{whole}].")
    return table


def _known(where: str, table: Table, names: Iterable[str]) -> None:
    names = list(names)
    for key in table:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            hint = f'Did you mean "{near[0]}"?' if near else f"Known are: {', '.join(names)}."
            place = f"[{where}] has" if where else "there is"
            raise SettingsError(f'{FILE}: {place} an unknown key "{key}". {hint}')


def _rooted(file: Table, root: Path) -> dict[str, Any]:
    server = {"store": STORE, **_table(file, "server")}
    for name in _PATHS:
        if isinstance(server.get(name), str):
            server[name] = root / server[name]
    return server


def _settings(given: dict[str, Any]) -> Settings:
    try:
        return Settings(**given)
    except Unparsable as error:
        raise SettingsError(f"{error}. A table in the environment is written as JSON.") from None
    except ValidationError as error:
        raise SettingsError(_words(error)) from None


def _words(error: ValidationError) -> str:
    """The first fault as a sentence; values are never repeated: one of them may be a secret."""
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(step) for step in first["loc"])
    if first["type"] == "missing":
        field = Settings.model_fields.get(name)
        means = f" It is: {field.description}" if field and field.description else ""
        return f"{name} is missing. Set PLACET_{name.upper()}, or {name} in {FILE}.{means}"
    words = first["msg"].removeprefix("Value error, ")
    own = (first["type"] == "value_error" and words[:4] == "the ") or not name
    if own:
        return words
    set_by = "" if "." in name else f"PLACET_{name.upper()} or "
    return f"{name}: {words}. Change {set_by}{name} in {FILE}."


def _governed(tools: Catalog, settings: Settings) -> None:
    """Every tool that changes things needs a repository whose people decide."""
    for tool in tools.list():
        if tool.effect != "read" and tool.repository not in settings.repository:
            raise SettingsError(
                f"{FILE}: [tool.{tool.name}] is governed by the repository "
                f'"{tool.repository}", which is not declared. Write [repository.{tool.repository}] '
                "with its numeric id."
            )


def _floored(tools: Catalog, settings: Settings) -> None:
    """What the server's own minimum lets people approve is not had without asking them."""
    for tool in tools.list():
        if tool.mode != "approve" and tool.effect in settings.policy_floor:
            raise SettingsError(
                f'{FILE}: [tool.{tool.name}] has mode = "{tool.mode}", which asks nobody, and '
                f"[policy_floor.{tool.effect}] wants approvals for its effect. "
                'Use mode = "approve", or take that floor away.'
            )


def _called(tools: Catalog, settings: Settings) -> None:
    """Every tool of an upstream has a name of its own on MCP's wire."""
    taken: dict[str, str] = {}
    for tool in tools.list():
        name = settings.wire(tool.name)
        if len(name) > MAX_WIRE_NAME or name.startswith("placet_"):
            raise SettingsError(
                f'{FILE}: agents would call [tool.{tool.name}] "{name}", which is longer than '
                f"{MAX_WIRE_NAME} or one of Placet's own names. Change the upstream's prefix."
            )
        if other := taken.get(name):
            raise SettingsError(
                f'{FILE}: agents would call both [tool.{other}] and [tool.{tool.name}] "{name}". '
                "Change one upstream's prefix."
            )
        taken[name] = tool.name
