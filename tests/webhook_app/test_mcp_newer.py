"""Upstreams that know no handshake: servers that speak 2026-07-28 and nothing older."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proposals.tools import BadArguments
from proposals.upstreams import PROGRESS, Unreached, Unreturned
from tests.mcp_servers.offered import TOOLS, calendar, calls
from tests.webhook_app.test_mcp_upstreams import SERVER, Scene, running

pytestmark = pytest.mark.anyio
NEAR = {"cal": TOOLS | {"near": {"effect": "read"}, "grown": {"effect": "read"}}}


@asynccontextmanager
async def listening(folder: Path, status: str) -> AsyncIterator[str]:
    """The calendar at an address, where a handshake is refused with this status."""
    process = await asyncio.create_subprocess_exec(
        *calendar(folder, http=True), stdout=asyncio.subprocess.PIPE, env={"NEWER": status}
    )
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


@pytest.fixture(params=["stdio", "400", "404"])
async def newer(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    if request.param == "stdio":
        cal = {"command": calendar(tmp_path), "env": {"NEWER": "400"}}
        async with running(tmp_path, NEAR, cal=cal) as made:
            yield made
        return
    async with (
        listening(tmp_path, request.param) as url,
        running(tmp_path, NEAR, cal={"url": url}) as made,
    ):
        yield made


async def test_its_tools_are_listed_and_called(newer: Scene) -> None:
    assert newer.upstreams.down() == {"cal": ""}
    assert await newer.said("cal.list_events") == {"events": {}}
    assert (await newer.said("cal.create_event", title="Standup"))["id"] == "e1"
    assert (await newer.call("cal.get_event", id="nothing")).error == "no such event"
    with pytest.raises(BadArguments, match='no argument "titel"'):
        newer.catalog.find("cal.create_event").validate({"titel": "x"})
    published = newer.catalog.find("cal.list_events").published
    assert published["server"] == {"name": "calendar", "version": "1.0"}


async def test_nothing_but_who_asks_goes_with_a_call(newer: Scene) -> None:
    await newer.said("cal.list_events")
    assert json.loads(calls(newer.folder)[-1])["meta"] == []


async def test_arguments_that_a_schema_wants_in_headers_stand_there(newer: Scene) -> None:
    assert await newer.said("cal.near", region="Rhône — south") == {"region": "Rhône — south"}


async def test_changed_tools_are_heard_of(newer: Scene) -> None:
    assert not newer.catalog.find("cal.grown").published
    await newer.said("cal.grow")
    await newer.until(lambda: newer.catalog.find("cal.grown").published)
    assert await newer.said("cal.grown") == {"events": {}}
    old = newer.catalog.find("cal.get_event")
    await newer.said("cal.grow", describe="get_event")
    await newer.until(lambda: newer.catalog.find("cal.get_event") != old)
    with pytest.raises(Unreached, match="differently now"):
        await newer.upstreams.call(old, {"id": "e1"}, None)


async def test_progress_is_told(newer: Scene) -> None:
    told: list[float] = []

    async def watch(progress: float, _total: float | None, _message: str | None) -> None:
        told.append(progress)

    token = PROGRESS.set(watch)
    try:
        await newer.said("cal.slow", seconds=0.2)
    finally:
        PROGRESS.reset(token)
    assert told == [0, 1, 2, 3]


async def test_a_call_that_is_given_up_is_cancelled_there(newer: Scene) -> None:
    work = asyncio.create_task(newer.call("cal.slow", seconds=30))
    await newer.until(lambda: any('"slow"' in line for line in calls(newer.folder)))
    work.cancel()
    await newer.until((newer.folder / "cancelled").exists)


async def test_a_server_that_dies_in_a_change_leaves_it_unknown_and_comes_back(
    tmp_path: Path,
) -> None:
    cal: dict[str, Any] = {"command": calendar(tmp_path), "env": {"NEWER": "400"}}
    async with running(tmp_path, NEAR, SERVER, cal=cal) as made:
        (tmp_path / "fault").write_text("die")
        with pytest.raises(Unreturned):
            await made.call("cal.create_event", title="Standup")
        assert list((await made.said("cal.list_events"))["events"]) == ["e1"]


async def test_a_server_that_knows_neither_era_is_down_for_its_first_reason(tmp_path: Path) -> None:
    async with (
        listening(tmp_path, "403") as url,
        running(tmp_path, {"cal": TOOLS}, cal={"url": f"{url}/nowhere"}) as made,
    ):
        assert "HTTP status 403" in made.upstreams.down()["cal"]
