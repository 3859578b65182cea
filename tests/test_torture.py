"""The torture in its short form, as part of the suite."""

import asyncio
from pathlib import Path

from sandbox.torture import run


def test_killed_at_five_moments_nothing_runs_twice_and_nothing_is_lost(tmp_path: Path) -> None:
    book = asyncio.run(run(tmp_path / "torture", kills=5, seconds=60.0, seed=1))
    assert (book.double, book.lost, book.wrong) == ([], [], []), book.table()
    assert book.kills > 0
    assert book.asked
    assert book.states["applied"] + book.states["failed"] + book.states["ended"] == len(book.asked)
