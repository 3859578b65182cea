"""A move carried out: placet.toml, the file of variables, the client's file, each whole or not."""

import difflib
import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webhook_app.settings.toml import table

from .document import Document, parsed
from .moving import Moved
from .secrets import masked

_OWNER = 0o600


class Unwritable(Exception):
    """Nothing more is written, and why; never with a value of the files."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a move goes to: placet.toml, the file of variables, and Placet's own address."""

    config: Path
    env: Path
    url: str


def declared(config: Path) -> dict[str, Any]:
    """The upstreams of placet.toml as they stand; Unwritable when it cannot be read."""
    try:
        found = tomllib.loads(config.read_text("utf-8")).get("upstream", {})
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise Unwritable(f"{config} cannot be read as TOML. Mend it first.") from None
    return found if isinstance(found, dict) else {}


def additions(moves: Moved, config: Path) -> str:
    """What placet.toml gains."""
    known = declared(config)
    new = {move.name: move.fields for move in moves.moves if move.name not in known}
    blocks = ["\n".join(table(["upstream", name], fields)) for name, fields in new.items()]
    return "\n\n".join(blocks)


def difference(document: Document, moves: Moved, url: str) -> str:
    """What changes in the client's file, with every value hidden that could be a secret."""
    if not moves.moves:
        return ""
    after = document.rewritten([move.original for move in moves.moves], url)
    before, then = _shown(document), _shown(parsed(document.path, after))
    lines = difflib.unified_diff(
        before, then, str(document.path), f"{document.path} (new)", lineterm=""
    )
    return "\n".join(lines)


def write(document: Document, moves: Moved, places: Places) -> Path:
    """Carry it out, the client's file last; the path of the copy that was made of it before."""
    after = document.rewritten([move.original for move in moves.moves], places.url)
    lines = _lines(moves, places.env)
    gained = additions(moves, places.config)
    path = document.path.resolve()
    if path.read_text("utf-8") != document.text:
        raise Unwritable(f"{document.path} was changed meanwhile. Look again.")
    try:
        _append(places.env, lines)
        if gained:
            _extend(places.config, gained)
        copy = _copied(path, document.text)
        _replace(path, after)
    except OSError as error:
        raise Unwritable(f"{error.filename}: {error.strerror}.") from None
    return copy


def _lines(moves: Moved, env: Path) -> list[str]:
    """What the file of variables gains; one that is there already stays as it is."""
    known = _variables(env)
    lines = []
    for move in moves.moves:
        for name, value in move.variables.items():
            if name in known and known[name] != value and value is not None:
                raise Unwritable(f"{env} has another value for {name} already. Remove that line.")
            if name not in known:
                asks = move.ask.get(name, "")
                lines.append(f"# {name}=  ({asks})" if value is None else f"{name}={value}")
    return lines


def _variables(env: Path) -> dict[str, str]:
    try:
        text, mode = env.read_text("utf-8"), env.stat().st_mode
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError):
        raise Unwritable(f"{env} cannot be read.") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Unwritable(f"{env} can be read by others. Run: chmod 600 {env}")
    pairs = [line.partition("=") for line in text.splitlines() if line[:1] != "#"]
    return {name: value for name, _, value in pairs if name}


def _append(env: Path, lines: list[str]) -> None:
    if not lines:
        return
    descriptor = os.open(env, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, _OWNER)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def _extend(config: Path, gained: str) -> None:
    before = config.read_text("utf-8") if config.exists() else ""
    text = f"{before.rstrip()}\n\n{gained}\n" if before.strip() else f"{gained}\n"
    try:
        fine = tomllib.loads(text)["upstream"].items() >= tomllib.loads(gained)["upstream"].items()
    except tomllib.TOMLDecodeError:
        fine = False
    if not fine:
        raise Unwritable(f"{config} cannot be added to. Write there by hand:\n{gained}")
    _replace(config, text)


def _copied(path: Path, text: str) -> Path:
    """A copy of the file beside it, for its owner alone: it holds what was secret in it."""
    for number in range(1, 100):
        copy = path.with_name(f"{path.name}.before-placet-{number}")
        try:
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER)
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return copy
    raise Unwritable(f"there are too many copies beside {path}. Remove old ones.")


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, with the permissions that it had."""
    path = path.resolve()
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else _OWNER
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _shown(document: Document) -> list[str]:
    servers: dict[str, Mapping[str, Any]] = {}
    for one in document.originals():
        servers["/".join((*one.place, one.name))] = masked(one.said)
    return json.dumps(servers, indent=2, ensure_ascii=True).splitlines()
