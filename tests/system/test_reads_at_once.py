"""Reads of one agent run a few at a time: each may be a process of its own."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from sandbox.testing import town
from webhook_app.doors.hall import READS

pytestmark = pytest.mark.anyio
READ = """
import json, os, sys, time
from pathlib import Path
here = Path(sys.argv[1])
mine = here / str(os.getpid())
mine.touch()
while not (here / "go").exists():
    time.sleep(0.01)
seen = len(list(here.glob("[0-9]*")))
mine.unlink()
print(json.dumps({"result": seen}))
"""


async def test_no_more_than_a_few_reads_of_an_agent_run_at_once(tmp_path: Path) -> None:
    script, running = tmp_path / "read.py", tmp_path / "running"
    script.write_text(READ)
    running.mkdir()
    argv = json.dumps([sys.executable, "-I", "-S", str(script), str(running)])
    tools = f'[tool.box.look]\nkind = "command"\neffect = "read"\nread = {argv}\n'
    async with town(tmp_path / "town", tools=tools) as here, here.http() as http:
        body = {"tool": "box.look", "arguments": {}}
        asked = [asyncio.create_task(http.post("/v1/calls", json=body)) for _ in range(READS + 4)]
        async with asyncio.timeout(30):
            while len(list(running.iterdir())) < READS:  # noqa: ASYNC110 (other processes)
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        assert len(list(running.iterdir())) == READS
        (running / "go").touch()
        said = [(await one).json() for one in asked]
        assert [one["status"] for one in said] == ["read"] * len(asked)
        assert max(one["result"] for one in said) <= READS
