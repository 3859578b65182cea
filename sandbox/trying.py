"""`placet mcp --try -- node server.js`: a first look at Placet before one's own MCP server.

A GitHub of the sandbox and a Placet run in this process until the client hangs up, and nothing of
them is left. What the server does is real: reads at once, changes once they are approved there.
"""

import asyncio
import contextlib
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from proposals.tools import Catalog
from sandbox.github import World, create_app
from sandbox.stage import (
    AGENT,
    REPOSITORY,
    Stage,
    free_port,
    people_and_repository,
    served,
    write_configuration,
)
from webhook_app.app import create_app as create_placet
from webhook_app.app.logs import configure
from webhook_app.doors.hall import token_hash
from webhook_app.doors.mcp.bridge import bridge
from webhook_app.settings import Config, Upstream, load
from webhook_app.toolkits import suggesting

SESSION = "first-look"
POLICY = """\
version: 1
rules:
  - tools: ["*"]
    require: [{approvals: 1}]
    expires: 4h
"""
GUIDE = """\
placet: a first look. A GitHub and a Placet run on this machine until your client hangs up; then
nothing of them is left. What your server does is real, and happens once somebody approves it here:

  {page}
  Sign in there as lee or noor, who may approve. The agent works for dana, so hers does not count.

What its tools are was guessed from their names, and is not confirmed by anybody:
  done at once, as reads   {reads}
  wait for approval        {waits}
The guesses are in {config}, the log is in {log}.
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """What runs: the stage, its Placet's configuration, and the agent's `token`."""

    stage: Stage
    config: Config
    token: str

    def guide(self) -> str:
        """Where to approve, and what was guessed."""
        tools = self.config.tools
        return GUIDE.format(
            page=f"{self.stage.github}/{REPOSITORY}/pulls",
            reads=_names(tools, read=True),
            waits=_names(tools, read=False),
            config=self.stage.config,
            log=self.stage.folder / "placet.log",
        )


def trying(upstream: Upstream, environment: Mapping[str, str]) -> None:
    """Run it over stdin and stdout; NotListed and BadDeclaration when there is nothing to try."""
    with tempfile.TemporaryDirectory(prefix="placet-try-", ignore_cleanup_errors=True) as folder:
        place = Path(folder).resolve()
        with (place / "placet.log").open("a", encoding="utf-8") as log:
            configure(log)
            asyncio.run(_run(place, upstream, environment))


async def _run(folder: Path, upstream: Upstream, environment: Mapping[str, str]) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 (this is a coroutine: a task runs it)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    listing = await suggesting.listed(upstream, folder, environment)
    name = suggesting.named(listing)
    tools = suggesting.confirmed(suggesting.starter(name, upstream, listing))
    with contextlib.suppress(asyncio.CancelledError):
        async with trial(folder, tools) as made:
            typer.echo(made.guide(), err=True)
            await bridge(made.stage.placet, made.token, SESSION)


@contextlib.asynccontextmanager
async def trial(folder: Path, tools: str) -> AsyncIterator[Trial]:
    """Run a GitHub, and a Placet that has these tools (TOML), in this process and folder."""
    world = World(folder / "github")
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(world.aclose)
        world.url = await stack.enter_async_context(served(create_app(world)))
        port = free_port()
        app = people_and_repository(world, POLICY, f"http://127.0.0.1:{port}/webhook")
        here = Stage(folder, world, app, f"http://127.0.0.1:{port}")
        write_configuration(here, tools)
        config = load(here.config)
        placet = create_placet(config)
        await stack.enter_async_context(served(placet, port))
        made = Trial(here, config, f"placet_{secrets.token_hex(32)}")
        _hire(placet.state.hall, made)
        yield made


def _hire(hall: Any, made: Trial) -> None:
    dana = frozenset({made.stage.world.account("dana").id})
    hall.ports.store.add_agent(AGENT, token_hash(made.token), dana, hall.now())


def _names(tools: Catalog, *, read: bool) -> str:
    found = [tool.name for tool in tools.list() if (tool.effect == "read") is read]
    return ", ".join(found) or "none"
