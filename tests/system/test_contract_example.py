"""The example file of the contract, as it stands, before the servers that it is about.

Those are MCP's own filesystem server, as npm has it, and a calendar at an address.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from proposals.calls import Call, Denied, always_approve
from proposals.gate import Gate
from proposals.registry import Registry
from sandbox.stage import AGENT
from sandbox.testing import Town, town
from tests.mcp_servers.offered import calendar
from tests.system.acting import approve
from tests.system.talking import ERAS, at, call, talking
from webhook_app.doors.calling import gate
from webhook_app.doors.desk import Desk

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parent.parent / "data" / "contract.toml"
POLICY = """\
version: 1
rules:
  - tools: ["*"]
    require: [{approvals: 1}]
    expires: 4h
"""
OWN = ("fs.get_file_info", "cal.get_event", "cal.delete_event")
"""Named by the example's recipes, and declared nowhere."""


def example(filesystem: tuple[str, str], docs: Path, address: str) -> str:
    """The upstreams and tools of the example, with its two places in the world filled in."""
    text = EXAMPLE.read_text()
    text = text[text.index("[upstream.fs]") :]
    places = {
        'command = ["node", "dist/index.js", "/srv/docs"]': f"command = {[*filesystem, str(docs)]}",
        'url = "https://cal.example/mcp"': f'url = "{address}"',
    }
    for before, after in places.items():
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """A calendar at an address, which asks for a token."""
    (tmp_path / "cal").mkdir()
    argv = calendar(tmp_path / "cal", http=True)
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, env={"TOKEN": "s3cret"}
    )
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    await process.wait()


