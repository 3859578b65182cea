"""What MCP costs a server that has none of it, and what is left when a server is killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.mcp_servers.offered import hostile

ROOT = Path(__file__).parents[2]
MAKE = """
import asyncio, os, sys
from pathlib import Path
from proposals.tools import Catalog
from webhook_app.settings import Upstream
from webhook_app.toolkits.mcp import McpUpstreams
"""


def python(*lines: str) -> subprocess.CompletedProcess[str]:
    code = "\n".join(lines)
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_a_server_without_mcp_servers_does_not_load_the_library() -> None:
    told = python(
        "import sys, webhook_app.app",
        MAKE,
        "McpUpstreams({}, Path(), {})",
        "print([name for name in ('mcp', 'mcp_types', 'httpx2') if name in sys.modules])",
    )
    assert told.stdout == "[]\n", told.stderr


def test_without_the_extra_the_start_is_refused_with_what_to_install() -> None:
    told = python(
        "import sys",
        "sys.modules['mcp'] = None",
        MAKE,
        "McpUpstreams({'fs': Upstream(command=('x',))}, Path(), {})",
    )
    assert told.stderr.splitlines()[-1].endswith("Run: pip install placet[mcp]")


@pytest.mark.skipif(not Path("/usr/bin/setpriv").exists(), reason="needs setpriv of util-linux")
@pytest.mark.parametrize(
    "then",
    [
        pytest.param(f"exec(open({hostile()[-1]!r}).read())", id="reads-on"),
        pytest.param("time.sleep(600)", id="reads-nothing"),
    ],
)
def test_a_server_that_is_killed_leaves_no_children(tmp_path: Path, then: str) -> None:
    told = tmp_path / "pid"
    child = f"""
import os, time
with open({f"{told}.new"!r}, "w") as file:
    file.write(str(os.getpid()))
os.rename({f"{told}.new"!r}, {str(told)!r})
{then}
"""
    code = f"""{MAKE}
async def main():
    upstream = Upstream(command=(sys.executable, "-c", {child!r}))
    upstreams = McpUpstreams({{"bad": upstream}}, Path(), dict(os.environ))
    asyncio.get_running_loop().create_task(upstreams.start(Catalog.of(())))
    await asyncio.sleep(600)
asyncio.run(main())
"""
    placet = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        while not told.exists():
            assert placet.poll() is None
            time.sleep(0.01)
    finally:
        placet.send_signal(signal.SIGKILL)
        placet.wait()
    patience = 30.0
    while alive(int(told.read_text())):
        patience -= 0.01
        assert patience > 0, "the child outlived us"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"
