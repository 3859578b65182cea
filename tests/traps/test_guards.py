"""Without any one of the guards the job named beside it breaches: the traps can tell."""

from pathlib import Path

import pytest

from sandbox.traps.place import place
from sandbox.traps.running import Trials, chosen
from tests.traps.guards import GUARDS, Cut, Guard, without

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.guard.replace(" ", "-"))
async def test_without_it_a_job_breaches(guard: Guard, tmp_path: Path) -> None:
    source = without(guard, tmp_path / "source")
    [job] = chosen([guard.job])
    async with place(tmp_path / "place", source) as here:
        count = await Trials(here).scripted(job)
    assert count.breaches > 0


def test_a_guard_that_stands_elsewhere_now_is_not_taken_for_one(tmp_path: Path) -> None:
    moved = Guard("none", "none", Cut("checks/rules.py", "no such line", ""))
    with pytest.raises(LookupError, match="0 times"):
        without(moved, tmp_path)
