"""The sandbox to click through: a GitHub and a Placet on this machine, with proposals in them.

`placet-sandbox` runs until Ctrl-C. The people are dana (the agent works for her), lee and noor (may
approve) and sam (may only read).
"""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sandbox.stage import AGENT, REPOSITORY, TOOL, Stage, stage
from webhook_app.client import OVER, Placet, PlacetError

PORTS = (8790, 8791)  # of GitHub and of Placet, if nobody else has them
PATIENCE = 30.0  # seconds, for any one thing to happen
GUIDE = """
Everything here runs on this machine and is made up; only Placet is the real thing.

  Look at it       {page}
  Sign in there as
    lee or noor    may approve: open a proposal, read it, say yes or no
    dana           the agent works for her, so her approval does not count; the page says why
    sam            may only read, so his approval does not count either

  Proposals of the agent {agent}
{proposals}

  Be the agent (in another terminal, in this folder)
    {propose}

  What it changes  {database} (SQLite, table customers)
  The trail        {clone}
  Placet's log     {log}

  Stop             Ctrl-C; {afterwards}
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """The agent and the people at work until there is something to look at."""

    stage: Stage
    agent: Placet

    async def set(self) -> list[dict[str, Any]]:
        """Ask three times: one is applied, one drifts, one waits; as the agent sees them."""
        applied = await self._ask([66], "The contract ended in June.")
        await self._approve(applied)
        drifted = await self._ask([42, 58], "No order in two years.")
        self.stage.deactivate_by_hand(58)
        await self._approve(drifted)
        await self._ask([17, 23, 31], "These accounts bounced three newsletters.")
        return await asyncio.to_thread(self.agent.proposals)

    async def _ask(self, ids: list[int], why: str) -> dict[str, Any]:
        said = await asyncio.to_thread(self.agent.propose, TOOL, {"ids": ids}, reason=why)
        return await self._until(said, lambda seen: seen["pull_request"] is not None)

    async def _approve(self, seen: dict[str, Any]) -> None:
        number = int(seen["pull_request"].rsplit("/", 1)[1])
        await self.stage.world.person("lee").review(REPOSITORY, number, "APPROVE")
        await self._until(seen, lambda seen: seen["status"] in OVER)

    async def _until(
        self, said: dict[str, Any], true: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            seen = await asyncio.to_thread(self.agent.status, said["proposal"])
            if true(seen):
                return seen
            await asyncio.sleep(0.05)
        raise RuntimeError(f"{said['proposal']} did not get on. See placet.log.")


def guide(here: Stage, proposals: list[dict[str, Any]], afterwards: str) -> str:
    """What is running, who is who, and what to try, in words and lines to copy."""
    url = here.github.replace("://", f"://noor:{here.world.token_for('noor')}@")
    return GUIDE.format(
        page=f"{here.github}/{REPOSITORY}/pulls",
        agent=AGENT,
        proposals="\n".join(map(_line, proposals)),
        propose=_propose(here),
        database=here.database,
        clone=f"git clone -b placet/ledger {url}/{REPOSITORY}.git ledger",
        log=here.folder / "placet.log",
        afterwards=afterwards,
    )


def _line(seen: dict[str, Any]) -> str:
    reason = (seen.get("error") or {}).get("code")
    status = "waiting" if seen["status"] == "awaiting_approval" else reason or seen["status"]
    return f"    {status:<12}   {seen['pull_request']}  {seen['summary']}"


def _propose(here: Stage) -> str:
    """The line that asks for one call, with the program that belongs to this Python."""
    beside = Path(sys.executable).with_name("placet")
    program = "placet" if shutil.which("placet") or not beside.exists() else os.path.relpath(beside)
    environment = f"PLACET_URL={here.placet} PLACET_TOKEN={here.token}"
    asked = f"""echo '{{"ids": [42]}}' | {environment} {shlex.quote(program)} propose {TOOL} -"""
    return f'{asked} --reason "They moved away."'


async def run(folder: Path, afterwards: str) -> None:
    """Run the sandbox in this folder until SIGINT or SIGTERM; RuntimeError when it cannot start."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 (this is a coroutine: a task runs it)
    for sign in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sign, task.cancel)
    typer.echo("Starting a GitHub and a Placet (a few seconds) ...")
    with contextlib.suppress(asyncio.CancelledError):
        async with stage(folder, ports=PORTS) as here:
            with Placet(here.placet, here.token) as agent:
                proposals = await Scene(here, agent).set()
            typer.echo(guide(here, proposals, afterwards))
            await asyncio.Event().wait()


def serve(
    folder: Annotated[
        Path | None, typer.Option(help="Keep everything in this new or empty folder.")
    ] = None,
) -> None:
    """Run a GitHub and a Placet on this machine, to click through, until Ctrl-C."""
    if folder is not None and folder.exists() and any(folder.iterdir()):
        _give_up(f"{folder} is not empty. The sandbox begins anew each time: name a new folder.")
    place = folder or Path(tempfile.mkdtemp(prefix="placet-sandbox-"))
    afterwards = f"{place} stays." if folder else "everything is thrown away then."
    try:
        asyncio.run(run(place, afterwards))
    except (RuntimeError, PlacetError) as error:
        _give_up(f"{error}\nEverything is in {place}.")
    if folder is None:
        shutil.rmtree(place, ignore_errors=True)
    typer.echo(f"\nStopped. {f'Everything is in {place}.' if folder else 'Nothing is left of it.'}")


def _give_up(why: str) -> None:
    typer.echo(f"placet-sandbox: {why}", err=True)
    raise typer.Exit(1)


def main() -> None:
    """Run the command `placet-sandbox`."""
    typer.run(serve)
