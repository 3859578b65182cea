"""Real MCP servers as upstreams: what comes of a call, whatever becomes of the server meanwhile."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proposals.tools import BadArguments, BadDeclaration, Catalog, Tool, declared
from proposals.upstreams import PROGRESS, Heard, Unreached, Unreturned
from tests.mcp_servers.offered import TOOLS, calendar, calls, hostile
from webhook_app.settings import Upstream
from webhook_app.toolkits.mcp import McpUpstreams

pytestmark = pytest.mark.anyio

SERVER = {k: os.environ[k] for k in ("PATH", "HOME", "LANG") if k in os.environ}
SERVER |= {"PLACET_PRIVATE_KEY": "nobody's business", "CAL_TOKEN": "t0ken"}


class Scene:
    """Some upstreams and the catalog of the tools declared of them."""

    def __init__(self, upstreams: McpUpstreams, catalog: Catalog, folder: Path) -> None:
        self.upstreams = upstreams
        self.catalog = catalog
        self.folder = folder

    async def call(self, name: str, key: str | None = None, **arguments: Any) -> Heard:
        return await self.upstreams.call(self.catalog.find(name), arguments, key)

    async def said(self, name: str, **arguments: Any) -> Any:
        value = (await self.call(name, **arguments)).value
        assert isinstance(value, dict)
        return value["structuredContent"]

    async def pid(self) -> int:
        return int((await self.said("cal.surroundings"))["pid"])

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not true():  # noqa: ASYNC110 (what is waited for has no event)
                await asyncio.sleep(0.01)


@asynccontextmanager
async def running(
    folder: Path, tools: dict[str, Any], server: dict[str, str] = SERVER, **upstreams: Any
) -> AsyncIterator[Scene]:
    table = {name: Upstream(**fields) for name, fields in upstreams.items()}
    catalog = Catalog.of(declared(tools, dict.fromkeys(table, "mcp")))
    made = McpUpstreams(table, folder, server)
    try:
        await made.start(catalog)
        yield Scene(made, catalog, folder)
    finally:
        await made.close()


@pytest.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """A calendar that no test of this module may harm."""
    folder = tmp_path_factory.mktemp("cal")
    env = {"PAGE": "3", "OWN": "literal", "TOKEN_OF": "env:CAL_TOKEN"}
    cal = {"command": calendar(folder), "env": env}
    async with running(folder, {"cal": TOOLS}, cal=cal) as made:
        yield made


@pytest.fixture
async def frail(tmp_path: Path) -> AsyncIterator[Scene]:
    """A calendar for this test alone."""
    async with running(tmp_path, {"cal": TOOLS}, cal={"command": calendar(tmp_path)}) as made:
        yield made


@pytest.fixture(scope="module")
async def bad(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    names = ("good", "empty", "reserved", "far", "twice", "not_there")
    tools = {"bad": {name: {"effect": "read"} for name in names}}
    folder = tmp_path_factory.mktemp("bad")
    async with running(folder, tools, bad={"command": hostile(), "max_answer": 100_000}) as made:
        yield made


async def test_a_call_brings_what_the_server_said_as_it_is_on_the_wire(scene: Scene) -> None:
    heard = await scene.call("cal.create_event", title="Standup")
    assert heard.error == ""
    assert isinstance(heard.value, dict)
    event = heard.value["structuredContent"]
    assert event == {"id": "e1", "title": "Standup"}
    text = {"type": "text", "text": json.dumps(event)}
    assert heard.value == {"content": [text], "structuredContent": event, "isError": False}


async def test_images_and_links_to_resources_pass_through(scene: Scene) -> None:
    value = (await scene.call("cal.picture")).value
    assert isinstance(value, dict)
    image, link = value["content"]
    assert image == {"type": "image", "mimeType": "image/png", "data": image["data"]}
    assert link == {"type": "resource_link", "name": "events", "uri": "calendar://events"}


async def test_an_error_of_the_tool_is_told_in_its_own_words(scene: Scene) -> None:
    heard = await scene.call("cal.get_event", id="nothing")
    assert heard.error == "no such event"


async def test_an_error_of_the_protocol_is_an_answer_too(bad: Scene) -> None:
    assert (await bad.call("bad.good", how="refuse")).error == "error -32603: cannot\\nsay"


async def test_all_pages_of_a_listing_are_read_and_arguments_are_held_to_it(scene: Scene) -> None:
    assert len(scene.upstreams.listing("cal").tools) >= 11
    with pytest.raises(BadArguments, match='no argument "titel"'):
        scene.catalog.find("cal.create_event").validate({"titel": "x"})


async def test_pages_that_lead_in_a_circle_have_an_end(bad: Scene) -> None:
    assert list(bad.upstreams.listing("bad").tools) == ["good"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        pytest.param("empty", 'no schema of type "object"', id="empty-schema"),
        pytest.param("no_schema", 'no schema of type "object"', id="no-schema"),
        pytest.param("not_object", 'no schema of type "object"', id="arguments-are-a-string"),
        pytest.param("not_a_schema", "7 is not valid", id="broken-schema"),
        pytest.param("far", "references stay inside", id="reference-elsewhere"),
        pytest.param("reserved", "a name that Placet needs", id="argument-named-placet"),
        pytest.param("a b\\nc", "no name that can be declared", id="name-with-a-line-end"),
        pytest.param("twice", "two tools of this name", id="two-of-one-name"),
        pytest.param("wordy", "bytes; 50,000 are taken", id="definition-too-long"),
        pytest.param("choice", "named inside anyOf", id="arguments-to-choose-from"),
        pytest.param("number 13", "no name that can be declared", id="no-name"),
        pytest.param("number 14", "no name that can be declared", id="no-object"),
    ],
)
async def test_a_bad_tool_is_quarantined_and_the_others_are_not(
    bad: Scene, name: str, why: str
) -> None:
    assert why in bad.upstreams.listing("bad").quarantined[name]
    assert (await bad.call("bad.good", how="well")).error == ""


@pytest.mark.parametrize("name", ["empty", "reserved", "far", "twice", "not_there"])
async def test_a_tool_that_cannot_be_used_is_declared_and_not_callable(
    bad: Scene, name: str
) -> None:
    tool = bad.catalog.find(f"bad.{name}")
    with pytest.raises(BadArguments, match="does not offer this tool now") as caught:
        tool.validate({})
    assert caught.value.code == "upstream_down"
    with pytest.raises(Unreached, match=f"bad offers no usable tool {name}"):
        await bad.upstreams.call(tool, {}, None)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("odd", id="content-is-a-string"),
        pytest.param("unknown content", id="content-of-an-unknown-kind"),
        pytest.param("input", id="asks-for-input"),
        pytest.param("task", id="answers-with-a-task"),
    ],
)
async def test_an_answer_that_is_no_result_proves_nothing(bad: Scene, how: str) -> None:
    with pytest.raises(Unreturned, match=r"bad\.good was called, and no answer came back: its"):
        await bad.call("bad.good", how=how)


async def test_noise_and_questions_of_the_server_do_no_harm(bad: Scene) -> None:
    heard = await bad.call("bad.good", how="noise")
    assert heard.value == {
        "content": [{"type": "text", "text": "well"}],
        "structuredContent": None,
        "isError": False,
    }


async def test_an_answer_over_the_cap_costs_nothing_but_itself(bad: Scene) -> None:
    waiting = asyncio.create_task(bad.call("bad.good", how="huge"))
    assert (await bad.call("bad.good", how="well")).error == ""
    with pytest.raises(Unreturned, match=r"its answer has 2\d\d,\d{3} bytes"):
        await waiting
    assert (await bad.call("bad.good", how="well")).error == ""


async def test_megabytes_arrive_whole(scene: Scene) -> None:
    value = (await scene.call("cal.big", megabytes=6)).value
    assert isinstance(value, dict)
    assert value["content"][0]["text"] == "x" * 6_000_000


async def test_a_child_sees_path_home_lang_and_what_is_declared(scene: Scene) -> None:
    env = (await scene.said("cal.surroundings"))["env"]
    given = {"PAGE": "3", "OWN": "literal", "TOKEN_OF": "t0ken"}
    # The interpreter of the child may set LC_CTYPE for itself.
    assert env.keys() - {"LC_CTYPE"} == {"PATH", "HOME", "LANG"} & SERVER.keys() | given.keys()
    assert env.items() >= given.items()


async def test_nothing_of_ours_travels_with_a_call(scene: Scene) -> None:
    await scene.call("cal.list_events")
    assert json.loads(calls(scene.folder)[-1])["meta"] == []


async def test_progress_is_told_to_whoever_waits(scene: Scene) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def watch(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    token = PROGRESS.set(watch)
    try:
        await scene.call("cal.slow", seconds=0.2, steps=4)
    finally:
        PROGRESS.reset(token)
    await scene.until(lambda: len(steps) == 4)
    assert steps[1] == (1, 4, "step 1")


async def test_calls_run_beside_one_another(scene: Scene) -> None:
    started: list[object] = []

    async def watch(*step: object) -> None:
        started.append(step)

    token = PROGRESS.set(watch)
    waiting = [asyncio.create_task(scene.call("cal.slow", seconds=30, steps=1)) for _ in range(5)]
    PROGRESS.reset(token)
    await scene.until(lambda: len(started) == 5)
    assert not any(task.done() for task in waiting)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await scene.until((scene.folder / "cancelled").exists)


async def test_the_key_goes_into_the_argument_declared_for_it(tmp_path: Path) -> None:
    tools = {"cal": {"delete_event": {"effect": "write", "key_argument": "id"}}}
    async with running(tmp_path, tools, cal={"command": calendar(tmp_path)}) as here:
        await here.call("cal.delete_event", "p_1")
        assert json.loads(calls(tmp_path)[-1])["arguments"] == {"id": "p_1"}


async def test_a_key_argument_that_the_tool_lacks_makes_it_unusable(tmp_path: Path) -> None:
    tools = {"bad": {"good": {"effect": "write", "key_argument": "key"}}}
    async with running(tmp_path, tools, bad={"command": hostile()}) as here:
        assert here.catalog.find("bad.good").published == {}


async def test_a_server_killed_while_idle_is_back_for_the_next_read(frail: Scene) -> None:
    os.kill(await frail.pid(), signal.SIGKILL)
    assert await frail.said("cal.list_events") == {"events": {}}


async def test_a_read_whose_server_is_killed_is_asked_once_more(frail: Scene) -> None:
    pid = await frail.pid()
    reading = asyncio.create_task(frail.call("cal.slow", seconds=0.5, steps=1))
    await frail.until(lambda: any('"slow"' in line for line in calls(frail.folder)))
    os.kill(pid, signal.SIGKILL)
    assert (await reading).error == ""
    assert sum('"slow"' in line for line in calls(frail.folder)) == 2


async def test_a_read_that_kills_its_server_is_not_asked_for_ever(frail: Scene) -> None:
    with pytest.raises(Unreturned, match="no answer came back"):
        await frail.call("cal.crash")
    assert sum('"crash"' in line for line in calls(frail.folder)) == 2


async def test_a_write_whose_server_dies_is_unknown_and_not_repeated(frail: Scene) -> None:
    (frail.folder / "fault").write_text("die")
    with pytest.raises(Unreturned, match=r"cal\.create_event was called, and no answer came back"):
        await frail.call("cal.create_event", title="Once")
    assert list((await frail.said("cal.list_events"))["events"]) == ["e1"]
    assert sum("create_event" in line for line in calls(frail.folder)) == 1


async def test_a_write_that_takes_too_long_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "fault").write_text("hang")
    tools = {"cal": {"create_event": {"effect": "write", "timeout": "1s"}}}
    async with running(tmp_path, tools, cal={"command": calendar(tmp_path)}) as here:
        with pytest.raises(Unreturned, match="timed out"):
            await here.call("cal.create_event", title="Slow")
    assert "e1" in (tmp_path / "events.json").read_text()


async def test_a_new_tool_and_a_changed_one_are_published_at_once(frail: Scene) -> None:
    changed: list[str] = []
    frail.upstreams.listen(changed.append)
    before = frail.catalog.find("cal.list_events")
    await frail.call("cal.grow", describe="list_events")
    await frail.until(lambda: frail.catalog.find("cal.list_events") is not before)
    after = frail.catalog.find("cal.list_events")
    assert before.identity()["definition"] != after.identity()["definition"]
    assert changed == ["cal"]
    with pytest.raises(Unreached, match="its server defines it differently now") as caught:
        await frail.upstreams.call(before, {}, None)
    assert caught.value.code == "tool_changed"
    assert (await frail.upstreams.call(after, {}, None)).error == ""
    await frail.call("cal.grow")
    await frail.until(lambda: "grown" in frail.upstreams.listing("cal").tools)


async def test_the_identity_of_the_server_is_part_of_its_tools(bad: Scene) -> None:
    tool = bad.catalog.find("bad.good")
    assert tool.published["server"] == {"name": "hostile", "version": "1"}
    other = tool.with_schema(
        tool.arguments, published={**tool.published, "server": {"name": "hostile", "version": "2"}}
    )
    assert other.identity()["definition"] != tool.identity()["definition"]


@pytest.mark.parametrize(
    ("upstream", "why"),
    [
        pytest.param({"command": ("./no-such-program",)}, "with code|could not", id="no-program"),
        pytest.param({"command": (sys.executable, "-c", "pass")}, "with code 0", id="ends-at-once"),
        pytest.param({"command": (sys.executable, "-c", "print('{}')")}, "code", id="no-mcp"),
        pytest.param({"url": "http://127.0.0.1:9/mcp"}, "no connection", id="nobody-listens"),
    ],
)
async def test_a_server_that_cannot_be_reached_stops_its_own_tools_alone(
    tmp_path: Path, upstream: dict[str, Any], why: str
) -> None:
    tools = {"gone": {"tool": {"effect": "write"}}, "bad": {"good": {"effect": "read"}}}
    async with running(tmp_path, tools, gone=upstream, bad={"command": hostile()}) as here:
        assert here.upstreams.down()["bad"] == ""
        assert (await here.call("bad.good", how="well")).error == ""
        tool = here.catalog.find("gone.tool")
        assert here.upstreams.down()["gone"]
        with pytest.raises(BadArguments) as caught:
            tool.validate({})
        assert caught.value.code == "upstream_down"
        with pytest.raises(Unreached, match=f"The upstream gone is down: .*({why})") as refused:
            await here.upstreams.call(tool, {}, None)
        assert refused.value.code == "upstream_down"


async def test_nothing_is_called_of_an_upstream_that_is_not_declared(bad: Scene) -> None:
    stray = Tool(name="other.tool", kind="mcp", effect="read")
    with pytest.raises(Unreached, match=r"no \[upstream\.other\]"):
        await bad.upstreams.call(stray, {}, None)


def test_a_variable_that_is_not_set_refuses_the_start(tmp_path: Path) -> None:
    upstream = Upstream(command=hostile(), env={"TOKEN": "env:NOT_SET"})
    with pytest.raises(BadDeclaration, match=r"\[upstream\.bad\] names .* NOT_SET"):
        McpUpstreams({"bad": upstream}, tmp_path, SERVER)


async def test_closing_leaves_no_process(tmp_path: Path) -> None:
    async with running(tmp_path, {"cal": TOOLS}, cal={"command": calendar(tmp_path)}) as here:
        pid = await here.pid()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_server_that_goes_on_talking_is_closed_all_the_same(tmp_path: Path) -> None:
    for times in range(3):
        folder = tmp_path / str(times)
        folder.mkdir()
        async with (
            asyncio.timeout(60),
            running(folder, {"cal": TOOLS}, cal={"command": calendar(folder)}) as made,
        ):
            told = asyncio.Event()
            token = PROGRESS.set(_noticing(told))
            work = asyncio.create_task(made.call("cal.slow", seconds=30, steps=30_000))
            PROGRESS.reset(token)
            await told.wait()
        with pytest.raises((Unreached, Unreturned)):
            await work


def _noticing(told: asyncio.Event) -> Any:
    async def watch(*_: object) -> None:
        told.set()

    return watch


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param({}, "on stderr: hunter22", id="as-they-are"),
        pytest.param(
            {"secrets": ["/arguments/token"]},
            "on stderr: 9 bytes, not told here",
            id="not-of-one-that-is-given-secrets",
        ),
    ],
)
async def test_the_last_words_of_a_server_are_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, more: dict[str, Any], told: str
) -> None:
    caplog.set_level("INFO")
    tools = {"bad": {"put": {"effect": "write", **more}}}
    command = [sys.executable, "-c", "import sys; print('hunter22', file=sys.stderr)"]
    async with running(tmp_path, tools, bad={"command": command}):
        pass
    assert told in caplog.text
    assert ("hunter22" in caplog.text) is not bool(more)
