"""How long the server takes to get ready, what it weighs, and what the main job costs.

    make bench            (or .venv/bin/python benchmarks/server.py)

Prints figures of one run on this machine; compare runs of one machine only.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sandbox.stage import stage

READY_LIMIT_S, MEMORY_LIMIT_MB = 2.0, 150.0


async def ready() -> float:
    """Seconds from the start of the server's process to its first ready answer."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        async with stage(Path(folder) / "a") as here:
            return here.ready_after


def demo() -> dict[str, object]:
    """The demo's own account of itself."""
    code = "from sandbox.demo import main; main()"
    argv = [sys.executable, "-c", code, "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def row(name: str, value: float, unit: str, limit: float | None = None) -> None:
    ratio = f"{value / limit:8.2f} of the limit {limit:g}" if limit else ""
    print(f"{name:44} {value:10.2f} {unit:4} {ratio}")


def main() -> None:
    seconds = sorted(asyncio.run(ready()) for _ in range(3))
    row("server ready, median of 3", seconds[1], "s", READY_LIMIT_S)
    began = time.monotonic()
    told = demo()
    row("demo, set-up included", time.monotonic() - began, "s", 30)
    row(
        "server's resident memory after the demo",
        float(str(told["memory_mb"])),
        "MB",
        MEMORY_LIMIT_MB,
    )
    for proposal in told["proposals"]:  # type: ignore[attr-defined]
        name = f"requests, {proposal['surface']}, {proposal['state']}"
        row(
            name,
            sum(proposal["requests"].values()),
            "",
            24 if proposal["surface"] == "review" else 18,
        )
        if proposal["approval_to_applied_ms"]:
            row(
                f"approval to applied, {proposal['surface']}",
                proposal["approval_to_applied_ms"],
                "ms",
            )


if __name__ == "__main__":
    main()
