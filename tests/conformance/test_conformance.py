"""MCP's own conformance suite, at one server directly and through the gateway: the same comes out.

Whatever differs stands in baseline.toml with its reason.
"""

import asyncio
import json
import re
import sys
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from sandbox.stage import served
from sandbox.testing import Town, town

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
FIXTURE = [sys.executable, str(HERE / "fixture.py")]
MODULES = HERE / "node_modules"
NODE = MODULES / "node" / "bin" / "node"
BASELINE = tomllib.loads((HERE / "baseline.toml").read_text())
SUITES = {"handshake": (), "modern": ("--spec-version", "2026-07-28")}
TOOLS = re.findall(r"@mcp\.tool\(.*\)\n(?:async )?def (\w+)", (HERE / "fixture.py").read_text())
Checks = dict[str, dict[str, str]]
"""What the suite found: scenario -> check -> its status."""


def toml() -> str:
    reads = "".join(f'[tool.fixture.{name}]\neffect = "read"\n' for name in TOOLS)
    relay = ["resources", "prompts", "completion"]
    return f'[upstream.fixture]\ncommand = {FIXTURE}\nprefix = ""\nrelay = {relay}\n{reads}'


@pytest.fixture(params=SUITES)
def suite(request: pytest.FixtureRequest) -> str:
    program = MODULES / f"conformance-{request.param}" / "dist" / "index.js"
    if not (NODE.exists() and program.exists()):
        pytest.skip("npm: MCP's conformance suite and its node are missing")
    return str(request.param)


async def found(suite: str, address: str, folder: Path) -> Checks:
    """Run the whole suite against a server; what it found."""
    program = MODULES / f"conformance-{suite}" / "dist" / "index.js"
    argv = [program, "server", "--url", f"{address}/mcp", "--suite", "all", *SUITES[suite]]
    process = await asyncio.create_subprocess_exec(
        NODE,
        *argv,
        "--output-dir",
        folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 180)
    results: Checks = {}
    for file in await asyncio.to_thread(lambda: sorted(folder.glob("*/checks.json"))):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        checks = json.loads(file.read_text())
        results[scenario] = {check["id"]: check["status"] for check in checks}
    assert results, said.decode()
    return results


@asynccontextmanager
async def fixture() -> AsyncIterator[str]:
    """The fixture itself at an address."""
    process = await asyncio.create_subprocess_exec(
        *FIXTURE, "--http", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def gateway(here: Town) -> AsyncIterator[str]:
    """The gateway, for a client that cannot be told its token: it is put into each request."""
    token = (b"authorization", f"Bearer {here.token}".encode())

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and here.app is not None:
            await here.app(scope | {"headers": [*scope["headers"], token]}, receive, send)

    async with served(app) as url:  # type: ignore[arg-type]
        yield url


def worse(direct: Checks, through: Checks) -> dict[str, list[str]]:
    """Scenario -> the checks that come out otherwise through the gateway."""
    differs = {
        scenario: sorted(
            f"{check}: {direct[scenario].get(check)} -> {through.get(scenario, {}).get(check)}"
            for check in direct[scenario].keys() | through.get(scenario, {}).keys()
            if direct[scenario].get(check) != through.get(scenario, {}).get(check)
        )
        for scenario in direct
    }
    return {scenario: checks for scenario, checks in differs.items() if checks}


async def test_the_gateway_changes_nothing_but_what_stands_in_the_baseline(
    suite: str, tmp_path: Path, judged: Callable[[Any], Any]
) -> None:
    async with fixture() as address:
        direct = await found(suite, address, tmp_path / "direct")
    async with (
        town(tmp_path / "town", tools=toml(), wrap=judged) as here,
        gateway(here) as address,
    ):
        through = await found(suite, address, tmp_path / "through")
    assert len(direct) > 30
    assert len(through) == len(direct)
    differing = worse(direct, through)
    new = {name: checks for name, checks in differing.items() if name not in BASELINE[suite]}
    assert not new, json.dumps(new, indent=1)
    stale = BASELINE[suite].keys() - differing.keys()
    assert not stale, f"baseline.toml says that these differ, and they do not: {sorted(stale)}"
