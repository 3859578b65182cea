"""Fixtures for every test: the judge is always on."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.golden_files import GOLDEN, compare
from tests.groups import pytest_runtest_makereport, pytest_terminal_summary
from tests.judge import Judge
from tests.judged import App, JudgedApp

__all__ = ["pytest_runtest_makereport", "pytest_terminal_summary"]

NODE_MODULES = Path(__file__).parent.parent / ".node" / "node_modules"
NODE_SERVERS = Path(__file__).parent / "mcp_servers" / "node" / "node_modules"
CANONICALIZE = """
const canonicalize = require("canonicalize");
process.stdout.write(canonicalize(JSON.parse(require("fs").readFileSync(0, "utf8"))));
"""

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
# For `make mutants` an example need only fail; making it small would take a minute each time.
QUICK = (Phase.explicit, Phase.generate)
settings.register_profile("mutants", deadline=None, derandomize=True, phases=QUICK)
profile = "ci" if os.environ.get("CI") else "local"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or profile)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files and generated pages instead of comparing them",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`golden(text, "name.md")`: what people read equals tests/golden/name.md, byte for byte."""
    update = bool(request.config.getoption("--update-golden"))

    def check(text: str, name: str, folder: Path = GOLDEN) -> None:
        compare(text, folder / name, update=update)

    return check


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium for the browser tests."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("browser: there is no Chromium on this machine")


@pytest.fixture(scope="session")
def node_canonicalize() -> Callable[[bytes], bytes]:
    """RFC 8785 by somebody else's code: the npm package canonicalize, JSON bytes in and out."""
    env = {"NODE_PATH": str(NODE_MODULES)} | os.environ

    def run(document: bytes) -> bytes:
        command = ["node", "-e", CANONICALIZE]
        done = subprocess.run(command, input=document, env=env, capture_output=True, check=True)
        return done.stdout

    try:
        run(b"{}")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("npm: node or its package canonicalize is not installed")
    return run


@pytest.fixture(scope="session")
def filesystem_server() -> tuple[str, str]:
    """The command of MCP's own filesystem server, to which folders are added as arguments."""
    program = NODE_SERVERS / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
    node = shutil.which("node")
    if node is None or not program.exists():
        pytest.skip("npm: node or the package @modelcontextprotocol/server-filesystem is missing")
    return node, str(program)


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge.load()


@pytest.fixture
def judged(judge: Judge) -> Iterator[Callable[[App], JudgedApp]]:
    """Wrap an ASGI application; the test fails if GitHub's descriptions disagree with it."""
    wrapped: list[JudgedApp] = []

    def wrap(app: App) -> JudgedApp:
        wrapped.append(JudgedApp(app, judge))
        return wrapped[-1]

    yield wrap
    problems = [problem for app in wrapped for problem in app.problems]
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
