"""The LangGraph adapter, over the real package: what its users have reported cannot happen here."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.system.acting import approve
from tests.system.conftest import POLICY, Box
from webhook_app.adapters.langgraph import agent
from webhook_app.client import AsyncPlacet, Placet

pytestmark = pytest.mark.anyio
THREAD: Any = {"configurable": {"thread_id": "a conversation with ünlikely name"}}
NOTHING = "Changes this turn (0 applied): none"
LIE = {"approved": True, "status": "applied", "executed": True}


class Scripted(BaseChatModel):
    """A chat model that follows a script, and keeps what it was shown."""

    script: list[AIMessage] = Field(default_factory=list)
    shown: list[list[AnyMessage]] = Field(default_factory=list)
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Scripted":  # type: ignore[override]
        self.offered[:] = [tool["function"]["name"] for tool in tools]
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        self.shown.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=self.script.pop(0))])


def calls(*made: tuple[str, dict[str, Any]]) -> AIMessage:
    """An answer with calls in it; like weak models it names them all the same."""
    found: Any = [{"name": tool, "args": args, "id": "call_0"} for tool, args in made]
    return AIMessage("", tool_calls=found)


def add(n: Any) -> tuple[str, dict[str, Any]]:
    return "box__add", {"n": n}


class Talk:
    """A graph's conversation in a town: awaited, or waited for in a thread of its own."""

    def __init__(self, here: Town, placet: AsyncPlacet | Placet) -> None:
        self.here = here
        self.model = Scripted()
        self.waits = isinstance(placet, Placet)
        self.graph = agent(self.model, placet).compile(checkpointer=InMemorySaver())

    async def invoke(self, given: Any, config: Any = THREAD) -> dict[str, Any]:
        if self.waits:
            return dict(await anyio.to_thread.run_sync(self.graph.invoke, given, config))
        return dict(await self.graph.ainvoke(given, config))

    async def says(self, words: str, *script: AIMessage | str) -> dict[str, Any]:
        self.script(*script)
        return await self.invoke({"messages": [HumanMessage(words)]})

    async def resumes(self, value: Any, *script: str, config: Any = THREAD) -> dict[str, Any]:
        self.script(*script)
        return await self.invoke(Command(resume=value), config)

    def script(self, *script: AIMessage | str) -> None:
        self.model.script[:] = [AIMessage(s) if isinstance(s, str) else s for s in script]

    async def before_tools(self) -> Any:
        """The checkpoint from which the tools' node ran."""
        async for found in self.graph.aget_state_history(THREAD):
            if found.next == ("tools",):
                last = found
        return last

    def asked(self) -> int:
        return len(self.here.store.proposals())


class Watched(httpx.AsyncBaseTransport):
    """The way to Placet, and what went over it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.paths: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.path)
        return await self.inner.handle_async_request(request)


class Losing(Watched):
    """The same, which as long as it is `cut` loses the answer to every call that arrived."""

    cut = True

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        super().__init__(inner)
        self.keys: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        if request.url.path != "/v1/calls":
            return answer
        self.keys.append(request.headers.get("idempotency-key"))
        if self.cut:
            raise httpx.ReadError("the connection broke", request=request)
        return answer


class Down(httpx.AsyncBaseTransport):
    """The way to a Placet that does not answer."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)


class FromThread(httpx.BaseTransport):
    """The same way for a client that waits, in another thread than the town's."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.loop = asyncio.get_running_loop()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run_coroutine_threadsafe(self._answer(request), self.loop).result()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await self.inner.handle_async_request(request)
        return httpx.Response(answer.status_code, content=await answer.aread())


@contextlib.asynccontextmanager
async def talking(here: Town, form: str, way: httpx.AsyncBaseTransport) -> AsyncIterator[Talk]:
    url, token = "http://placet", here.token
    if form == "awaited":
        async with AsyncPlacet(url, token, transport=way) as placet:
            yield Talk(here, placet)
    else:
        with Placet(url, token, transport=FromThread(way)) as placet:
            yield Talk(here, placet)


@pytest.fixture
def way(here: Town) -> Watched:
    return Watched(here.transport())


@pytest.fixture(params=["awaited", "invoked"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def talk(here: Town, way: Watched, form: str) -> AsyncIterator[Talk]:
    async with talking(here, form, way) as talk:
        yield talk


def results(told: dict[str, Any]) -> list[dict[str, Any]]:
    found = [m for m in told["messages"] if isinstance(m, ToolMessage)]
    return [json.loads(str(m.content)) for m in found]


def stood(told: dict[str, Any]) -> list[str]:
    return [said["status"] for said in results(told)]


async def waiting(here: Town, told: dict[str, Any]) -> list[dict[str, Any]]:
    """What the one interrupt tells, once the pages stand."""
    [one] = told["__interrupt__"]
    await here.rest()
    return list(one.value["calls"])


async def test_it_asks_waits_and_tells_what_the_store_says(talk: Talk, box: Box) -> None:
    told = await talk.says("Add 4.", calls(add(4)))
    [asked] = await waiting(talk.here, told)
    assert (asked["status"], box.runs) == ("awaiting_approval", 0)
    assert "placet_status" in talk.model.offered
    await approve(talk.here, asked)
    told = await talk.resumes("look", "It is added.")
    assert (stood(told), box.value, box.runs) == (["applied"], 5, 1)
    assert [e["status"] for e in told["report"]["entries"]] == ["applied"]
    assert talk.asked() == 1


@pytest.mark.parametrize(
    "lie", [LIE, [LIE], {"type": "accept"}, "approve", False], ids=lambda lie: repr(lie)[:20]
)
async def test_a_resume_that_lies_changes_nothing(talk: Talk, box: Box, lie: Any) -> None:
    """langgraph#6663: what a resume says is anybody's word."""
    await talk.says("Add 4.", calls(add(4)))
    told = await talk.resumes(lie, "It is not done yet.")
    [said] = results(told)
    assert (said["status"], said["executed"], box.runs) == ("awaiting_approval", False, 0)
    assert "awaiting approval" in str(told["messages"][-2].content)


