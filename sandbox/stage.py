"""The stage of the demo, of `make sandbox` and of whole-system tests: a GitHub, a Placet, people.

Everything is real but GitHub: a Placet server as its own process, a SQLite database that the tool
changes, and the sandbox's GitHub with real git repositories, all on 127.0.0.1.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from sandbox.github import World, create_app
from sandbox.github.model import App
from sandbox.tools import crm

REPOSITORY = "acme/approvals"
SHOP = "acme/shop"  # another repository of theirs, whose pull requests a call may be tied to
TOOL = "crm.deactivate_customers"
AGENT = "cleanup-bot"
SECRET = "a-secret-of-this-machine-only"  # noqa: S105 (both sides of it are on this machine)
PERMISSIONS = {
    "contents": "write",
    "pull_requests": "write",
    "checks": "write",
    "issues": "read",
    "members": "read",
}
EVENTS = ("pull_request", "pull_request_review", "issue_comment", "check_run", "push")
POLICY = """\
# Who may approve what. The first rule that matches a tool decides; no rule means nobody can.
version: 1
rules:
  - tools: ["crm.*"]
    require: [{approvals: 1}]
    permission: write
    expires: 4h
"""


@dataclass(slots=True)
class Stage:
    """Where everything is; `token` is the agent's."""

    folder: Path
    world: World
    app: App
    placet: str
    token: str = ""
    process: asyncio.subprocess.Process | None = None
    source: Path | None = None
    """The folder whose copy of Placet is the server; None: this one."""
    ready_after: float = 0.0
    """Seconds from the start of the server's process to its first ready answer."""

    @property
    def github(self) -> str:
        """The address of the sandbox's GitHub."""
        return self.world.url

    @property
    def database(self) -> Path:
        """The database that the tool changes."""
        return self.folder / "crm.db"

    @property
    def config(self) -> Path:
        """The server's configuration."""
        return self.folder / "placet.toml"

    def active(self) -> set[int]:
        """The customers that are active in the database right now."""
        return crm.active(self.database)

    def deactivate_by_hand(self, customer: int) -> None:
        """What somebody else does to the database meanwhile."""
        crm.deactivate(self.database, customer)

    async def counts(self) -> dict[str, int]:
        """What the server has in each state and still to do, as its operator is told."""
        socket_ = httpx.AsyncHTTPTransport(uds=str(self.folder / "placet.db.sock"))
        async with httpx.AsyncClient(transport=socket_, base_url="http://placet") as http:
            return dict((await http.get("/status")).raise_for_status().json()["counts"])

    async def operator(self, *words: str) -> Any:
        """Run one of the operator's commands; its answer as data. RuntimeError when it fails."""
        return json.loads(await self.run(*words, "--config", str(self.config), "--json"))

    async def run(self, *words: str) -> str:
        """Run one command of Placet in a process of its own; RuntimeError when it fails."""
        argv = [*_program(), *words]
        done = await asyncio.create_subprocess_exec(*argv, stdout=-1, stderr=-1)
        said, complaint = await done.communicate()
        if done.returncode:
            raise RuntimeError((complaint or said).decode(errors="replace").strip())
        return said.decode()


@contextlib.asynccontextmanager
async def stage(
    folder: Path,
    policy: str = POLICY,
    *,
    tools: Callable[["Stage"], str] | None = None,
    ports: tuple[int, int] = (0, 0),
) -> AsyncIterator[Stage]:
    """Set everything up in this folder, run it, and stop it at the end.

    `tools` declares those of another story than the customers'. `ports` are those of GitHub and of
    Placet; one that is taken, or 0, gives way to a free one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    world = World(folder / "github")
    async with contextlib.AsyncExitStack() as stack:
        world.url = await stack.enter_async_context(served(create_app(world), ports[0]))
        port = free_port(ports[1])
        app = people_and_repository(world, policy, f"http://127.0.0.1:{port}/webhook")
        here = Stage(folder, world, app, f"http://127.0.0.1:{port}")
        crm.make(here.database)
        write_configuration(here, (tools or _tools)(here))
        here.process = await stack.enter_async_context(running(here))
        added = await here.operator("agents", "add", AGENT, str(world.account("dana").id))
        here.token = added["token"]
        stack.push_async_callback(world.aclose)
        yield here


def people_and_repository(world: World, policy: str, hook: str) -> App:
    """Let acme found its repositories for approvals and for its shop, and install Placet there."""
    for login in ("dana", "lee", "noor", "sam"):
        world.add_user(login)
    world.add_organisation("acme", owners=["noor"])
    world.add_team("acme", "data", members=["lee", "noor"])
    world.add_repository(
        REPOSITORY,
        files={"README.md": "# Approvals\n", ".github/placet.yml": policy},
        collaborators={"dana": "write", "lee": "write", "noor": "admin", "sam": "read"},
    )
    world.add_repository(
        SHOP,
        files={"README.md": "# Shop\n"},
        collaborators={"dana": "write", "lee": "write", "noor": "admin", "sam": "read"},
    )
    app = world.add_app(
        "placet", permissions=PERMISSIONS, events=EVENTS, webhook_secret=SECRET, hook_url=hook
    )
    world.install(app, "acme", [REPOSITORY, SHOP])
    return app


def write_configuration(here: Stage, tools: str) -> None:
    """Write what an operator writes: the App's key and placet.toml."""
    key = here.folder / "app.pem"
    key.write_text(here.app.private_key)
    key.chmod(0o600)
    here.config.write_text(_server(here) + tools)


