"""`placet-sandbox` as a person runs it: start it, open what it prints, stop it."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

PATIENCE = 120.0  # seconds
PROGRAM = [sys.executable, "-c", "from sandbox.serve import main; main()"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [*PROGRAM, "--folder", str(tmp_path / "kept")]
    with (
        (tmp_path / "said").open("w") as said,
        subprocess.Popen(command, stdout=said, stderr=said, text=True) as process,
    ):
        yield process
        process.terminate()  # it takes Placet's process with it, which a kill would leave behind


def said(file: Path, by: subprocess.Popen[str]) -> str:
    """What it prints once everything runs."""
    deadline = time.monotonic() + PATIENCE
    while "Ctrl-C" not in (text := file.read_text()):
        assert by.poll() is None, text
        assert time.monotonic() < deadline, text
        time.sleep(0.1)
    return text


@pytest.mark.parametrize(
    "sign",
    [
        pytest.param(signal.SIGINT, id="ctrl-c"),
        pytest.param(signal.SIGTERM, id="terminated"),
    ],
)
def test_it_shows_itself_and_stops_clean(
    tmp_path: Path, running: subprocess.Popen[str], sign: signal.Signals
) -> None:
    text = said(tmp_path / "said", running)
    for status in ("waiting", "drifted", "applied"):
        assert re.search(rf"^ +{status} +http://\S+/pull/\d", text, re.MULTILINE), text
    page = re.search(r"http://\S+/pulls", text)
    placet = re.search(r"PLACET_URL=(\S+) PLACET_TOKEN=(\S+)", text)
    clone = re.search(r"git (clone .*\.git) ledger", text)
    assert page, text
    assert placet, text
    assert clone, text
    assert httpx.get(page[0].removesuffix("/acme/approvals/pulls")).is_success
    url, token = placet[1], placet[2]
    about = {"Authorization": f"Bearer {token}"}
    asked = httpx.get(f"{url}/v1/proposals", headers=about).raise_for_status().json()
    assert len(asked["proposals"]) == 3
    subprocess.run(["git", *clone[1].split(), str(tmp_path / "ledger")], check=True)
    assert list(tmp_path.glob("ledger/proposals/*/*/*/end.json"))
    running.send_signal(sign)
    assert running.wait(PATIENCE) == 0, text
    with pytest.raises(httpx.TransportError):
        httpx.get(url)
