"""The demo: the main job, played on this machine by an agent and three people, told in words.

`placet-demo` narrates; with `--json` it prints one JSON document instead. Exit status 0 only when
every proposal ended as it should.
"""

import asyncio
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sandbox.stage import Stage, stage
from webhook_app.client import Placet

from .acts import ACTS, first_use
from .play import Play, Telling, Unexpected


async def play_all(folder: Path, tell: Telling) -> dict[str, Any]:
    """Play the whole story in this folder; what was told, as data."""
    tell.act("Placet: agents propose, people dispose")
    tell.line("Setting the stage: a GitHub, a database with seven customers, Placet's server.")
    async with stage(folder) as here:
        with Placet(here.placet, here.token) as agent:
            play = Play(here, agent, tell)
            once = await first_use(play)
            for act in ACTS:
                await act(play)
            tell.line("")
            tell.line(f"Done in {time.monotonic() - tell.began:.1f} s. Requests to GitHub:")
            for told in play.told:
                spent = sum(told["requests"].values())
                tell.line(f"  {told['id']} {told['state']:8} {spent} ({told['surface']})")
            return {"proposals": play.told, "first_use": once, "memory_mb": memory(here)}


def memory(here: Stage) -> float:
    """The server's resident memory in MB; 0 where the system does not tell."""
    status = Path(f"/proc/{here.process.pid if here.process else 0}/status")
    if not status.exists():
        return 0.0
    line = next(w for w in status.read_text().splitlines() if w.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


def demo(
    auto: Annotated[bool, typer.Option(help="Play without questions (always so today).")] = True,  # noqa: FBT002, ARG001
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002
    keep: Annotated[Path | None, typer.Option(help="Keep everything in this folder.")] = None,
) -> None:
    """Play the main job on this machine: propose, approve, plan again, apply, prove."""
    folder = keep or Path(tempfile.mkdtemp(prefix="placet-demo-"))
    try:
        told = asyncio.run(play_all(folder, Telling(silent=as_json)))
    except (Unexpected, RuntimeError) as error:
        typer.echo(f"placet-demo: {error}\nEverything is in {folder}.", err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    if keep is None:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run the command `placet-demo`."""
    typer.run(demo)
