"""The gate in front of every tool: declared, approved, remembered, tried again, fallen back on."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proposals import calls
from proposals.calls import (
    Call,
    ConfirmationRequired,
    Denied,
    Entry,
    Policy,
    Status,
    always_approve,
    deny_destructive,
)
from proposals.canonical import JSON
from proposals.gate import Gate
from proposals.memo import MOST, Memo
from proposals.tools import BadArguments, Tool
from proposals.upstreams import Heard, Unreached, Unreturned

pytestmark = pytest.mark.anyio

ARGUMENTS = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def tool(name: str, effect: str) -> Tool:
    runs = {"read": ("x",)} if effect == "read" else {"plan": ("x",), "apply": ("x",)}
    return Tool(
        name=name,
        kind="command",
        effect=effect,  # type: ignore[arg-type]
        arguments=ARGUMENTS,
        **runs,
    )


class Desk:
    """A ticket desk: it counts what is done to it, and fails as often as it is told."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.fails = 0
        self.how: type[Exception] = Unreturned
        self.words = ""

    def doing(self, what: str) -> Callable[[JSON, str | None], Awaitable[Heard]]:
        async def run(arguments: JSON, key: str | None) -> Heard:
            self.done.append(f"{what} {arguments} {key or ''}".strip())
            await asyncio.sleep(0)
            if self.fails:
                self.fails -= 1
                raise self.how("down", "busy") if self.how is Unreached else Unreturned("busy")
            return Heard({"did": what}, self.words)

        return run


