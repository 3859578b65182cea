"""The demo of the gateway: an MCP client, MCP's own filesystem server, and people between them.

`placet-demo-mcp` narrates; its last line is `demo-mcp: ok`, and its exit status 0, only when
everything went as told.
"""

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import typer
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from sandbox.github.model import CheckRun, Pull
from sandbox.stage import AGENT, REPOSITORY, Stage, stage

from .play import PATIENCE, Telling, Unexpected, rest

PROGRAM = Path("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
SERVERS = Path(__file__).parents[2] / "tests" / "mcp_servers" / "node"
FILE = "hours.txt"
OLD, NEW = "Opening hours: 9 to 5\n", "Opening hours: 10 to 4\n"
POLICY = """\
version: 1
rules:
  - tools: ["fs.*"]
    require: [{approvals: 1}]
    expires: 4h
"""
TOOLS = """
[upstream.fs]
command = {command}

[tool.fs.read_text_file]
effect = "read"
absent = "ENOENT"

[tool.fs.write_file]
effect = "write"
touches = ["delete"]
summary = "Write {{/arguments/path}}"
[[tool.fs.write_file.pre]]
id = "old"
{read}
pin = "sha256"
keep = true
[[tool.fs.write_file.effects]]
what = "file"
before = {{from = "/pre/old"}}
after = {{from = "/arguments/content"}}
[[tool.fs.write_file.verify]]
{read}
equals = {{from = "/arguments/content"}}
[[tool.fs.write_file.undo]]
when_absent = "old"
irreversible = "the server has no delete"
[[tool.fs.write_file.undo]]
tool = "fs.write_file"
args = {{path = {{from = "/arguments/path"}}, content = {{from = "/pre/old"}}}}
"""
READ = """\
tool = "fs.read_text_file"
args = {path = {from = "/arguments/path"}}
take = "/structuredContent/content\""""


class Missing(Exception):
    """Something that the demo needs is not on this machine; the words say how to get it."""


def filesystem() -> list[str]:
    """The command of MCP's own filesystem server; Missing when it cannot be run."""
    node = shutil.which("node")
    if node is None:
        raise Missing("it needs Node, and there is no node on this machine. Install Node and npm.")
    if not (SERVERS / PROGRAM).exists():
        raise Missing(
            "it needs MCP's own filesystem server from npm. In a clone of Placet, run: make npm"
        )
    return [node, str(SERVERS / PROGRAM)]


@dataclass(slots=True)
class Scene:
    """The stage, the agent's client, and the file that it is all about."""

    stage: Stage
    client: Client
    tell: Telling

    @property
    def file(self) -> Path:
        """The file, on our side of the server."""
        return self.stage.folder / "docs" / FILE

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Let the agent call a tool; what it was told, structured."""
        said = (await self.client.call_tool(tool, arguments)).structured_content
        if not isinstance(said, dict):
            raise Unexpected(f"{tool} said nothing structured")
        return said

    async def over(self, proposal: str) -> dict[str, Any]:
        """Let the agent ask how its proposal stands, until it is over."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            said = await self.call("placet_status", proposal=proposal, wait=5)
            if said["status"] in {"applied", "failed", "unknown", "ended"}:
                return said
        raise Unexpected(f"{proposal} did not come to an end")

    async def until(self, what: str, true: Callable[[], bool]) -> None:
        """Wait until GitHub shows this."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > deadline:
                raise Unexpected(f"it did not become true that {what}")
            await asyncio.sleep(0.02)

    async def approve(self, number: int) -> None:
        """Let @lee approve a pull request."""
        await self.stage.world.person("lee").review(REPOSITORY, number, "APPROVE")

    def pulls(self) -> list[Pull]:
        """The pull requests that are open."""
        found = self.stage.world.repository(REPOSITORY).pulls.values()
        return [pull for pull in found if pull.state == "open"]

    def check(self, proposal: str) -> CheckRun:
        """The check run of a proposal."""
        runs = self.stage.world.repository(REPOSITORY).checks.values()
        return next(run for run in runs if run.external_id == proposal)

    def sure(self, what: str, *, is_true: bool) -> None:
        """Unexpected, unless it is so."""
        if not is_true:
            raise Unexpected(f"it is not true that {what}")


async def read(scene: Scene) -> None:
    """Let the agent read: nobody is asked."""
    scene.tell.act("1. A read passes")
    names = sorted(tool.name for tool in (await scene.client.list_tools()).tools)
    scene.tell.line(f"The agent sees the tools {', '.join(names)}.")
    scene.sure("undeclared tools are not offered", is_true="fs__move_file" not in names)
    said = await scene.call("fs__read_text_file", path=FILE)
    scene.sure("the file was read", is_true=said["content"] == OLD)
    scene.tell.line(f"It reads {FILE}: {OLD.strip()}")


async def overwrite(scene: Scene) -> dict[str, Any]:
    """Let the agent overwrite the file, and a person approve; the call as it ended."""
    scene.tell.act("2. An overwrite waits for a person")
    said = await scene.call(
        "fs__write_file", path=FILE, content=NEW, placet={"reason": "Winter hours."}
    )
    scene.tell.line(f"The agent writes {NEW.strip()!r} and is told: {said['say_to_user']}")
    scene.sure("the call waits", is_true=said["status"] == "awaiting_approval")
    scene.sure("nothing was written", is_true=scene.file.read_text() == OLD)
    scene.tell.line(f"{FILE} still says: {scene.file.read_text().strip()}")
    scene.tell.act("3. Approved, applied, verified")
    await scene.approve(int(said["pull_request"].rsplit("/", 1)[1]))
    scene.tell.line(f"@lee approves {said['pull_request']}")
    done = await scene.over(said["proposal"])
    scene.sure("it was applied", is_true=done["status"] == "applied")
    scene.sure("it was read back", is_true=done["_verification"]["verdict"] == "verified")
    scene.sure("the file was written", is_true=scene.file.read_text() == NEW)
    scene.tell.line(f"The agent asks placet_status: {done['say_to_user']}")
    scene.tell.line(f"{FILE} says: {scene.file.read_text().strip()}")
    return done


async def undo(scene: Scene, done: dict[str, Any]) -> None:
    """Let a person ask for the undo, and another approve it."""
    scene.tell.act("4. Undone")
    check = scene.check(done["proposal"])
    await scene.until("there is an Undo button", lambda: "undo" in _buttons(check))
    before = {pull.number for pull in scene.pulls()}
    await scene.stage.world.person("noor").press(check.id, "undo")
    await scene.until("the undo has a page", lambda: bool(_new(scene, before)))
    page = _new(scene, before)[0]
    scene.tell.line(f"@noor presses Undo; it asks as well: “{page.title}”")
    scene.sure("nothing was undone yet", is_true=scene.file.read_text() == NEW)
    await scene.approve(page.number)
    scene.tell.line("@lee approves that, too.")
    await scene.until("the file is as it was", lambda: scene.file.read_text() == OLD)
    mine = (await scene.call("placet_list"))["proposals"]
    newest = next(p["proposal"] for p in mine if p["proposal"] != done["proposal"])
    back = await scene.over(newest)
    scene.sure("the undo was applied", is_true=back["status"] == "applied")
    scene.sure("the undo was read back", is_true=back["_verification"]["verdict"] == "verified")
    await rest(scene.stage)
    told = await scene.call("placet_status", proposal=done["proposal"])
    scene.tell.line(f"The agent asks placet_status: {told['say_to_user']}")
    scene.tell.line(f"{FILE} says again: {scene.file.read_text().strip()}")


def _buttons(check: CheckRun) -> set[str]:
    return {action["identifier"] for action in check.actions}


def _new(scene: Scene, before: set[int]) -> list[Pull]:
    return [pull for pull in scene.pulls() if pull.number not in before]


@contextlib.asynccontextmanager
async def connected(here: Stage) -> AsyncIterator[Client]:
    """An MCP client of the gateway, with the agent's token and nothing else."""
    headers = {"Authorization": f"Bearer {here.token}", "Placet-Session": "demo"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{here.placet}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


async def play(folder: Path, tell: Telling, server: list[str]) -> None:
    """Play the whole story in this folder; Unexpected when something goes otherwise."""
    tell.act("Placet between an agent and MCP's own filesystem server")
    tell.line("Setting the stage: a GitHub, a folder with a file, Placet's server, an MCP client.")
    file = folder / "docs" / FILE
    file.parent.mkdir(parents=True)
    file.write_text(OLD)
    tools = TOOLS.format(command=[*server, str(file.parent)], read=READ)
    async with stage(folder, POLICY, tools=lambda _: tools) as here, connected(here) as client:
        scene = Scene(here, client, tell)
        tell.line(f"Agent {AGENT} is connected to {here.placet}/mcp, which runs the server.")
        await read(scene)
        await undo(scene, await overwrite(scene))


def demo() -> None:
    """Put Placet in front of MCP's own filesystem server, and play one overwrite through."""
    folder = Path(tempfile.mkdtemp(prefix="placet-demo-")).resolve()
    tell = Telling()
    try:
        asyncio.run(play(folder, tell, filesystem()))
    except Missing as error:
        typer.echo(f"placet-demo-mcp: {error}", err=True)
        raise typer.Exit(1) from None
    except (Unexpected, RuntimeError, MCPError, ExceptionGroup) as error:
        typer.echo(f"placet-demo-mcp: {_first(error)}\nEverything is in {folder}.", err=True)
        raise typer.Exit(1) from None
    shutil.rmtree(folder, ignore_errors=True)
    typer.echo(f"\nDone in {time.monotonic() - tell.began:.1f} s.\ndemo-mcp: ok")


def _first(error: Exception) -> Exception:
    """What went wrong, from whatever the client's task groups wrapped it in."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def main() -> None:
    """Run the command `placet-demo-mcp`."""
    typer.run(demo)
