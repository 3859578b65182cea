"""The machine: a sandbox's GitHub that lives on, and a server that is killed and started again."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from proposals.receipt import Signer
from sandbox.github import World, create_app
from sandbox.stage import (
    AGENT,
    POLICY,
    REPOSITORY,
    Stage,
    free_port,
    people_and_repository,
    running,
    served,
    write_configuration,
)

TOOL = "box.write"
FORGOTTEN, GONE = "forgotten", 404
LONGER = 4.0
"""Seconds, more than the tool may take."""
# A tool that must not run twice: each run leaves a line. It can kill the server that runs it.
SCRIPT = """
import json, os, signal, sys, time
box = os.environ["BOX"]
asked = json.load(sys.stdin)
n = asked["arguments"]["n"]
def trap(name):
    try:
        os.rename(f"{box}/{name}", f"{box}/sprung")
    except OSError:
        return
    os.kill(int(open(f"{box}/server").read()), signal.SIGKILL)
    time.sleep(0.2)
if asked["verb"] == "plan":
    said = {"effects": [{"what": f"line {n}", "before": None, "after": n}]}
elif asked["verb"] == "apply":
    trap("before")
    time.sleep(0.02)
    with open(f"{box}/runs", "a") as runs:
        runs.write(f"{n}\\n")
    trap("after")
    said = {"ok": True, "result": {"line": n}}
else:
    lines = open(f"{box}/runs").read().split() if os.path.exists(f"{box}/runs") else []
    found = str(n) in lines
    said = {"verdict": "verified" if found else "contradicted",
            "checks": [{"what": f"line {n}", "expected": True, "found": found, "ok": found}]}
print(json.dumps(said))
"""
BACKUP = """
import sqlite3, sys
live, copy = map(sqlite3.connect, sys.argv[1:])
live.backup(copy)
"""


@dataclass(slots=True)
class Machine:
    """The stage with a server that may be up or down; `last` is what was last seen of each."""

    stage: Stage
    box: Path
    last: dict[str, dict[str, Any]] = field(default_factory=dict)
    _up: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    @property
    def world(self) -> World:
        """The sandbox's GitHub."""
        return self.stage.world

    async def start(self) -> None:
        """Start the server; one that is killed while starting is started again."""
        for _ in range(5):
            try:
                self.stage.process = await self._up.enter_async_context(running(self.stage))
            except RuntimeError:
                await self.down()
                continue
            (self.box / "server").write_text(str(self.stage.process.pid))
            return
        raise RuntimeError("the server does not start any more")

    def kill(self, how: int = signal.SIGKILL) -> None:
        """Kill (or freeze) the server this instant."""
        process = self.stage.process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, how)

    async def backup(self) -> Path:
        """Copy the store as an operator's backup does, while the server goes on."""
        copy = self.stage.folder / "placet.backup"
        copy.unlink(missing_ok=True)
        argv = [sys.executable, "-c", BACKUP, str(self.store), str(copy)]
        await (await asyncio.create_subprocess_exec(*argv)).wait()
        return copy

    def restore(self, copy: Path) -> None:
        """Put a backup in the place of the store, whose server is dead."""
        for name in (f"{self.store}-wal", f"{self.store}-shm"):
            Path(name).unlink(missing_ok=True)
        shutil.copy(copy, self.store)

    async def resume(self) -> None:
        """What an operator does after a restored backup: look, and let the repository go on."""
        with contextlib.suppress(RuntimeError):  # it may have been killed meanwhile
            await self.stage.operator("resume", "default")

    @property
    def store(self) -> Path:
        """The server's store."""
        return self.stage.folder / "placet.db"

    async def audit(self) -> str:
        """What an audit finds wrong, from a plain clone and the store; "" when it is clean."""
        clone = self.stage.folder / "clone"
        theirs = self.world.repository(REPOSITORY).git.path
        if self.world.repository(REPOSITORY).git.branch("placet/ledger") is None:
            return ""
        git = await asyncio.create_subprocess_exec("git", "clone", "-q", str(theirs), str(clone))
        await git.wait()
        key = self.store.with_name(self.store.name + ".key").read_bytes()
        words = ("--clone", str(clone), "--trust", Signer.from_pem(key).keyid)
        try:
            await self.stage.run("audit", *words, "--store", str(self.store))
        except RuntimeError as error:
            return str(error)
        return ""

    async def down(self) -> None:
        """Clear away what is left of the server."""
        await self._up.aclose()
        self._up = contextlib.AsyncExitStack()
        self.stage.process = None

    def http(self) -> httpx.AsyncClient:
        """The agent's connection."""
        headers = {"Authorization": f"Bearer {self.stage.token}"}
        return httpx.AsyncClient(
            base_url=self.stage.placet, headers=headers, timeout=5.0, transport=_plain()
        )

    async def look(self, id_: str) -> dict[str, Any] | None:
        """What the server says of a proposal; None while it is down.

        One that only a newer store knew is forgotten, and must have run at most once all the same.
        """
        try:
            async with self.http() as http:
                answer = await http.get(f"/v1/proposals/{id_}")
                said = answer.json()
        except (httpx.HTTPError, ValueError):
            return None
        self.last[id_] = {"status": FORGOTTEN} if answer.status_code == GONE else said
        return self.last[id_]

    def runs(self) -> Counter[int]:
        """How often the tool ran for each number."""
        file = self.box / "runs"
        return Counter(int(n) for n in file.read_text().split()) if file.exists() else Counter()

    def pulls(self, id_: str) -> int:
        """How many pull requests a proposal has."""
        found = self.world.repository(REPOSITORY).pulls.values()
        return sum(pull.head_ref == f"placet/p/{id_}" for pull in found)


@contextlib.asynccontextmanager
async def machine(folder: Path) -> AsyncIterator[Machine]:
    """Set the machine up in this folder, with the server running."""
    folder.mkdir(parents=True, exist_ok=True)
    box = folder / "box"
    box.mkdir()
    (box / "tool.py").write_text(SCRIPT)
    world = World(folder / "github")
    async with contextlib.AsyncExitStack() as stack:
        world.url = await stack.enter_async_context(served(create_app(world)))
        port = free_port()
        policy = POLICY.replace("crm.*", "box.*")
        app = people_and_repository(world, policy, f"http://127.0.0.1:{port}/webhook")
        here = Stage(folder, world, app, f"http://127.0.0.1:{port}")
        write_configuration(here, _tool(box))
        made = Machine(here, box)
        stack.push_async_callback(made.down)
        await made.start()
        added = await here.operator("agents", "add", AGENT, str(world.account("dana").id))
        here.token = added["token"]
        yield made
        await world.aclose()


def _tool(box: Path) -> str:
    argv = [sys.executable, "-I", "-S", str(box / "tool.py")]
    return f"""
[tool.{TOOL}]
kind = "command"
effect = "write"
summary = "Write line {{/arguments/n}}"
plan = {argv}
apply = {argv}
verify_command = {argv}
plan_env = {{BOX = "{box}"}}
apply_env = {{BOX = "{box}"}}
timeout = "3s"
arguments = {{type = "object", properties = {{n = {{type = "integer"}}}}, required = ["n"]}}
"""


def _plain() -> httpx.AsyncHTTPTransport:
    """A way to the server without TLS, whose certificates take long to load."""
    return httpx.AsyncHTTPTransport(verify=False)


async def asleep(seconds: float) -> None:
    """Let the others go on for a while."""
    await asyncio.sleep(seconds)
