"""The gateway over real HTTP, before a real calendar: what an agent sees, and what reaches it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import (
    ElicitRequestURLParams,
    ElicitResult,
    Implementation,
    ToolListChangedNotification,
)

from proposals.calls import Call, ConfirmationRequired, Denied, always_approve
from proposals.gate import Gate
from proposals.registry import Registry
from proposals.upstreams import Unreturned
from sandbox.stage import AGENT, REPOSITORY
from sandbox.testing import Town, town
from tests.mcp_servers.offered import calendar, calls
from tests.system.acting import approve
from tests.system.talking import ERAS, at, call, talking
from webhook_app.client import Placet
from webhook_app.doors.calling import gate
from webhook_app.doors.desk import Desk
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio
POLICY = """\
version: 1
rules:
  - tools: ["cal.*"]
    require: [{approvals: 1}]
"""


def toml(folder: Path) -> str:
    return f"""
[upstream.cal]
command = {list(calendar(folder))}

[tool.cal.list_events]
effect = "read"
memo = "60s"
[tool.cal.get_event]
effect = "read"
[tool.cal.picture]
effect = "read"
[tool.cal.slow]
effect = "read"
[tool.cal.crash]
effect = "read"
[tool.cal.big]
effect = "read"
[tool.cal.grow]
effect = "read"
[tool.cal.create_event]
effect = "write"
touches = ["contact"]
summary = "Create the event {{/arguments/title}}"
[[tool.cal.create_event.verify]]
tool = "cal.get_event"
args = {{id = {{from = "/result/structuredContent/id"}}}}
exists = true
[tool.cal.delete_event]
effect = "destructive"
touches = ["delete"]
"""


class Scene:
    """A town with a calendar, its agent, and what the calendar was asked."""

    def __init__(self, town: Town, folder: Path, url: str) -> None:
        self.town = town
        self.folder = folder
        self.url = url

    def asked(self, tool: str) -> int:
        """How often this tool of the calendar was called."""
        return sum(json.loads(line)["tool"] == tool for line in calls(self.folder))

    def talk(self, era: str, **more: Any) -> Any:
        return talking(self.url, self.town.token, era, **more)

    async def reject(self, said: dict[str, Any]) -> None:
        number = self.town.number(said)
        await self.town.person("lee").comment(REPOSITORY, number, "/reject not on a holiday")
        await self.town.over(said)


@pytest.fixture
async def scene(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Scene]:
    folder = tmp_path / "calendar"
    folder.mkdir()
    async with (
        town(tmp_path / "town", tools=toml(folder), policy=POLICY, wrap=judged) as here,
        at(here) as url,
    ):
        yield Scene(here, folder, url)


@pytest.fixture(params=ERAS)
async def agent(scene: Scene, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    async with scene.talk(request.param, session="s") as client:
        yield client


async def test_the_ticket_story(scene: Scene, agent: Client) -> None:
    """Search, search again, close, blocked, approved, closed once; the next search is a new one."""
    first = await call(agent, "cal__list_events", {})
    assert await call(agent, "cal__list_events", {}) == first == {"events": {}}
    assert scene.asked("list_events") == 1
    said = await call(agent, "cal__create_event", {"title": "standup"})
    assert (said["status"], said["executed"]) == ("awaiting_approval", False)
    assert scene.asked("create_event") == 0
    again = await call(agent, "cal__create_event", {"title": "standup"})
    assert again["proposal"] == said["proposal"]
    await approve(scene.town, said)
    done = await call(agent, "placet_status", {"proposal": said["proposal"]})
    assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
    receipt = await call(agent, "cal__create_event", {"title": "standup"})
    assert (receipt["status"], receipt["already_applied"]) == ("applied", True)
    assert scene.asked("create_event") == 1
    assert list((await call(agent, "cal__list_events", {}))["events"]) == ["e1"]
    metrics = scene.town.hall.metrics.text().decode()
    for status, times in {"executed": 2.0, "cache_hit": 1.0, "blocked": 3.0}.items():
        assert f'placet_calls_total{{status="{status}"}} {times}' in metrics


async def test_a_session_remembers_nothing_of_another(scene: Scene, agent: Client) -> None:
    await call(agent, "cal__list_events", {})
    async with scene.talk("legacy", session="other") as other:
        await call(other, "cal__list_events", {})
    async with scene.talk("legacy") as nameless:
        await call(nameless, "cal__list_events", {})
        await call(nameless, "cal__list_events", {})
        said = await call(nameless, "cal__create_event", {"title": "standup"})
    assert scene.asked("list_events") == 4
    assert said["turn_report"]["scope"] == "agent"


@pytest.mark.parametrize("name", ["io.github.placet/session", "vscode.conversationId"])
async def test_a_client_may_name_its_session_in_the_call(scene: Scene, name: str) -> None:
    async with scene.talk("legacy") as client:
        for _ in range(2):
            await client.call_tool("cal__list_events", {}, meta={name: "c-7"})
    assert scene.asked("list_events") == 1


async def test_nothing_of_the_callers_envelope_reaches_the_calendar(
    scene: Scene, agent: Client
) -> None:
    await agent.call_tool("cal__list_events", {}, meta={"secret": "s3cr3t", "traceparent": "00"})
    assert "s3cr3t" not in (scene.folder / "calls").read_text()
    assert json.loads(calls(scene.folder)[-1])["meta"] == []


async def test_what_is_listed_is_what_is_declared(agent: Client) -> None:
    tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert {"cal__create_event", "placet_status", "placet_list", "placet_withdraw"} <= set(tools)
    assert "cal__surroundings" not in tools
    create, read = tools["cal__create_event"], tools["cal__list_events"]
    assert create.annotations
    assert (create.annotations.destructive_hint, create.annotations.read_only_hint) == (True, False)
    assert "placet" in create.input_schema["properties"]
    assert "placet" not in read.input_schema["properties"]
    assert read.annotations
    assert read.annotations.read_only_hint is True


@pytest.mark.parametrize("era", ["legacy", "auto"])  # "auto" asks what the server is, in the newer
async def test_a_client_is_told_what_a_gated_call_is(scene: Scene, era: str) -> None:
    async with scene.talk(era) as client:
        assert (client.protocol_version == "2026-07-28") is (era == "auto")
        said = client.instructions or ""
    assert "calling one changes nothing by itself" in said
    assert "placet_status" in said


async def test_a_long_list_of_tools_comes_in_pages(tmp_path: Path) -> None:
    reads = "".join(
        f'[tool.own.look{n}]\nkind = "command"\neffect = "read"\nread = ["/bin/true"]\n'
        for n in range(300)
    )
    async with town(tmp_path / "town", tools=reads, policy=POLICY) as here, at(here) as url:
        for era in ERAS:
            async with talking(url, here.token, era) as client:
                first = await client.list_tools()
                assert (len(first.tools), first.next_cursor) == (250, "250")
                rest = await client.list_tools(cursor=first.next_cursor)
                assert rest.next_cursor is None
                names = {tool.name for tool in (*first.tools, *rest.tools)}
                assert names >= {f"own__look{n}" for n in range(300)}
                for wrong in ("-1", "9999", "x"):
                    with pytest.raises(MCPError, match="no such page"):
                        await client.list_tools(cursor=wrong)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cal__surroundings", id="undeclared"),
        pytest.param("cal.create_event", id="alias"),
        pytest.param("create_event", id="without-prefix"),
        pytest.param("CAL__create_event", id="other-case"),
        pytest.param("cal__create_event ", id="with-a-blank"),
        pytest.param("call_tool", id="a-generic-way-in"),
    ],
)
async def test_any_other_name_is_denied(scene: Scene, agent: Client, name: str) -> None:
    result = await agent.call_tool(name, {"title": "x"})
    said = result.structured_content
    assert isinstance(said, dict)
    assert (result.is_error, said["status"], said["executed"]) == (True, "denied", False)
    assert said["error"]["code"] == "unknown_tool"
    assert calls(scene.folder) == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param({"title": 5}, "bad_arguments", id="wrong-type"),
        pytest.param({"title": "x", "colour": "red"}, "unknown_argument", id="unknown"),
        pytest.param({"title": "x", "placet": {"yes": 1}}, "bad_placet_argument", id="reserved"),
        pytest.param({"title": "x", "placet": "yes"}, "bad_placet_argument", id="reserved-text"),
        pytest.param({"title": "x", "placet": {"key": "ü"}}, "bad_placet_argument", id="bad-key"),
        pytest.param(
            {"title": "x", "placet": {"confirm_token": "t"}}, "no_token_needed", id="a-token"
        ),
    ],
)
async def test_what_does_not_fit_asks_nobody(
    scene: Scene, agent: Client, arguments: dict[str, Any], code: str
) -> None:
    said = await call(agent, "cal__create_event", arguments)
    assert (said["status"], said["error"]["code"]) == ("denied", code)
    assert scene.town.store.proposals() == []


async def test_a_call_that_lacks_input_is_a_draft_until_it_is_let_go(
    scene: Scene, agent: Client
) -> None:
    said = await call(agent, "cal__create_event", {})
    assert (said["status"], said["error"]["code"]) == ("draft", "missing_argument")
    (draft,) = said["turn_report"]["pending_drafts"]
    gone = await call(agent, "placet_discard_draft", {"draft": draft["draft"]})
    assert gone["turn_report"]["pending_drafts"] == []
    assert scene.town.store.proposals() == []


async def test_a_read_that_fails_says_so_and_is_not_remembered(scene: Scene, agent: Client) -> None:
    for _ in range(2):
        result = await agent.call_tool("cal__get_event", {"id": "e9"})
        assert result.is_error
        assert result.content[0].text == "no such event"  # type: ignore[union-attr]
    assert scene.asked("get_event") == 2


async def test_images_and_links_come_through(agent: Client) -> None:
    result = await agent.call_tool("cal__picture", {})
    assert [block.type for block in result.content] == ["image", "resource_link"]


async def test_progress_comes_through_with_a_token_of_our_own(agent: Client) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def watch(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    await agent.call_tool("cal__slow", {"seconds": 0.2}, progress_callback=watch)
    assert (2.0, 4.0, "step 2") in seen


async def test_a_call_that_is_given_up_is_given_up_at_the_calendar(
    scene: Scene, agent: Client
) -> None:
    with pytest.raises(MCPError):
        await agent.call_tool("cal__slow", {"seconds": 30}, read_timeout_seconds=0.5)
    await agent.call_tool("cal__list_events", {})
    assert (scene.folder / "cancelled").exists()


async def test_a_calendar_that_dies_in_a_read_is_an_answer(agent: Client) -> None:
    result = await agent.call_tool("cal__crash", {})
    assert result.is_error
    assert result.structured_content["status"] == "failed"
    assert await call(agent, "cal__list_events", {}) == {"events": {}}


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_read_instead_may_be_a_tool_of_another_kind(tmp_path: Path, era: str) -> None:
    other = tmp_path / "other.py"
    other.write_text("import json\nprint(json.dumps({'result': {'events': ['old']}}))\n")
    tools = f"""