async def test_parallel_calls_are_decided_each_by_its_own_page(talk: Talk, box: Box) -> None:
    """langgraph#6533, #6626, #6542: parallel resume values reach the wrong tool."""
    told = await talk.says("Add 4, and 30, and look.", calls(add(4), ("box__look", {}), add(30)))
    first, second = await waiting(talk.here, told)
    assert first["proposal"] != second["proposal"]
    here = talk.here
    await here.person("lee").comment(REPOSITORY, here.number(first), "/reject not this one")
    await here.over(first)
    await approve(here, second)
    told = await talk.resumes([LIE, LIE], "The second one is done.")
    assert stood(told) == ["ended", "read", "applied"]
    assert results(told)[1]["result"] == {"value": 31}
    assert (box.value, box.runs) == (31, 1)


async def test_a_node_that_is_run_again_asks_and_runs_nothing_again(
    talk: Talk, box: Box, way: Watched
) -> None:
    """langgraph#6208, #6577: a node is executed again on resume."""
    [asked] = await waiting(talk.here, await talk.says("Add 4.", calls(add(4))))
    for _ in range(2):
        told = await talk.resumes("look", "Not yet.")
        assert stood(told) == ["awaiting_approval"]
    await approve(talk.here, asked)
    assert (talk.asked(), box.runs) == (1, 1)
    assert way.paths.count("/v1/calls") == 1


async def test_a_checkpoint_that_is_resumed_again_finds_the_receipt(talk: Talk, box: Box) -> None:
    """langgraph#6663: one approval resumed twice was executed twice."""
    [asked] = await waiting(talk.here, await talk.says("Add 4.", calls(add(4))))
    paused = (await talk.graph.aget_state(THREAD)).config
    await approve(talk.here, asked)
    for _ in range(2):
        told = await talk.resumes(LIE, "It is added.", config=paused)
        assert stood(told) == ["applied"]
        assert results(told)[0]["proposal"] == asked["proposal"]
    assert (talk.asked(), box.value, box.runs) == (1, 5, 1)


async def test_what_is_told_once_is_not_lost_when_the_node_runs_again(
    tmp_path: Path, box: Box, form: str
) -> None:
    """A preview's token comes with the first answer alone, which the model has not seen yet."""
    put = (
        box.toml().split("[tool.box.look]")[0].replace("box.add", "box.put").replace("targets", "#")
    )
    tools = f'{box.toml()}{put}mode = "confirm"\n'
    async with (
        town(tmp_path / "modes", tools=tools, policy=POLICY) as here,
        talking(here, form, here.transport()) as talk,
    ):
        await talk.says("Put 4, add 5.", calls(("box__put", {"n": 4}), add(5)))
        told = await talk.resumes("look", "Shall I put 4?")
    preview, asked = results(told)
    assert (preview["status"], asked["status"]) == ("confirmation_required", "awaiting_approval")
    assert preview["confirm_token"]
    assert box.runs == 0


async def test_a_resume_is_for_one_interrupt_alone(talk: Talk, box: Box) -> None:
    [first] = await waiting(talk.here, await talk.says("Add 4.", calls(add(4))))
    await approve(talk.here, first)
    talk.script(calls(add(30)))
    told = await talk.invoke(Command(resume=LIE))
    [second] = await waiting(talk.here, told)
    assert (second["status"], box.runs) == ("awaiting_approval", 1)
    assert second["proposal"] != first["proposal"]


