"""What the gateway adds to a call: against the direct call and against a bare relay.

    make bench            (or .venv/bin/python benchmarks/gateway.py)

The same calendar on stdio, called directly, through a relay of sixty lines that only hands on, and
through Placet; client, relay, Placet and calendar are processes of their own. Median of one run on
this machine; the three take turns, so that whatever else goes on meets them alike.
"""

import asyncio
import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import uvicorn
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext

from sandbox.stage import Stage, stage

ROOT = Path(__file__).parents[1]
CALENDAR = ROOT / "tests" / "mcp_servers" / "cal.py"
ROUNDS, WARM, GATED = 300, 30, 10
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


@contextlib.contextmanager
def relaying(folder: Path) -> Any:
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
        yield f"http://127.0.0.1:{port}"
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


async def took(call: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    result = await call()
    spent = (time.perf_counter() - began) * 1000
    if result.is_error:
        raise RuntimeError(result.content)
    return spent


async def measured(folder: Path) -> tuple[dict[str, float], Stage]:
    """The median of each way, in milliseconds."""
    command = calendar(folder / "gateway")
    tools = TOOLS.format(command=command)
    async with (
        stage(folder / "town", POLICY, tools=lambda _: tools) as here,
        direct(folder / "direct") as plain,
        speaking(here.placet, Authorization=f"Bearer {here.token}") as gate,
        speaking(
            here.placet, Authorization=f"Bearer {here.token}", **{"Placet-Session": "bench"}
        ) as remembering,
    ):
        with relaying(folder / "relay") as url:
            async with speaking(url) as bare:
                event = {"id": "e1"}
                ways: dict[str, Callable[[], Awaitable[Any]]] = {
                    "direct, over stdio": lambda: plain.call_tool("list_events", {}),
                    "through a bare relay": lambda: bare.call_tool("list_events", {}),
                    "forwarded by Placet": lambda: gate.call_tool("cal__list_events", {}),
                    "repeated, from memory": lambda: remembering.call_tool("cal__get_event", event),
                }
                spent: dict[str, list[float]] = {name: [] for name in ways}
                for turn in range(WARM + ROUNDS):
                    for name, call in ways.items():
                        one = await took(call)
                        if turn >= WARM:
                            spent[name].append(one)
                spent |= await gated(gate)
                medians = {name: statistics.median(all_) for name, all_ in spent.items()}
                medians["memory"] = memory(here)
                return medians, here


async def gated(gate: Client) -> dict[str, list[float]]:
    """New gated calls, which wait for their page, and the same ones again."""
    first, again = [], []
    for number in range(GATED):
        asked = {"title": f"event {number}"}
        first.append(await took(lambda: gate.call_tool("cal__create_event", asked)))
        again.append(await took(lambda: gate.call_tool("cal__create_event", asked)))
    return {"gated, the first time": first, "gated, the same again": again}


def memory(here: Stage) -> float:
    status = Path(f"/proc/{here.process.pid if here.process else 0}/status")
    if not status.exists():
        return 0.0
    line = next(w for w in status.read_text().splitlines() if w.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def row(name: str, value: float, direct_ms: float, limit: float | None = None) -> None:
    added = value - direct_ms
    ratio = f"{added / limit:8.2f} of the limit {limit:g}" if limit else ""
    print(f"{name:32} {value:8.2f} ms  {added:+8.2f} ms to direct {ratio}")


def main() -> None:
    if sys.argv[1:2] == ["relay"]:
        asyncio.run(relay(int(sys.argv[2]), sys.argv[3:]))
        return
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        medians, _ = asyncio.run(measured(Path(name)))
    plain = medians["direct, over stdio"]
    limits = {
        "forwarded by Placet": FORWARDED_LIMIT_MS,
        "repeated, from memory": REPEAT_LIMIT_MS,
    }
    for name, value in medians.items():
        if name != "memory":
            row(name, value, plain, limits.get(name))
    print(f"{'memory of the gateway':32} {medians['memory']:8.1f} MB")


if __name__ == "__main__":
    main()