class People:
    """Who approves: nobody, until `yes`. The store behind it is the authority."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.held: dict[str, tuple[str, JSON]] = {}
        self.results: dict[str, Heard] = {}

    async def hold(self, call: Call) -> str:
        for id_, waiting in self.held.items():
            if waiting == (call.tool, call.arguments):
                return id_
        id_ = f"p_{len(self.held) + 1}"
        self.held[id_] = (call.tool, call.arguments)
        return id_

    async def yes(self, id_: str) -> None:
        if id_ not in self.results:
            _, arguments = self.held[id_]
            self.results[id_] = await self.desk.doing("close")(arguments, id_)

    async def result(self, proposal: str) -> Heard:
        if proposal not in self.results:
            raise ConfirmationRequired(*self.held[proposal], proposal)
        return self.results[proposal]


def gate(desk: Desk, policy: Policy | None, **more: Any) -> Gate:
    entries = {
        "desk.search": Entry(tool("desk.search", "read"), desk.doing("search"), retries=2),
        "desk.find": Entry(tool("desk.find", "read"), desk.doing("find"), fallback="desk.search"),
        "desk.close": Entry(tool("desk.close", "destructive"), desk.doing("close")),
        "other.look": Entry(tool("other.look", "read"), desk.doing("look")),
    }

    async def asleep(_: float) -> None:
        await asyncio.sleep(0)

    return Gate(entries, People(desk), policy, sleep=asleep, **more)


async def test_the_ticket_story() -> None:
    desk, seen = Desk(), []
    made = gate(desk, deny_destructive, log=lambda status, _: seen.append(status))
    search, close = Call("desk.search", {"id": 7}, "s"), Call("desk.close", {"id": 7}, "s")
    assert await made.call(search) == await made.call(search)
    with pytest.raises(ConfirmationRequired) as paused:
        await made.call(close)
    assert paused.value.call_args == {"id": 7}
    assert paused.value.blocked_on == "waiting for approval"
    with pytest.raises(ConfirmationRequired):
        await made.resume(paused.value.proposal)
    people = made.holder
    assert isinstance(people, People)
    await people.yes(paused.value.proposal)
    assert await made.resume(paused.value.proposal) == await made.resume(paused.value.proposal)
    assert seen == [Status.EXECUTED, Status.CACHE_HIT, Status.BLOCKED]
    assert sum(line.startswith("close") for line in desk.done) == 1


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("desk.Close", id="other-case"),
        pytest.param("close", id="alias"),
        pytest.param("call_tool", id="a-generic-way-in"),
        pytest.param("desk.close ", id="with-a-blank"),
    ],
)
async def test_what_is_not_declared_is_denied(name: str) -> None:
    desk = Desk()
    with pytest.raises(Denied, match="declared"):
        await gate(desk, always_approve).call(Call(name, {"id": 7}))
    assert desk.done == []


@pytest.mark.parametrize("name", ["desk.search", "desk.close"])
async def test_without_a_policy_nothing_runs(name: str) -> None:
    desk = Desk()
    with pytest.raises(Denied) as denied:
        await gate(desk, None).call(Call(name, {"id": 7}))
    assert (denied.value.code, desk.done) == ("no_policy", [])


async def test_wrong_arguments_reach_no_tool() -> None:
    desk = Desk()
    with pytest.raises(BadArguments):
        await gate(desk, always_approve).call(Call("desk.close", {"id": "7"}))
    assert desk.done == []


async def test_a_read_is_remembered_for_its_session_only() -> None:
    desk = Desk()
    made = gate(desk, deny_destructive)
    for session in ("a", "a", "b", None, None):
        await made.call(Call("desk.search", {"id": 7}, session))
    assert len(desk.done) == 4


async def test_a_write_makes_every_session_forget_its_upstream() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    for name in ("desk.search", "other.look", "desk.close", "desk.search", "other.look"):
        await made.call(Call(name, {"id": 7}, "s"))
    assert [line.split()[0] for line in desk.done] == ["search", "look", "close", "search"]


async def test_a_write_that_fails_makes_them_forget_too() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    await made.call(Call("desk.search", {"id": 7}, "s"))
    desk.fails = 1
    with pytest.raises(Unreturned):
        await made.call(Call("desk.close", {"id": 7}, "t"))
    await made.call(Call("desk.search", {"id": 7}, "s"))
    assert [line.split()[0] for line in desk.done] == ["search", "close", "search"]


async def test_a_read_that_was_under_way_when_a_write_began_is_not_remembered() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    search, close = Call("desk.search", {"id": 7}, "s"), Call("desk.close", {"id": 7})
    await asyncio.gather(made.call(search), made.call(close))
    await made.call(search)
    assert sum(line.startswith("search") for line in desk.done) == 2


async def test_a_read_that_outlasts_a_whole_write_is_not_remembered() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    search, close = Call("desk.search", {"id": 7}, "s"), Call("desk.close", {"id": 7})
    reading = made.entries["desk.search"].run

    async def slow(arguments: JSON, key: str | None) -> Heard:
        heard = await reading(arguments, key)
        await made.call(close)
        return heard

    entries = dict(made.entries)
    made.entries = entries | {"desk.search": replace(entries["desk.search"], run=slow)}
    await made.call(search)
    await made.call(search)
    assert sum(line.startswith("search") for line in desk.done) == 2


async def test_what_is_read_during_a_write_is_neither_old_nor_kept() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    search, close = Call("desk.search", {"id": 7}, "s"), Call("desk.close", {"id": 7})

    async def busy(_arguments: JSON, _key: str | None) -> Heard:
        await made.call(search)
        return Heard({"did": "close"})

    entries = dict(made.entries)
    made.entries = entries | {"desk.close": replace(entries["desk.close"], run=busy)}
    for call in (search, close, search):
        await made.call(call)
    assert sum(line.startswith("search") for line in desk.done) == 3


async def test_sessions_of_two_agents_share_nothing() -> None:
    desk = Desk()
    made = gate(desk, deny_destructive)
    for agent in ("a", "b"):
        await made.call(Call("desk.search", {"id": 7}, "s", agent=agent))
    assert len(desk.done) == 2


async def test_an_error_is_not_remembered() -> None:
    desk = Desk()
    made = gate(desk, deny_destructive)
    desk.words = "no such ticket"
    first = await made.call(Call("desk.search", {"id": 7}, "s"))
    assert first.error == "no such ticket"
    desk.words = ""
    assert (await made.call(Call("desk.search", {"id": 7}, "s"))).error == ""


async def test_what_was_read_is_remembered_only_as_long_as_its_tool_says() -> None:
    time = [0.0]
    memo, place = Memo(lambda: time[0]), ("s", "desk.search", "d")
    memo.keep(place, Heard(1), 60, memo.mark("desk.search"))
    time[0] = 59.9
    assert memo.recall(place) == Heard(1)
    time[0] = 60.0
    assert memo.recall(place) is None
    memo.keep(place, Heard(1), 0, memo.mark("desk.search"))
    assert memo.recall(place) is None


async def test_only_so_many_reads_are_remembered() -> None:
    memo = Memo()
    for n in range(MOST + 1):
        memo.keep(("s", "desk.search", str(n)), Heard(n), 60, 0)
    assert memo.recall(("s", "desk.search", "0")) is None
    assert memo.recall(("s", "desk.search", str(MOST))) == Heard(MOST)


@pytest.mark.parametrize(
    ("fails", "tries"),
    [pytest.param(1, 2, id="once"), pytest.param(2, 3, id="twice")],
)
@pytest.mark.parametrize("how", [Unreached, Unreturned])
async def test_a_read_is_tried_again_a_few_times(
    fails: int, tries: int, how: type[Exception]
) -> None:
    desk = Desk()
    desk.fails, desk.how = fails, how
    await gate(desk, deny_destructive).call(Call("desk.search", {"id": 7}))
    assert len(desk.done) == tries


async def test_a_read_without_retries_falls_back_and_the_fallback_passes_the_gate() -> None:
    desk, seen = Desk(), []
    desk.fails = 1
    made = gate(desk, deny_destructive, log=lambda status, _: seen.append(status))
    assert await made.call(Call("desk.find", {"id": 7})) == Heard({"did": "search"})
    assert seen == [Status.FAILED, Status.FALLBACK, Status.EXECUTED]


async def test_falling_back_ends() -> None:
    desk = Desk()
    desk.fails = 99
    with pytest.raises(Unreturned):
        await gate(desk, deny_destructive).call(Call("desk.find", {"id": 7}))
    assert len(desk.done) == 4


async def test_a_write_is_never_tried_again() -> None:
    desk = Desk()
    desk.fails = 1
    with pytest.raises(Unreturned):
        await gate(desk, always_approve).call(Call("desk.close", {"id": 7}))
    assert len(desk.done) == 1


async def test_one_key_runs_once_also_when_called_twice_at_once() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    call = Call("desk.close", {"id": 7}, key="k")
    assert len(set(map(str, await asyncio.gather(made.call(call), made.call(call))))) == 1
    await made.call(call)
    assert len(desk.done) == 1
    with pytest.raises(Denied) as denied:
        await made.call(Call("desk.close", {"id": 8}, key="k"))
    assert denied.value.code == "key_conflict"
    assert await made.call(Call("desk.close", {"id": 8}, key="k", agent="other"))


async def test_a_key_whose_call_failed_does_not_run_again() -> None:
    desk = Desk()
    made = gate(desk, always_approve)
    desk.fails = 1
    for _ in range(2):
        with pytest.raises(Unreturned):
            await made.call(Call("desk.close", {"id": 7}, key="k"))
    assert len(desk.done) == 1


def test_no_setting_reaches_the_policy_that_lets_everything_run() -> None:
    shell = Path(calls.__file__).parents[1] / "webhook_app"
    assert [p for p in shell.rglob("*.py") if "always_approve" in p.read_text()] == []


def test_no_agent_reads_past_the_gate() -> None:
    root = Path(calls.__file__).parents[1]
    product = [p for room in ("proposals", "webhook_app") for p in (root / room).rglob("*.py")]
    run = {str(p.relative_to(root)) for p in product if "runner.read" in p.read_text()}
    recipes, operator = "webhook_app/app/toolbox.py", "webhook_app/doors/previewing.py"
    assert run == {"proposals/registry.py", recipes, operator}