@pytest.fixture
async def here(
    tmp_path: Path,
    filesystem_server: tuple[str, str],
    address: str,
    judged: Callable[[Any], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Town]:
    monkeypatch.setenv("CAL_TOKEN", "Bearer s3cret")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("old\n")
    tools = example(filesystem_server, docs, address)
    async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as made:
        assert made.hall.upstreams() == {"fs": "", "cal": ""}
        yield made


async def undone(here: Town, seen: dict[str, Any]) -> dict[str, Any]:
    """Ask for the undo as the agent does, and have it approved."""
    async with here.http() as http:
        asked = await http.post(f"/v1/proposals/{seen['proposal']}/undo", json={})
    undo = asked.raise_for_status().json()
    await here.until(undo, lambda p: p.place is not None)
    await here.rest()
    return await approve(here, await here.seen(undo))


async def test_a_file_is_overwritten_only_when_approved_and_can_be_put_back(
    here: Town, tmp_path: Path
) -> None:
    file = tmp_path / "docs" / "a.txt"
    seen = await here.propose("fs.write_file", {"path": str(file), "content": "new\n"})
    assert (seen["status"], file.read_text()) == ("awaiting_approval", "old\n")
    done = await approve(here, seen)
    assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
    assert file.read_text() == "new\n"
    back = await undone(here, done)
    assert (back["status"], file.read_text()) == ("applied", "old\n")


async def test_a_file_that_changes_after_the_plan_is_not_overwritten(
    here: Town, tmp_path: Path
) -> None:
    file = tmp_path / "docs" / "a.txt"
    seen = await here.propose("fs.write_file", {"path": str(file), "content": "new\n"})
    file.write_text("somebody else's\n")
    done = await approve(here, seen)
    assert (done["status"], done["error"]["code"]) == ("ended", "drifted")
    assert file.read_text() == "somebody else's\n"


async def test_a_new_file_has_no_way_back(here: Town, tmp_path: Path) -> None:
    file = tmp_path / "docs" / "b.txt"
    done = await approve(
        here, await here.propose("fs.write_file", {"path": str(file), "content": "b"})
    )
    assert (done["status"], file.read_text()) == ("applied", "b")
    async with here.http() as http:
        asked = await http.post(f"/v1/proposals/{done['proposal']}/undo", json={})
    said = asked.json()
    assert "the server has no delete" in str(said)


async def test_an_edit_is_shown_by_its_own_dry_run(here: Town, tmp_path: Path) -> None:
    file = tmp_path / "docs" / "a.txt"
    edits = [{"oldText": "old", "newText": "edited"}]
    seen = await here.propose("fs.edit_file", {"path": str(file), "edits": edits})
    assert re.search(r"-old\n\+edited", str(here.kept(seen).plan.plan["preview"]))
    assert any("preview is not isolated" in warning for warning in seen["warnings"])
    assert file.read_text() == "old\n"
    done = await approve(here, seen)
    assert (done["status"], file.read_text()) == ("applied", "edited\n")


async def test_the_dry_run_flag_is_not_the_agents(here: Town, tmp_path: Path) -> None:
    file = tmp_path / "docs" / "a.txt"
    asked = {"path": str(file), "edits": [{"oldText": "old", "newText": "x"}], "dryRun": False}
    refused = await here.ask("fs.edit_file", asked)
    assert (refused.status_code, refused.json()["code"]) == (422, "flag_not_yours")
    assert file.read_text() == "old\n"


async def test_a_move_goes_there_and_back(here: Town, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    places = {"source": str(docs / "a.txt"), "destination": str(docs / "moved.txt")}
    done = await approve(here, await here.propose("fs.move_file", places))
    assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
    assert (docs / "moved.txt").read_text() == "old\n"
    back = await undone(here, done)
    assert (back["status"], (docs / "a.txt").read_text()) == ("applied", "old\n")


async def test_an_event_is_created_at_an_address_and_deleted_again(
    here: Town, tmp_path: Path
) -> None:
    seen = await here.propose("cal.create_event", {"title": "Review", "attendees": ["lee"]})
    done = await approve(here, seen)
    assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
    assert done["result"]["structuredContent"]["id"] == "e1"
    back = await undone(here, done)
    assert back["status"] == "applied"
    events = json.loads((tmp_path / "cal" / "events.json").read_text())
    assert events == {}


async def test_a_workout_is_pushed_once_its_dry_run_was_approved(
    here: Town, tmp_path: Path
) -> None:
    seen = await here.propose("cal.push_workout", {"title": "Run", "minutes": 30})
    assert here.kept(seen).plan.plan["preview"]["dry_run"] is True
    assert not (tmp_path / "cal" / "events.json").exists()
    done = await approve(here, seen)
    assert done["result"]["structuredContent"]["dry_run"] is False
    assert "w-Run" in (tmp_path / "cal" / "events.json").read_text()


@pytest.mark.parametrize("name", OWN)
async def test_what_recipes_alone_name_no_agent_can_call_at_any_door(here: Town, name: str) -> None:
    asked: dict[str, Any] = {"path": "a.txt", "id": "e1"}
    refused = await here.ask(name, asked)
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_tool")
    async with here.http() as http:
        called = await http.post("/v1/calls", json={"tool": name, "arguments": asked})
        listed = (await http.get("/v1/tools")).raise_for_status().json()["tools"]
    assert called.json()["code"] == "unknown_tool"
    assert name not in str([tool["name"] for tool in listed])
    with pytest.raises(Denied, match="is declared"):
        await gate(here.hall).call(Call(name, asked, AGENT))
    approving = Registry(here.hall.ports.runner, lambda: here.hall.catalog)
    with pytest.raises(Denied, match="is declared"):
        await Gate(approving, Desk(here.hall), always_approve).call(Call(name, asked, AGENT))


@pytest.mark.parametrize("era", ERAS)
async def test_what_recipes_alone_name_is_not_listed_over_mcp(here: Town, era: str) -> None:
    async with at(here) as url, talking(url, here.token, era) as agent:
        listed = {tool.name for tool in (await agent.list_tools()).tools}
        assert "fs__move_file" in listed
        for name in (*OWN, *(name.replace(".", "__") for name in OWN)):
            said = await call(agent, name, {})
            assert (said["status"], said["error"]["code"]) == ("denied", "unknown_tool")
            assert name not in listed


@pytest.mark.parametrize("era", ERAS)
async def test_no_header_of_an_agent_and_not_its_token_reaches_a_server(
    here: Town, tmp_path: Path, era: str
) -> None:
    asked = {"title": "Run", "minutes": 30}
    async with at(here) as url, talking(url, here.token, era, session="own-conversation") as agent:
        await agent.call_tool("cal__push_workout", asked, meta={"traceparent": "00-of-the-agent"})
    seen = (tmp_path / "cal" / "calls").read_text()
    assert "Bearer s3cret" in seen  # the server's own
    for word in (here.token, "own-conversation", "of-the-agent"):
        assert word not in seen


@pytest.mark.parametrize("era", ERAS)
async def test_an_agents_roots_open_no_other_folder(here: Town, tmp_path: Path, era: str) -> None:
    """This server takes the folders that it may touch from its client's roots."""
    (tmp_path / "secret.txt").write_text("nobody's business")
    root = types.Root(uri=f"file://{tmp_path}")

    async def roots(_: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[root])

    async with at(here) as url, talking(url, here.token, era, list_roots_callback=roots) as agent:
        path = str(tmp_path / "secret.txt")
        said = await agent.call_tool("fs__read_text_file", {"path": path})
    assert said.is_error
    assert "nobody's business" not in str(said)