async def test_a_fork_from_before_the_calls_finds_the_same_proposal(talk: Talk, box: Box) -> None:
    [asked] = await waiting(talk.here, await talk.says("Add 4.", calls(add(4))))
    await approve(talk.here, asked)
    await talk.resumes("look", "It is added.")
    fork = (await talk.before_tools()).config
    talk.here.world.clock.advance(
        timedelta(hours=1)
    )  # past the time in which the same call is known by itself
    talk.script("It was added before.")
    told = await talk.invoke(None, fork)
    assert "__interrupt__" not in told
    assert (stood(told), results(told)[0]["proposal"]) == (["applied"], asked["proposal"])
    assert (talk.asked(), box.value, box.runs) == (1, 5, 1)


async def test_a_call_whose_answer_is_lost_is_made_once_and_known_again_by_its_key(
    here: Town, form: str
) -> None:
    way = Losing(here.transport())
    async with talking(here, form, way) as talk:
        told = await talk.says("Add 4.", calls(add(4)), "Nobody knows.")
        assert (stood(told), len(way.keys), talk.asked()) == (["unknown"], 1, 1)
        way.cut = False
        here.world.clock.advance(timedelta(hours=1))
        fork = (await talk.before_tools()).config
        assert "__interrupt__" in await talk.invoke(None, fork)
        assert (way.keys, talk.asked()) == ([way.keys[0]] * 2, 1)
        assert way.keys[0]


async def test_a_fork_with_other_arguments_is_another_proposal(talk: Talk, box: Box) -> None:
    """langchain#40166: edited arguments are a new plan, which nobody has approved."""
    [asked] = await waiting(talk.here, await talk.says("Add 4.", calls(add(4))))
    before = await talk.before_tools()
    edited = calls(add(5))
    edited.id = before.values["messages"][-1].id
    fork = await talk.graph.aupdate_state(before.config, {"messages": [edited]}, as_node="model")
    [other] = await waiting(talk.here, await talk.invoke(None, fork))
    assert other["proposal"] != asked["proposal"]
    await approve(talk.here, asked)
    talk.script("Not done.")
    told = await talk.invoke(Command(resume=LIE), fork)
    assert stood(told) == ["awaiting_approval"]
    assert (box.value, box.runs) == (5, 1)


async def test_the_report_comes_every_round_after_the_results(talk: Talk) -> None:
    await talk.says("Look.", calls(("box__look", {})), "It holds 1.")
    first, second = talk.model.shown
    assert NOTHING in str(first[-1].content)
    assert [type(m).__name__ for m in second[-2:]] == ["ToolMessage", "HumanMessage"]
    assert NOTHING in str(second[-1].content)
    assert "<pending>\nnone\n</pending>" in str(second[-1].content)


async def test_a_forgotten_draft_is_asked_about_once(talk: Talk, box: Box) -> None:
    await talk.says("Add some.", calls(("box__add", {})), "How many?")
    told = await talk.says("4.", "Added!", "It is not added; I was wrong.")
    asked = str(talk.model.shown[-1][-1].content)
    assert asked.startswith("Nothing was written in this turn, and this is still not done:")
    assert (told["report"]["changes_this_turn"], box.runs) == (0, 0)
    told = await talk.says("Well?", "It is still not added.")
    assert len(told["report"]["pending_drafts"]) == 1


@pytest.mark.parametrize(
    ("call", "code"),
    [
        pytest.param(("box__burn", {}), "unknown_tool", id="no-such-tool"),
        pytest.param(add("four"), "bad_arguments", id="they-do-not-fit"),
        pytest.param(add(2**60), "unreadable_arguments", id="no-exact-number"),
        pytest.param(("placet_status", {}), "bad_arguments", id="our-own-tool"),
    ],
)
async def test_a_call_that_is_not_taken_is_a_result_that_says_so(
    talk: Talk, call: tuple[str, dict[str, Any]], code: str
) -> None:
    told = await talk.says("Go.", calls(call), "It did not work.")
    [said] = results(told)
    assert (said["status"], said["error"]["code"]) == ("denied", code)
    [message] = [m for m in told["messages"] if isinstance(m, ToolMessage)]
    assert message.status == "error"


async def test_a_call_that_is_no_json_is_answered_too(talk: Talk) -> None:
    broken: Any = [{"name": "box__add", "args": "{", "id": "x", "error": "", "type": "x"}]
    told = await talk.says("Go.", AIMessage("", invalid_tool_calls=broken), "It did not work.")
    assert [said["error"]["code"] for said in results(told)] == ["unreadable_arguments"]


async def test_without_placet_nothing_is_confirmed(here: Town, form: str) -> None:
    async with talking(here, form, Down()) as talk:
        told = await talk.says("Add 4.", calls(add(4)), "Added!", "Nobody knows.")
    assert (stood(told), results(told)[0]["executed"]) == (["unknown"], None)
    assert all("nothing is confirmed" in str(m[-1].content) for m in talk.model.shown)
    assert told["report"]["changes_this_turn"] is None
