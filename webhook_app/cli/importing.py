"""`placet mcp import` and `placet mcp snippet`: agents' clients brought behind the gate."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from webhook_app.mcp_clients import (
    CLIENTS,
    Moved,
    Unreadable,
    Unwritable,
    moved,
    read,
    snippet,
    write,
)
from webhook_app.mcp_clients.writing import Places, additions, declared, difference
from webhook_app.settings import FILE

from .operators import ConfigOption
from .say import AsJson, give_up, print_json, say

LOCAL = "http://127.0.0.1:8080"
UrlOption = Annotated[str, typer.Option("--url", help="Where agents reach Placet.")]


def import_client(
    file: Annotated[Path, typer.Argument(help=".mcp.json, ~/.claude.json, config.toml, mcp.json.")],
    url: UrlOption = "",
    env_file: Annotated[
        Path | None, typer.Option(help="Where secrets go; placet.env beside placet.toml.")
    ] = None,
    write_it: Annotated[  # noqa: FBT002 (a switch of the command line)
        bool, typer.Option("--write", help="Do it; without this, nothing is written.")
    ] = False,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Move the servers of an MCP client, and their secrets, to Placet; leave it one entry.

    Reads the files of Claude Code, Codex and VS Code. Shows what would change; --write does it,
    after a copy. No secret is shown, or written to placet.toml.
    """
    toml = config or Path(FILE)
    places = Places(toml, env_file or toml.parent / "placet.env", address(toml, url))
    try:
        document = read(file)
        found = moved(document, declared(toml))
        gained, changed = additions(found, toml), difference(document, found, places.url)
        copy = write(document, found, places) if write_it and changed else None
    except (Unreadable, Unwritable) as error:
        give_up(str(error))
    if as_json:
        print_json(_as_data(found, copy))
    else:
        _tell(found, places, gained, changed)
        if changed and document.loses_comments:
            say("Comments in the client's file are lost; its copy keeps them.")
        say(_end(copy, changed, places))
    raise typer.Exit(1 if found.left else 0)


def print_snippet(
    client: Annotated[str, typer.Argument(help="claude-code, codex or vscode.")],
    url: UrlOption = "",
    config: ConfigOption = None,
) -> None:
    """Print what a client needs to reach Placet, and to deny its own shell and file tools."""
    known = next((c for c in CLIENTS if c == client), None)
    if known is None:
        give_up(f'no client "{client}" is known. Known are: {", ".join(CLIENTS)}.')
    for place, text in snippet(known, address(config or Path(FILE), url)):
        typer.echo(f"# {place}\n{text}\n")


def address(config: Path, said: str = "") -> str:
    """Where agents reach Placet: as said, as set, or on this machine."""
    try:
        server = tomllib.loads(config.read_text("utf-8")).get("server", {})
    except (OSError, ValueError):
        server = {}
    found = server.get("url") if isinstance(server, dict) else None
    return (said or os.environ.get("PLACET_URL") or str(found or LOCAL)).rstrip("/")


def _tell(found: Moved, places: Places, gained: str, changed: str) -> None:
    for move in found.moves:
        say(f"moves: {move.original.name} becomes [upstream.{move.name}]")
    for left in found.left:
        say(f"STAYS, ungated: {left.original.name}: {left.why}")
    _block(f"{places.config} gains:", gained)
    _block("The client's file changes (what may be secret is hidden):", changed)
    if names := [name for move in found.moves for name in move.variables]:
        say(f"{places.env} gains: {', '.join(names)}")
    if names := sorted({name for move in found.moves for name in move.needs}):
        say(f"Placet's server needs these as well: {', '.join(names)}")
    for name, ask in [pair for move in found.moves for pair in move.ask.items()]:
        say(f"FILL IN {name} in {places.env}: {ask}.")


def _block(title: str, text: str) -> None:
    if text:
        say(title)
        for line in text.splitlines():
            say(f"  {line}")


def _end(copy: Path | None, changed: str, places: Places) -> str:
    if not changed:
        return "Nothing to move."
    if copy is None:
        return "Nothing was written. Run it again with --write."
    return (
        f"Done. The old file is {copy}; it holds the old secrets: delete it when all works. Start "
        f"Placet with the variables of {places.env}, declare the tools (placet tools suggest), and "
        "give the client PLACET_TOKEN (placet agents add)."
    )


def _as_data(found: Moved, copy: Path | None) -> dict[str, Any]:
    return {
        "written": copy is not None,
        "copy": str(copy) if copy else None,
        "moves": [
            {
                "name": move.original.name,
                "upstream": move.name,
                "variables": [*move.variables, *move.needs],
                "fill_in": dict(move.ask),
            }
            for move in found.moves
        ],
        "left": [{"name": left.original.name, "why": left.why} for left in found.left],
    }
