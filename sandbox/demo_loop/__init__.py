"""The demo of the loop: an agent that cannot argue with the facts, played over real doors.

`placet-demo-loop` plays three conversations with a scripted model: the missing year, a write that
fails, a model that only claims. Exit status 0 only when the replies' reports, the store and the
register say the same; then the last line is `demo-loop: ok`.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from sandbox.demo.play import Play, Telling, Unexpected
from sandbox.stage import stage
from sandbox.tools import members
from webhook_app.client import AsyncPlacet, Placet

from .acts import ACTS, agree
from .club import POLICY, register, talk, tools


async def play_all(folder: Path, tell: Telling) -> dict[str, str]:
    """Play the whole story in this folder; how each proposal ended."""
    tell.act("Placet: facts instead of claims")
    tell.line("Setting the stage: a GitHub, a club's register, Placet's server.")
    async with stage(folder, POLICY, tools=tools) as here:
        members.make(register(here))
        with Placet(here.placet, here.token) as agent:
            async with AsyncPlacet(here.placet, here.token) as placet:
                play = Play(here, agent, tell)
                clubs = [talk(play, placet, f"conversation-{n}") for n in range(len(ACTS))]
                for act, club in zip(ACTS, clubs, strict=True):
                    await act(club)
                tell.act("The store and the replies")
                return await agree(clubs)


def demo(
    keep: Annotated[Path | None, typer.Option(help="Keep everything in this folder.")] = None,
) -> None:
    """Play the missing year on this machine: ask, be answered, write, be verified."""
    folder = keep or Path(tempfile.mkdtemp(prefix="placet-demo-loop-"))
    try:
        asyncio.run(play_all(folder, Telling()))
    except (Unexpected, RuntimeError) as error:
        typer.echo(f"demo-loop: {error}\nEverything is in {folder}.", err=True)
        raise typer.Exit(1) from None
    if keep is None:
        shutil.rmtree(folder, ignore_errors=True)
    typer.echo("demo-loop: ok")


def main() -> None:
    """Run the command `placet-demo-loop`."""
    typer.run(demo)
