"""Torture: the real server is killed again and again while people and agents go on.

`make torture` kills 300 times, `make torture-short` ends within 45 seconds. The last line is
`double: 0  lost: 0`, or the exit status is 1.
"""

import asyncio
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from .book import Book
from .machine import machine
from .rounds import settle, torment


async def run(folder: Path, kills: int, seconds: float, seed: int) -> Book:
    """Torment a server until it was killed so often or so long; then let everything settle."""
    book = Book(random.Random(seed))  # noqa: S311 (a story that can be told again)
    deadline = time.monotonic() + seconds
    async with machine(folder) as made:
        with typer.progressbar(length=kills, label="kills", show_pos=True, file=sys.stderr) as bar:
            while book.kills < kills and time.monotonic() < deadline:
                await torment(made, book)
                bar.update(book.kills - bar.pos)
        typer.echo("No more kills; everything that was asked comes to its end.", err=True)
        await settle(made, book)
        book.count(made, await made.audit())
    return book


def torture(
    kills: Annotated[int, typer.Option(help="How many kills at most.")] = 300,
    seconds: Annotated[float, typer.Option(help="How long at most, settling apart.")] = 2400.0,
    seed: Annotated[int, typer.Option(help="Where the story begins.")] = 1,
    keep: Annotated[Path | None, typer.Option(help="Keep everything in this folder.")] = None,
) -> None:
    """Kill the server while it works; count what happened twice and what was lost."""
    folder = keep or Path(tempfile.mkdtemp(prefix="placet-torture-"))
    book = asyncio.run(run(folder, kills, seconds, seed))
    typer.echo(book.table())
    typer.echo(f"double: {len(book.double)}  lost: {len(book.lost)}")
    if book.double or book.lost:
        typer.echo(f"Everything is in {folder}.", err=True)
        raise typer.Exit(1)
    if keep is None:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run the command."""
    typer.run(torture)
