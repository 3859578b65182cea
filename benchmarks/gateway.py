"""What the gateway adds to a call: against the direct call and against a bare relay.

    make bench            (or .venv/bin/python benchmarks/gateway.py)

The same calendar on stdio, called directly, through a relay of sixty lines that only hands on, and
through Placet; client, relay, Placet and calendar are processes of their own. Medians of one run on
this machine. "Work" is the processor time of the process between, which says what waiting and a
busy machine hide.
"""

import asyncio
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import uvicorn
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext

from sandbox.stage import stage

ROOT = Path(__file__).parents[1]
CALENDAR = ROOT / "tests" / "mcp_servers" / "cal.py"
ROUNDS, CALLS, WARM, GATED = 10, 50, 50, 10
EVENT = {"id": "e1"}
Call = Callable[[], Awaitable[Any]]
FORWARDED_LIMIT_MS, REPEAT_LIMIT_MS = 1.5, 2.0
POLICY = """\
version: 1
rules:
  - tools: ["cal.*"]
    require: [{approvals: 1}]
"""
TOOLS = """
[upstream.cal]
command = {command}
[tool.cal.list_events]
effect = "read"
[tool.cal.get_event]
effect = "read"
memo = "1h"
[tool.cal.create_event]
effect = "write"
touches = ["contact"]
"""


def calendar(folder: Path) -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "events.json").write_text('{"e1": {"id": "e1", "title": "standup"}}')
    return [sys.executable, str(CALENDAR), str(folder)]


# --- the bare relay, in a process of its own -------------------------------------------------


async def relay(port: int, command: list[str]) -> None:
    """Hand every listing and every call on, and look at nothing."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as upstream:
        await upstream.initialize()

        async def listed(_: ServerRequestContext, __: Any) -> types.ListToolsResult:
            return await upstream.list_tools()

        async def called(
            _: ServerRequestContext, asked: types.CallToolRequestParams
        ) -> types.CallToolResult:
            return await upstream.call_tool(asked.name, asked.arguments)

        server = Server("relay", version="1", on_list_tools=listed, on_call_tool=called)
        app = server.streamable_http_app(streamable_http_path="/mcp")
        config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve()


@dataclass(slots=True)
class Between:
    """The relay's process."""

    url: str
    pid: int


@contextlib.contextmanager
def relaying(folder: Path) -> Iterator[Between]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    argv = [sys.executable, __file__, "relay", str(port), *calendar(folder)]
    process = subprocess.Popen(argv)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield Between(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait()


# --- the clients -------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def speaking(url: str, **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode="legacy") as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def direct(folder: Path) -> AsyncIterator[Client]:
    command, *args = calendar(folder)
    async with Client(
        stdio_client(StdioServerParameters(command=command, args=args)), mode="legacy"
    ) as client:
        yield client


async def took(call: Call) -> float:
    began = time.perf_counter()
    result = await call()
    spent = (time.perf_counter() - began) * 1000
    if result.is_error:
        raise RuntimeError(result.content)
    return spent


@dataclass(slots=True)
class Way:
    """One way to make the same call, and what each call took."""

    name: str
    call: Call
    process: int = 0
    limit: float | None = None
    spent: list[float] = field(default_factory=list)
    busy: float = 0.0

    async def run(self, times: int) -> None:
        """Make the call some times; the processor time of the process between is counted too."""
        before = processor(self.process)
        self.spent += [await took(self.call) for _ in range(times)]
        self.busy += processor(self.process) - before

    def row(self, plain: float) -> str:
        """How long it takes, what it adds to the direct call, and the work of it."""
        median = statistics.median(self.spent)
        added = f"{median - plain:+8.2f} ms added" if self.process else " " * 17
        busy = f"{self.busy / len(self.spent):6.2f} ms of work" if self.process else ""
        part = (median - plain) / self.limit if self.limit else 0.0
        ratio = f"{part:6.2f} of the limit {self.limit:g}" if self.limit else ""
        return f"{self.name:24} {median:8.2f} ms {added} {busy:18} {ratio}".rstrip()


async def measured(folder: Path) -> list[str]:
    """A row for each way: they take turns, so that whatever else goes on meets them alike."""
    tools = TOOLS.format(command=calendar(folder / "gateway"))
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        here = await enter(stage(folder / "town", POLICY, tools=lambda _: tools))
        between = stack.enter_context(relaying(folder / "relay"))
        token = {"Authorization": f"Bearer {here.token}"}
        plain = await enter(direct(folder / "direct"))
        bare = await enter(speaking(between.url))
        gate = await enter(speaking(here.placet, **token))
        known = await enter(speaking(here.placet, **token, **{"Placet-Session": "bench"}))
        server = here.process.pid if here.process else 0
        ways = [
            Way("direct, over stdio", partial(plain.call_tool, "get_event", EVENT)),
            Way("through a bare relay", partial(bare.call_tool, "get_event", EVENT), between.pid),
            Way(
                "forwarded by Placet",
                partial(gate.call_tool, "cal__get_event", EVENT),
                server,
                FORWARDED_LIMIT_MS,
            ),
            Way(
                "repeated, from memory",
                partial(known.call_tool, "cal__get_event", EVENT),
                server,
                REPEAT_LIMIT_MS,
            ),
        ]
        for way in ways:
            await way.run(WARM)
            way.spent, way.busy = [], 0.0
        for _ in range(ROUNDS):
            for way in ways:
                await way.run(CALLS)
        ways += await gated(gate, server)
        median = statistics.median(ways[0].spent)
        weights = [f"{'memory of ' + what:24} {memory(pid):8.1f} MB" for what, pid in (
            ("the gateway", server), ("the bare relay", between.pid))]  # fmt: skip
        return [*(way.row(median) for way in ways), *weights]


async def gated(gate: Client, server: int) -> list[Way]:
    """New gated calls, which wait for their page, and the same ones again."""
    calls = [
        partial(gate.call_tool, "cal__create_event", {"title": f"event {number}"})
        for number in range(GATED)
    ]
    ways = [Way(f"gated, {how}", calls[0], server) for how in ("the first time", "the same again")]
    for way in ways:
        for way.call in calls:
            await way.run(1)
    return ways


def processor(process: int) -> float:
    """The processor time that a process has used, in milliseconds; 0 where nobody tells."""
    file = Path(f"/proc/{process}/stat")
    if not file.exists():
        return 0.0
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """The resident memory of a process in MB; 0 where nobody tells."""
    file = Path(f"/proc/{process}/status")
    if not file.exists():
        return 0.0
    line = next(w for w in file.read_text().splitlines() if w.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    if sys.argv[1:2] == ["relay"]:
        asyncio.run(relay(int(sys.argv[2]), sys.argv[3:]))
        return
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        print("\n".join(asyncio.run(measured(Path(name)))))


if __name__ == "__main__":
    main()
