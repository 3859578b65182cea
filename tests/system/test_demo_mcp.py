"""`make demo-mcp` says that it went well only when it did, and says what it lacks."""

import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-c", "from sandbox.demo.gateway import main; main()"]


def played(env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        PROGRAM, capture_output=True, text=True, timeout=240, check=False, env=env
    )


@pytest.mark.usefixtures("filesystem_server")
def test_the_gateway_plays_one_overwrite_through_before_a_real_server() -> None:
    done = played()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "demo-mcp: ok"
    assert done.stderr == ""


def test_without_node_it_says_so() -> None:
    done = played({"PATH": "/nowhere"})
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no node on this machine" in done.stderr
