"""`make demo-loop`: the loop over real doors, and the end at which everybody says the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.demo.play import Play, Telling, Unexpected
from sandbox.demo_loop.club import talk
from sandbox.testing import Town
from webhook_app.client import AsyncPlacet, Placet

DEMO = "from sandbox.demo_loop import main; main()"


def test_the_demo_of_the_loop_ends_well_and_says_so(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", DEMO, "--keep", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "demo-loop: ok"
    assert any("FAILED: SQLite says: database is locked." in line for line in lines)
    assert lines[-2].strip() == "The register: {'Ann': 1990, 'Cleo': 1979}"


@pytest.mark.anyio
async def test_the_demo_notices_a_report_that_is_not_what_the_store_says(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    with Placet("http://placet", here.token) as agent:
        async with AsyncPlacet("http://placet", here.token, transport=here.transport()) as placet:
            club = talk(Play(here.stage, agent, Telling(silent=True)), placet, "s")
            club.told = {seen["proposal"]: "awaiting_approval"}
            assert await club.agrees() == club.told
            club.told = {seen["proposal"]: "applied"}
            with pytest.raises(Unexpected, match="the store says"):
                await club.agrees()