class _Server(uvicorn.Server):
    """A server that leaves signals to the program that it is a part of."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def served(app: FastAPI, port: int = 0) -> AsyncIterator[str]:
    """Serve an application on 127.0.0.1, on this port or on a free one; its address."""
    listening = _listening(port)
    # Deliveries and pages wait for nobody at the end.
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=1,
        date_header=False,  # the sandbox dates its answers itself
        server_header=False,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
        await asyncio.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@contextlib.asynccontextmanager
async def running(here: Stage) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run Placet's server as its own process until the end; its log goes to placet.log."""
    began = time.monotonic()
    with (here.folder / "placet.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *_program(),
            "serve",
            "--config",
            str(here.config),
            stdout=log,
            stderr=log,
            cwd=here.source,
            env=_environment(),
        )
    try:
        await _ready(here, process)
        here.ready_after = time.monotonic() - began
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(here: Stage, process: asyncio.subprocess.Process) -> None:
    async with httpx.AsyncClient() as http:
        for _ in range(3000):
            if process.returncode is not None:
                break
            with contextlib.suppress(httpx.TransportError):
                if (await http.get(f"{here.placet}/readyz")).is_success:
                    return
            await asyncio.sleep(0.01)
    log = (here.folder / "placet.log").read_text(errors="replace")
    raise RuntimeError(f"Placet's server did not get ready. Its log ends with:\n{log[-2000:]}")


def free_port(wanted: int = 0) -> int:
    """A port of 127.0.0.1 that nobody uses right now: the wanted one if possible."""
    with contextlib.closing(_listening(wanted)) as listening:
        return int(listening.getsockname()[1])


def _listening(port: int) -> socket.socket:
    try:
        made = socket.create_server(("127.0.0.1", port))
    except OSError:
        made = socket.create_server(("127.0.0.1", 0))
    # asyncio sets this for sockets that it makes itself. Without it the second half of an answer
    # waits 40 ms for the first to be acknowledged; what is accepted here inherits it.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _program() -> list[str]:
    return [sys.executable, "-c", "from webhook_app.cli import main; main()"]


def _environment() -> Mapping[str, str]:
    kept = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH", "COVERAGE_PROCESS_START")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _server(here: Stage) -> str:
    acme, repository = here.world.account("acme").id, here.world.repository(REPOSITORY).id
    return f"""\
[server]
url = "{here.placet}"
port = {here.placet.rsplit(":", 1)[1]}
app_id = {here.app.id}
private_key_file = "app.pem"
webhook_secret = "{SECRET}"
accounts = [{acme}]
store = "placet.db"
api_url = "{here.github}"
html_url = "{here.github}"
writes_per_minute = 0

[repository.default]
id = {repository}
"""


def _tools(here: Stage) -> str:
    return deactivating(here.database) + f'targets = ["{SHOP}"]\n'


def deactivating(database: Path) -> str:
    """The example tool over this database, as placet.toml declares it; keys can be added to it."""
    uri = database.resolve().as_uri()
    return f"""
[tool.{TOOL}]
kind = "python"
effect = "destructive"
module = "sandbox.tools.customers"
summary = "Deactivate {{count:customer}} in crm.db"
plan_env = {{DATABASE = "{uri}?mode=ro"}}
apply_env = {{DATABASE = "{uri}?mode=rw"}}
timeout = "30s"
"""
