"""From a person's approval to the start of the tool, and what a proposal costs in requests.

    make bench            (or .venv/bin/python benchmarks/approving.py)

The real server as a process of its own over the sandbox's GitHub, without pacing. The clock starts
when GitHub sends the approval's delivery, and stops when the tool's own process runs its first
line for the apply: the second plan, both looks and the start statement lie in between.
"""

import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

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

LIMIT_MS, PROPOSALS, REQUESTS = 150.0, 8, 18
TOOL = """
import json, sys, time
began = time.time()
asked = json.load(sys.stdin)
n = asked["arguments"]["n"]
if asked["verb"] == "apply":
    with open("{began}", "a") as file:
        file.write(f"{{n}} {{began}}\\n")
    print(json.dumps({{"ok": True, "result": n}}))
elif asked["verb"] == "plan":
    print(json.dumps({{"effects": [{{"what": f"line {{n}}", "before": None, "after": n}}]}}))
else:
    print(json.dumps({{"verdict": "verified", "checks": []}}))
"""


def declared(folder: Path) -> str:
    """The tool as placet.toml declares it; pacing is off, as for a GitHub without limits."""
    (folder / "tool.py").write_text(TOOL.format(began=folder / "began"))
    argv = [sys.executable, "-I", "-S", str(folder / "tool.py")]
    return f"""
[tool.crm.mark]
kind = "command"
effect = "write"
summary = "Mark {{/arguments/n}}"
plan = {argv}
apply = {argv}
verify_command = {argv}
arguments = {{type = "object", properties = {{n = {{type = "integer"}}}}, required = ["n"]}}
"""


async def one(here: Stage, http: httpx.AsyncClient, n: int, surface: str) -> tuple[float, int]:
    """One proposal from the call to its receipt: ms to the start, and requests to GitHub."""
    before = len(here.world.log.entries)
    body = {"tool": "crm.mark", "arguments": {"n": n}}
    said = (await http.post("/v1/proposals", json=body)).raise_for_status().json()
    path = f"/v1/proposals/{said['proposal']}"
    seen = await until(http, path, "awaiting_approval")
    number = int(seen["pull_request"].rsplit("/", 1)[1])
    repo, lee = here.world.repository(REPOSITORY), here.world.person("lee")
    approved = time.time()
    if surface == "review":
        await lee.review(REPOSITORY, number, "APPROVE")
    elif surface == "comment":
        await lee.comment(REPOSITORY, number, "/approve")
    else:
        run = next(r for r in repo.checks.values() if r.external_id == said["proposal"])
        await lee.press(run.id, "approve")
    await until(http, path, "applied")
    while (await here.counts())["outbox"]:  # noqa: ASYNC110 (another process has it)
        await asyncio.sleep(0.02)
    began = dict(line.split() for line in (here.folder / "began").read_text().splitlines())
    asked = Counter(str(e.template) for e in here.world.log.entries[before:] if e.app_id)
    tokens = sum(count for path, count in asked.items() if path.endswith("access_tokens"))
    return (float(began[str(n)]) - approved) * 1e3, asked.total() - tokens


async def until(http: httpx.AsyncClient, path: str, status: str) -> dict[str, Any]:
    """Wait for a proposal to be so far."""
    for _ in range(3000):
        seen: dict[str, Any] = (await http.get(path)).json()
        if seen["status"] == status and seen["pull_request"]:
            return seen
        await asyncio.sleep(0.01)
    raise SystemExit(f"it never was {status}: {json.dumps(seen)[:500]}")


async def measured(folder: Path) -> dict[str, list[tuple[float, int]]]:
    """What each surface took, proposal by proposal; the first one of all is warm-up."""
    world = World(folder / "github")
    async with contextlib.AsyncExitStack() as stack:
        world.url = await stack.enter_async_context(served(create_app(world)))
        port = free_port()
        app = people_and_repository(world, POLICY, f"http://127.0.0.1:{port}/webhook")
        here = Stage(folder, world, app, f"http://127.0.0.1:{port}")
        write_configuration(here, declared(folder))
        await stack.enter_async_context(running(here))
        stack.push_async_callback(world.aclose)
        here.token = (await here.operator("agents", "add", AGENT, str(world.account("dana").id)))[
            "token"
        ]
        headers = {"Authorization": f"Bearer {here.token}"}
        http = httpx.AsyncClient(base_url=here.placet, headers=headers, timeout=30.0)
        await stack.enter_async_context(http)
        await one(here, http, 0, "review")
        surfaces = ("review", "button", "comment")
        found: dict[str, list[tuple[float, int]]] = {surface: [] for surface in surfaces}
        for n in range(1, PROPOSALS * len(surfaces) + 1):
            surface = surfaces[n % len(surfaces)]
            found[surface].append(await one(here, http, n, surface))
        return found


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        found = asyncio.run(measured(Path(name)))
    for surface, each in found.items():
        took = sorted(ms for ms, _ in each)
        p50, worst, asked = statistics.median(took), took[-1], max(n for _, n in each)
        print(
            f"approval to apply, {surface:8} p50 {p50:7.1f} ms ({p50 / LIMIT_MS:.2f} of the limit)"
            f"   slowest {worst:7.1f} ms   requests {asked} (limit {REQUESTS})"
        )
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
