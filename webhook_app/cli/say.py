"""How the command line talks: plain lines or JSON, and one sentence where something is wrong."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NoReturn

import typer

from proposals.tools import printable

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def give_up(message: str) -> NoReturn:
    """Say one sentence on stderr and exit with 1."""
    line = printable(message, 2000)
    typer.echo(line if line.startswith("placet: ") else f"placet: {line}", err=True)
    raise typer.Exit(1)


def say(sentence: str) -> None:
    """Print one line; whatever a terminal would obey in it is spelled out."""
    typer.echo(printable(sentence, 2000))


def print_json(value: Any) -> None:
    """Print JSON that a terminal cannot be led astray by: everything beyond ASCII is escaped."""
    typer.echo(json.dumps(value, indent=2))


def print_rows(rows: Iterable[tuple[object, ...]]) -> None:
    """Print rows in columns; what agents and tools wrote is escaped and cut to one line."""
    lines = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        typer.echo("  ".join(cells).rstrip())


def print_proposal(answer: Mapping[str, Any]) -> None:
    """Print how one proposal stands."""
    typer.echo(printable(answer["say_to_user"], 2000))
    rows: list[tuple[object, ...]] = [
        ("proposal", answer["proposal"]),
        ("status", answer["status"]),
        ("tool", answer["tool"]),
        ("digest", answer["digest"] or "none yet"),
        ("pull request", answer["pull_request"] or "none yet"),
        ("expires", answer["expires_at"]),
    ]
    if error := answer["error"]:
        rows += [("reason", error["code"]), ("do", error["hint"])]
    print_rows(rows)
