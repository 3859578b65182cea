"""A group of tests that could not run is named, and fails where it is required."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUITE = """
import pytest

def test_runs(): pass

def test_clicks(): pytest.skip("browser: no Chromium here")

@pytest.mark.skip(reason="npm: no node here")
def test_recomputes(): pass

def test_other(): pytest.skip("not on this platform: none of our groups")
"""


def run(folder: Path, **env: str) -> tuple[int, list[str]]:
    (folder / "test_suite.py").write_text(SUITE)
    alone = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qra", "-p", "tests.groups", *alone, str(folder)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "COLUMNS": "200"} | env,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_skipped_groups_are_named_right_above_the_last_line(tmp_path: Path) -> None:
    code, lines = run(tmp_path)
    assert code == 0
    assert lines[-3].startswith("NOT RUN: 1 test of the group 'browser'")
    assert lines[-2].startswith("NOT RUN: 1 test of the group 'npm'")
    assert lines[-1].startswith("1 passed, 3 skipped")


@pytest.mark.parametrize(
    ("group", "last"),
    [
        pytest.param("browser", "1 failed, 1 passed, 2 skipped", id="skipped-while-running"),
        pytest.param("npm", "1 passed, 2 skipped, 1 error", id="skipped-by-a-mark-or-fixture"),
    ],
)
def test_a_required_group_that_is_skipped_fails(tmp_path: Path, group: str, last: str) -> None:
    code, lines = run(tmp_path, **{f"PLACET_REQUIRE_{group.upper()}": "1"})
    assert code == 1
    assert any(f"PLACET_REQUIRE_{group.upper()} is set, but: Skipped: {group}:" in x for x in lines)
    assert lines[-1].startswith(last)
