"""The proof that a preview changes nothing, and what approvers read before and after it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.testing import Town, town
from tests.mcp_servers.offered import calendar
from webhook_app.doors.operator import operators_app

pytestmark = pytest.mark.anyio
POLICY = """\
version: 1
rules:
  - tools: ["cal.*"]
    require: [{approvals: 1}]
"""
WORKOUT = {"title": "Run", "minutes": 30}
READ = {"tool": "cal.list_events", "arguments": {}}
CLOCK = "import json, time; print(json.dumps({'result': str(time.time_ns())}))"
ISOLATED = "The preview is not isolated"


def toml(folder: Path, *, shown: bool = True) -> str:
    """The calendar; with `shown` False its operator took the flag for its opposite."""
    return f"""
[upstream.cal]
command = {list(calendar(folder))}
[tool.cal.list_events]
effect = "read"
[tool.cal.surroundings]
effect = "read"
[tool.cal.get_event]
effect = "read"
absent = "no such event"
[tool.cal.grow]
effect = "read"
[tool.cal.create_event]
effect = "write"
[tool.cal.push_workout]
effect = "write"
forbid = ["dry_run"]
preview = {{set = {{dry_run = {str(shown).lower()}}}, take = "/structuredContent"}}
apply = {{set = {{dry_run = {str(not shown).lower()}}}}}
[tool.own.clock]
kind = "command"
effect = "read"
read = {json.dumps([sys.executable, "-I", "-S", "-c", CLOCK])}
"""


@pytest.fixture
async def here(
    tmp_path: Path, judged: Callable[[Any], Any], request: pytest.FixtureRequest
) -> AsyncIterator[Town]:
    (tmp_path / "cal").mkdir()
    tools = toml(tmp_path / "cal", **getattr(request, "param", {}))
    async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as made:
        yield made


async def operator(here: Town, path: str, body: Any = None, app: Any = None) -> httpx.Response:
    transport = httpx.ASGITransport(app=app or operators_app(here.app))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://placet") as http:
        return await http.post(path, json=body)


@dataclass(frozen=True)
class Ran:
    exit_code: int
    stdout: str


async def placet(here: Town, *words: str) -> Ran:
    """The command line, in a process beside the server."""
    argv = [sys.executable, "-c", "from webhook_app.cli import main; main()"]
    process = await asyncio.create_subprocess_exec(
        *argv, *words, "--config", str(here.stage.config), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, said.decode())


async def checked(here: Town, *more: str) -> Ran:
    arguments = ("--arguments", json.dumps(WORKOUT), "--wait", "0")
    return await placet(here, "tools", "check", "cal.push_workout", *arguments, *more)


async def warnings(here: Town, title: str = "Run") -> list[str]:
    seen = await here.propose("cal.push_workout", WORKOUT | {"title": title})
    return list(seen["warnings"])


async def test_a_proven_preview_needs_no_warning_and_a_restart_forgets_nothing(
    here: Town,
) -> None:
    assert ISOLATED in (await warnings(here))[0]
    done = await checked(here, "--read", "cal.list_events", "--json")
    assert done.exit_code == 0, done.stdout
    said = json.loads(done.stdout)
    assert (said["proven"], said["changed"]) == (True, [])
    assert said["reads"] == ["read 1 (cal.list_events)"]
    assert not any(ISOLATED in said for said in await warnings(here, "Swim"))
    await here.stop()
    await here.start()
    assert not any(ISOLATED in said for said in await warnings(here, "Ride"))
    listed = json.loads((await placet(here, "tools", "check", "--json")).stdout)
    assert listed == {"previews": {"cal.push_workout": "proven"}}
    whole = await placet(here, "tools")
    assert "push_workout" in whole.stdout
    assert "proven" in whole.stdout


async def test_a_tool_that_changes_must_be_proven_again(here: Town) -> None:
    assert (await checked(here, "--read", "cal.list_events")).exit_code == 0
    tool = here.hall.catalog.find("cal.push_workout")
    grow = here.hall.catalog.find("cal.grow")
    await here.hall.ports.runner.read(grow, {"describe": "push_workout"})
    async with asyncio.timeout(20):
        while here.hall.catalog.find("cal.push_workout").definition == tool.definition:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert ISOLATED in (await warnings(here))[0]
    assert "not proven" in (await placet(here, "tools", "check")).stdout


@pytest.mark.parametrize("here", [{"shown": False}], indirect=True)
async def test_a_preview_that_changes_something_is_found(here: Town, tmp_path: Path) -> None:
    done = await checked(here, "--read", "cal.list_events")
    assert done.exit_code == 1
    assert "NOT a preview: with cal.push_workout something changed." in done.stdout
    assert "CHANGED  read 1 (cal.list_events)" in done.stdout
    assert "w-Run" in (tmp_path / "cal" / "events.json").read_text()
    assert here.store.proofs() == []


async def test_what_changes_only_later_is_found_by_the_last_reading(
    here: Town, tmp_path: Path
) -> None:
    assert (await checked(here, "--read", "cal.list_events")).exit_code == 0
    app = operators_app(here.app)  # type: ignore[arg-type]
    body = {"tool": "cal.push_workout", "arguments": WORKOUT, "reads": [READ]}
    begun = (await operator(here, "/previews", body, app)).raise_for_status().json()
    assert (begun["changed"], begun["proven"]) == ([], False)
    (tmp_path / "cal" / "events.json").write_text('{"w-Run": {"id": "w-Run"}}')
    again = await operator(here, f"/previews/{begun['trial']}/again", None, app)
    said = again.raise_for_status().json()
    assert (said["changed"], said["proven"]) == (["read 1 (cal.list_events)"], False)
    assert here.store.proofs() == []
    assert ISOLATED in (await warnings(here))[0]
    twice = await operator(here, f"/previews/{begun['trial']}/again", None, app)
    assert (twice.status_code, twice.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"tool": "cal.nothing"}, "unknown_tool", id="unknown"),
        pytest.param({"tool": "cal.create_event"}, "no_preview", id="no-preview"),
        pytest.param({"reads": []}, "nothing_to_compare", id="nothing-to-compare"),
        pytest.param({"arguments": {"title": "x"}}, "missing_argument", id="arguments"),
        pytest.param({"arguments": WORKOUT | {"dry_run": False}}, "flag_not_yours", id="flag"),
        pytest.param(
            {"reads": [{"tool": "cal.create_event", "arguments": {"title": "x"}}]},
            "not_readable",
            id="a-write-is-no-read",
        ),
        pytest.param(
            {"reads": [{"tool": "cal.get_event", "arguments": {"id": 5}}]},
            "not_readable",
            id="bad-read",
        ),
        pytest.param(
            {"reads": [{"tool": "cal.get_event", "arguments": {"id": {"from": "/x"}}}]},
            "bad_read",
            id="a-reference",
        ),
        pytest.param({"reads": [READ, {"tool": "own.clock"}]}, "unsteady", id="varies-by-itself"),
        pytest.param({"reads": [{"tool": "x"}] * 17}, "bad_request", id="too-many"),
    ],
)
async def test_what_cannot_be_checked_is_refused(
    here: Town, tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    body = {"tool": "cal.push_workout", "arguments": WORKOUT, "reads": [READ]} | changes
    refused = await operator(here, "/previews", body)
    assert refused.json()["code"] == code
    assert here.store.proofs() == []
    assert not (tmp_path / "cal" / "events.json").exists()


async def test_what_is_not_there_is_a_reading_too(here: Town) -> None:
    read = 'cal.get_event={"id": "w-Run"}'
    done = await checked(here, "--read", read)
    assert done.exit_code == 0, done.stdout
    assert "the same  read 1 (cal.get_event)" in done.stdout


async def test_a_server_that_is_gone_is_no_proof(here: Town, tmp_path: Path) -> None:
    app = operators_app(here.app)  # type: ignore[arg-type]
    body = {"tool": "cal.push_workout", "arguments": WORKOUT, "reads": [READ]}
    begun = (await operator(here, "/previews", body, app)).raise_for_status().json()
    (tmp_path / "cal" / "events.json").write_text("no JSON")
    again = await operator(here, f"/previews/{begun['trial']}/again", None, app)
    assert (again.status_code, again.json()["code"]) == (409, "not_readable")
    assert here.store.proofs() == []


async def test_the_doctor_names_what_is_not_proven_and_falls_silent(here: Town) -> None:
    before = json.loads((await placet(here, "doctor", "--json")).stdout)["findings"]
    said = {one["check"]: one for one in before}
    assert (said["server"]["ok"], said["upstream cal"]["ok"]) == (True, True)
    assert said["GitHub App"]["ok"], said["GitHub App"]["says"]
    unproven = said["preview of cal.push_workout"]
    assert (unproven["ok"], "placet tools check" in unproven["says"]) == (False, True)
    assert (await checked(here, "--read", "cal.list_events")).exit_code == 0
    after = json.loads((await placet(here, "doctor", "--json")).stdout)["findings"]
    assert "preview of cal.push_workout" not in {one["check"] for one in after}
