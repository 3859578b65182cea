"""The mcp library is loaded when somebody comes in, and not before."""

import subprocess
import sys

import pytest


def loaded(module: str, *names: str) -> list[str]:
    """Which of these modules a fresh interpreter has loaded after importing one."""
    code = f"import sys, {module}; print(*[n for n in {list(names)} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_server_that_nobody_talks_mcp_to_does_not_load_it() -> None:
    assert loaded("webhook_app.app", "mcp", "mcp_types") == []


@pytest.mark.parametrize("module", ["fastapi", "githubkit", "sqlite_utils", "structlog"])
def test_the_bridge_needs_nothing_of_the_server(module: str) -> None:
    assert loaded("webhook_app.doors.mcp.bridge", module) == []
