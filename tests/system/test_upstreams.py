"""Tools of other people's servers, from the proposal to its end, while the servers misbehave."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from proposals.tools import Tool
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.mcp_servers.offered import calendar, calls
from tests.system.acting import approve
from tests.system.conftest import POLICY as BOX_POLICY
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

POLICY = BOX_POLICY.replace('"box.*"', '"cal.*"')


def program(folder: Path) -> Path:
    """The calendar's program, which a test can take away."""
    return folder / "calendar_server.py"


def toml(folder: Path) -> str:
    python, _, place = calendar(folder)
    return f"""
[upstream.cal]
command = {[python, str(program(folder.parent)), place]}
[upstream.gone]
command = ["./no-such-program"]

[tool.cal.surroundings]
effect = "read"
[tool.cal.list_events]
effect = "read"
[tool.cal.grow]
effect = "read"
[tool.cal.create_event]
effect = "write"
touches = ["contact"]
verify = [{{tool = "cal.list_events", take = "/structuredContent/events/e1", exists = true}}]
[tool.gone.tool]
effect = "write"
"""


@pytest.fixture
async def there(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    """A town with a calendar, and with an upstream that cannot be started."""
    (tmp_path / "cal").mkdir()
    program(tmp_path).symlink_to(calendar(tmp_path)[1])
    tools = toml(tmp_path / "cal")
    async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as made:
        yield made


async def read(here: Town, name: str, **arguments: Any) -> Any:
    heard = await here.hall.ports.runner.read(here.hall.catalog.find(name), arguments)
    return heard.value["structuredContent"] if isinstance(heard.value, dict) else None


def created(folder: Path) -> int:
    return sum('"tool": "create_event"' in line for line in calls(folder / "cal"))


async def test_the_server_starts_although_an_upstream_is_down_and_says_which(there: Town) -> None:
    async with there.http() as http:
        ready = (await http.get("/readyz")).json()
        metrics = (await http.get("/metrics")).text
    assert ready["upstreams"] == {"cal": True, "gone": False}
    assert 'placet_upstream_up{upstream="cal"} 1.0' in metrics
    assert 'placet_upstream_up{upstream="gone"} 0.0' in metrics


async def test_a_tool_of_an_upstream_that_is_down_is_refused_with_try_again(there: Town) -> None:
    refused = (await there.ask("gone.tool", {})).json()
    assert (refused["code"], refused["hint"]) == ("upstream_down", "Try again later.")


async def test_an_approved_call_is_made_once_and_read_back(there: Town, tmp_path: Path) -> None:
    done = await approve(there, await there.propose("cal.create_event", {"title": "Review"}))
    assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
    assert created(tmp_path) == 1


async def test_a_server_that_dies_in_a_write_leaves_it_to_the_read_back(
    there: Town, tmp_path: Path
) -> None:
    seen = await there.propose("cal.create_event", {"title": "Review"})
    (tmp_path / "cal" / "fault").write_text("die")
    done = await approve(there, seen)
    assert done["status"] in ("unknown", "applied")
    assert created(tmp_path) == 1
    assert list((await read(there, "cal.list_events"))["events"]) == ["e1"]


async def test_a_tool_that_its_server_describes_otherwise_is_drift(
    there: Town, tmp_path: Path
) -> None:
    seen = await there.propose("cal.create_event", {"title": "Review"})
    before = there.hall.catalog.find("cal.create_event")
    await read(there, "cal.grow", describe="create_event")
    async with asyncio.timeout(30):
        while there.hall.catalog.find("cal.create_event") is before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    done = await approve(there, seen)
    assert (done["status"], done["error"]["code"]) == ("ended", "tool_changed")
    assert created(tmp_path) == 0


async def test_an_upstream_that_is_down_when_it_is_approved_is_waited_for(
    there: Town, tmp_path: Path
) -> None:
    seen = await there.propose("cal.create_event", {"title": "Review"})
    pid = (await read(there, "cal.surroundings"))["pid"]
    program(tmp_path).unlink()
    os.kill(pid, signal.SIGKILL)
    await there.person("lee").review(REPOSITORY, there.number(seen), "APPROVE")
    await there.until(seen, lambda p: p.why.startswith("The upstream cal is down"))
    assert there.kept(seen).state == "open"
    assert created(tmp_path) == 0


async def test_a_tool_that_changes_between_the_last_plan_and_the_run_is_not_run(
    tmp_path: Path, box: Box, judged: Callable[[Any], Any]
) -> None:
    at_the_start: list[Callable[[], None]] = []

    def turning(app: Any) -> Any:
        inner = judged(app)

        async def called(scope: Any, receive: Any, send: Any) -> None:
            if scope["method"] == "PUT" and scope["path"].endswith("/start.json"):
                for act in at_the_start:
                    act()
            await inner(scope, receive, send)

        return called

    async with town(tmp_path / "town", tools=box.toml(), wrap=turning, policy=BOX_POLICY) as here:
        seen = await here.propose("box.add", {"n": 1})
        catalog = here.hall.catalog

        def change() -> None:
            tool: Tool = catalog.find("box.add")
            catalog.publish(tool.model_copy(update={"summary": "Something else"}))

        at_the_start.append(change)
        done = await approve(here, seen)
        assert (done["status"], box.runs, box.value) == ("failed", 0, 1)
        assert "changed the tool at the last moment" in done["error"]["message"]
