"""`placet mcp --try -- COMMAND`: a first look before one's own server, with nothing set up."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from sandbox.testing import OVER
from tests.mcp_servers.offered import calendar, calls
from tests.system.talking import ERAS, call

pytestmark = pytest.mark.anyio
PROGRAM = ["-c", "from webhook_app.cli import main; main()", "mcp"]
PATIENCE = 60.0  # seconds


@asynccontextmanager
async def looking(
    said: Path, *server: str, era: str = "legacy", flag: str = "--try"
) -> AsyncIterator[Client]:
    """An MCP client whose one entry is the first look; what it says on stderr goes to a file."""
    program = StdioServerParameters(command=sys.executable, args=[*PROGRAM, flag, "--", *server])
    with said.open("w") as errlog:
        async with Client(stdio_client(program, errlog=errlog), mode=era) as client:
            yield client


async def over(client: Client, proposal: str) -> dict[str, Any]:
    """What the agent is told of its proposal once it is over."""
    deadline = time.monotonic() + PATIENCE
    while True:
        said = await call(client, "placet_status", {"proposal": proposal, "wait": 5})
        if said["status"] in OVER:
            return said
        assert time.monotonic() < deadline, said


def page(said: Path) -> str:
    """Where it says that people approve."""
    found = re.search(r"http://\S+/pulls", said.read_text())
    assert found, said.read_text()
    return found[0]


def gone(said: Path) -> bool:
    """Whether nothing answers where people approved, and its folder is no more."""
    place = re.search(r"The guesses are in (\S+)/placet.toml", said.read_text())
    assert place
    try:
        httpx.get(page(said))
    except httpx.TransportError:
        return not Path(place[1]).exists()
    return False


def approve(url: str) -> None:
    """Sign in as lee in a browser without scripts, open the pull request, and approve it."""
    origin = str(httpx.URL(url).copy_with(path="/"))
    with httpx.Client(base_url=origin, follow_redirects=True) as http:

        def sent(path: str, text: str, **fields: str) -> str:
            token = re.search(r'name="csrf" value="(\w+)"', text)
            assert token, text
            return http.post(path, data={"csrf": token[1], **fields}).raise_for_status().text

        front = http.get("/").text
        lee = re.search(r'value="(\d+)"(?:(?!value=).)*>lee<', front)
        assert lee, front
        sent("/_pages/sign-in", front, user=lee[1])
        shown = http.get(url).text
        commit = re.search(r'name="commit_id" value="(\w+)"', shown)
        assert commit, shown
        sent(f"{url}/review", shown, event="APPROVE", commit_id=commit[1])


async def test_a_read_passes_and_a_write_waits_for_the_sandbox(
    tmp_path: Path, filesystem_server: tuple[str, str]
) -> None:
    said, file = tmp_path / "said", tmp_path / "docs" / "a.txt"
    file.parent.mkdir()
    file.write_text("old\n")
    async with looking(said, *filesystem_server, str(file.parent)) as client:
        read = await call(client, "secure-filesystem__read_text_file", {"path": str(file)})
        assert read == {"content": "old\n"}
        asked = {"path": str(file), "content": "new\n"}
        waits = await call(client, "secure-filesystem__write_file", asked)
        assert (waits["status"], file.read_text()) == ("awaiting_approval", "old\n")
        assert waits["pull_request"].startswith(page(said).removesuffix("/pulls"))
        approve(waits["pull_request"])
        assert (await over(client, waits["proposal"]))["status"] == "applied"
        assert file.read_text() == "new\n"
    assert "done at once, as reads" in said.read_text()
    assert gone(said)


@pytest.mark.parametrize("era", ERAS)
async def test_nothing_of_it_is_left(tmp_path: Path, era: str) -> None:
    said = tmp_path / "said"
    async with looking(said, *calendar(tmp_path), era=era, flag="try") as client:
        assert await call(client, "calendar__list_events", {}) == {"events": {}}
        assert not gone(said)
    assert gone(said)


async def test_what_is_guessed_to_change_something_is_never_called_unasked(tmp_path: Path) -> None:
    async with looking(tmp_path / "said", *calendar(tmp_path)) as client:
        for name in ("create_event", "delete_event", "push_workout"):
            said = await call(client, f"calendar__{name}", {"title": "x", "id": "e1", "minutes": 1})
            assert said["executed"] in (False, None)
    assert not [line for line in calls(tmp_path) if '"create_event"' in line]
    assert not (tmp_path / "events.json").exists()


def test_a_signal_ends_it_and_what_it_started(tmp_path: Path) -> None:
    argv = [sys.executable, *PROGRAM, "--try", "--", *calendar(tmp_path)]
    with (tmp_path / "said").open("w") as errlog:
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errlog
        )
        deadline = time.monotonic() + PATIENCE
        while "placet.log" not in (tmp_path / "said").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert gone(tmp_path / "said")


@pytest.mark.parametrize(
    ("server", "words"),
    [
        pytest.param(["false"], "did not say what tools it has", id="a-server-that-ends"),
        pytest.param(["/nowhere/x"], "did not say what tools it has", id="no-such-program"),
        pytest.param([], "Missing argument", id="no-server-at-all"),
    ],
)
def test_a_server_that_cannot_be_tried_is_told_in_a_sentence(server: list[str], words: str) -> None:
    argv = [sys.executable, *PROGRAM, "--try", "--", *server]
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert words in done.stderr
    assert "Traceback" not in done.stderr