[upstream.cal]
command = {list(calendar(tmp_path))}
[tool.cal.crash]
effect = "read"
fallback = "old.events"
[tool.old.events]
kind = "command"
effect = "read"
read = {[sys.executable, "-I", "-S", str(other)]}
"""
    async with (
        town(tmp_path / "town", tools=tools) as here,
        at(here) as url,
        talking(url, here.token, era) as client,
    ):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["cal__crash"].output_schema is None
        assert await call(client, "cal__crash", {}) == {"events": ["old"]}


async def test_a_new_tool_is_told_and_not_offered(agent: Client) -> None:
    before = [tool.name for tool in (await agent.list_tools()).tools]
    await agent.call_tool("cal__grow", {})
    assert [tool.name for tool in (await agent.list_tools()).tools] == before
    said = await call(agent, "cal__grown", {})
    assert said["error"]["code"] == "unknown_tool"


async def test_clients_are_told_when_tools_change(scene: Scene) -> None:
    told: list[object] = []

    async def hear(message: object) -> None:
        told.append(message)

    async with scene.talk("legacy", message_handler=hear) as client:
        await client.call_tool("cal__grow", {"describe": "picture"})
        await scene.town.rest()
        for _ in range(200):
            if any(isinstance(m, ToolListChangedNotification) for m in told):
                break
            await client.call_tool("cal__picture", {})
    assert any(isinstance(m, ToolListChangedNotification) for m in told)


async def test_what_a_person_rejected_is_not_asked_again_for_an_hour(
    scene: Scene, agent: Client
) -> None:
    said = await call(agent, "cal__create_event", {"title": "party"})
    await scene.reject(said)
    for more in ({}, {"placet": {"key": "another"}}, {"placet": {"reason": "please"}}):
        again = await call(agent, "cal__create_event", {"title": "party", **more})
        assert (again["status"], again["proposal"]) == ("ended", said["proposal"])
        assert again["error"]["code"] == "rejected"
        assert "@lee rejected it" in again["say_to_user"]
    other = await call(agent, "cal__create_event", {"title": "party on Friday"})
    assert other["status"] == "awaiting_approval"
    scene.town.world.clock.advance(timedelta(minutes=61))
    late = await call(agent, "cal__create_event", {"title": "party"})
    assert late["proposal"] not in {said["proposal"], other["proposal"]}


async def test_a_plan_that_was_rejected_is_not_asked_again_by_another_agent(
    scene: Scene, agent: Client
) -> None:
    said = await call(agent, "cal__create_event", {"title": "party"})
    await scene.reject(said)
    here = scene.town
    here.store.add_agent("other-bot", token_hash("other"), frozenset({1}), here.world.clock.now())
    async with talking(scene.url, "other", "legacy") as other:
        again = await call(other, "cal__create_event", {"title": "party"})
    assert (again["status"], again["error"]["code"]) == ("ended", "rejected_before")
    assert again["pull_request"] is None


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_a_client_that_opens_addresses_is_offered_the_page_once_and_it_never_counts(
    scene: Scene, era: str, action: Any
) -> None:
    offered: list[str] = []

    async def elicited(_: object, params: ElicitRequestURLParams) -> ElicitResult:
        offered.append(params.url)
        return ElicitResult(action=action)

    async with scene.talk(era, elicitation_callback=elicited) as client:
        said = await call(client, "cal__create_event", {"title": "party"})
        again = await call(client, "cal__create_event", {"title": "party"})
    assert offered == [said["pull_request"]]
    await scene.town.rest()
    assert (said["status"], again["status"]) == ("awaiting_approval", "awaiting_approval")
    assert (await scene.town.seen(said))["status"] == "awaiting_approval"
    assert scene.asked("create_event") == 0


async def test_a_client_that_cannot_bear_destructive_marks_sees_none(scene: Scene) -> None:
    here = scene.town
    await here.stop()
    config = here.stage.config
    calm = '[server]\ncalm_clients = ["timid"]\n'
    config.write_text(config.read_text().replace("[server]\n", calm))
    await here.start()
    for name, marked in (("timid", False), ("bold", True)):
        client_info = Implementation(name=name, version="1")
        for era in ERAS:
            async with scene.talk(era, client_info=client_info) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            hints = tools["cal__delete_event"].annotations
            assert hints
            assert hints.destructive_hint is marked


async def test_a_proposal_is_waited_for_listed_and_taken_back(agent: Client) -> None:
    said = await call(agent, "cal__create_event", {"title": "party"})
    asked = {"proposal": said["proposal"]}
    waited = await call(agent, "placet_status", {**asked, "wait": 0.3})
    assert waited["status"] == "awaiting_approval"
    listed = await call(agent, "placet_list", {})
    assert [p["proposal"] for p in listed["proposals"]] == [said["proposal"]]
    gone = await call(agent, "placet_withdraw", {**asked, "reason": "no longer wanted"})
    assert (gone["status"], gone["error"]["code"]) == ("ended", "withdrawn")
    late = await call(agent, "placet_withdraw", asked)
    assert late["error"]["code"] == "already_over"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        pytest.param("placet_status", {"proposal": "p_0"}, "not_found", id="nobodys"),
        pytest.param("placet_status", {}, "bad_arguments", id="which"),
        pytest.param("placet_status", {"proposal": "p", "wait": 26}, "bad_arguments", id="long"),
        pytest.param("placet_list", {"agent": "x"}, "bad_arguments", id="others"),
    ],
)
async def test_our_own_tools_refuse_in_words(
    scene: Scene, tool: str, arguments: dict[str, Any], code: str
) -> None:
    async with scene.talk("legacy") as client:
        assert (await call(client, tool, arguments))["error"]["code"] == code


async def test_every_door_gives_one_call_the_same_result(scene: Scene, agent: Client) -> None:
    with Placet(scene.url, scene.town.token, session="s") as placet:
        ask = asyncio.to_thread
        read = await ask(placet.call, "cal.list_events", {})
        assert (read["status"], read["executed"]) == ("read", True)
        assert read["result"]["structuredContent"] == await call(agent, "cal__list_events", {})
        over_http = await ask(placet.call, "cal.create_event", {"title": "party"})
        over_mcp = await call(agent, "cal__create_event", {"title": "party"})
    assert over_http["status"] == "awaiting_approval"
    assert over_http == over_mcp | {"turn_report": over_http["turn_report"]}
    executor = gate(scene.town.hall)
    looked = Call("cal.list_events", {}, session="s", agent=AGENT)
    assert (await executor.call(looked)).value == read["result"]
    assert scene.asked("list_events") == 1
    with pytest.raises(ConfirmationRequired) as paused:
        await executor.call(Call("cal.create_event", {"title": "party"}, agent=AGENT))
    assert paused.value.proposal == over_mcp["proposal"]
    await approve(scene.town, over_mcp)
    status = await call(agent, "placet_status", {"proposal": over_mcp["proposal"]})
    assert (await executor.resume(paused.value.proposal)).value == status["result"]
    assert scene.asked("create_event") == 1


async def test_a_paused_call_that_people_rejected_is_denied_when_it_is_resumed(
    scene: Scene,
) -> None:
    executor = gate(scene.town.hall)
    with pytest.raises(ConfirmationRequired) as paused:
        await executor.call(Call("cal.create_event", {"title": "party"}, agent=AGENT))
    with pytest.raises(ConfirmationRequired):
        await executor.resume(paused.value.proposal)
    await scene.town.rest()
    await scene.reject({"proposal": paused.value.proposal})
    with pytest.raises(Denied) as denied:
        await executor.resume(paused.value.proposal)
    assert denied.value.code == "rejected"
    assert scene.asked("create_event") == 0


async def test_a_trusted_flow_runs_a_call_once_for_its_key(scene: Scene) -> None:
    hall = scene.town.hall
    entries = Registry(hall.ports.runner, lambda: hall.catalog)
    trusted = Gate(entries, Desk(hall), always_approve, memo=hall.ports.runner.memo)
    read = Call("cal.list_events", {}, session="s", agent=AGENT)
    make = Call("cal.create_event", {"title": "party"}, key="k", agent=AGENT)
    await trusted.call(read)
    assert await trusted.call(make) == await trusted.call(make)
    await trusted.call(read)
    assert (scene.asked("create_event"), scene.asked("list_events")) == (1, 2)
    (scene.folder / "fault").write_text("die")
    with pytest.raises(Unreturned):
        await trusted.call(replace(make, key="other"))
    assert scene.asked("create_event") == 2
