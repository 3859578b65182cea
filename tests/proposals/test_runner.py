"""The runner over real commands: plans that hold still, applies that never raise."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proposals.canonical import JSON
from proposals.memo import Memo
from proposals.plan import Planned, difference, drifted
from proposals.ports import Checked, Done, Order, Outcome, PlanFailed, Reading, Returned
from proposals.runner import Runner
from proposals.tools import BadArguments, Tool
from proposals.upstreams import Heard
from webhook_app.toolkits.command import CommandToolkit

pytestmark = pytest.mark.anyio

ORDER = Order({"arguments": {"id": 1}}, "key-1")
COUNTER = """
import json, pathlib
runs = pathlib.Path("runs")
n = int(runs.read_text()) + 1 if runs.exists() else 1
runs.write_text(str(n))
"""
STEADY = 'print(\'{"effects": [{"what": "w", "before": 1, "after": 2}]}\')'
Make = Callable[..., tuple[Runner, Tool]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A runner, and a tool whose dry run is this Python script."""

    def make(body: str, **fields: Any) -> tuple[Runner, Tool]:
        (tmp_path / "tool.py").write_text(body)
        command = [sys.executable, "./tool.py"]
        tool = Tool(
            name="db.t",
            kind="command",
            effect="write",
            plan=command,
            apply=command,
            arguments={"properties": {"id": {"type": "integer"}}},
            **fields,
        )
        return Runner({"command": CommandToolkit(tmp_path, dict(os.environ))}), tool

    return make


class Broken:
    """A toolkit that keeps none of its promises."""

    async def plan(self, tool: Tool, arguments: JSON) -> Planned:
        return Planned(effects=[{"what": tool.name, "before": float("inf"), "after": arguments}])

    async def apply(self, tool: Tool, order: Order) -> Returned:
        raise PlanFailed("x", f"{tool.name} {order.key}")

    async def verify(self, tool: Tool, order: Order, result: JSON) -> Checked:
        raise RuntimeError(tool.name, order.key, result)

    async def close(self) -> None:
        raise AssertionError


async def test_a_plan_that_holds_still_is_pinned_with_the_tool_that_made_it(make: Make) -> None:
    runner, tool = make(COUNTER + STEADY)
    pinned = await runner.plan_twice(tool, {"id": 1.0})
    assert pinned.plan["tool"] == tool.identity()
    assert pinned.plan["arguments"] == {"id": 1}
    assert pinned == await runner.plan_again(tool, {"id": 1})


async def test_before_anyone_is_asked_the_dry_run_runs_twice(make: Make, tmp_path: Path) -> None:
    runner, tool = make(COUNTER + STEADY)
    await runner.plan_twice(tool, {})
    assert (tmp_path / "runs").read_text() == "2"
    await runner.plan_again(tool, {})
    assert (tmp_path / "runs").read_text() == "3"


async def test_a_plan_that_does_not_hold_still_names_where(make: Make) -> None:
    effects = "{'effects': [{'what': 'w', 'before': n, 'after': 2}], 'preview': {'a/b': n}}"
    runner, tool = make(f"{COUNTER}print(json.dumps({effects}))")
    with pytest.raises(
        PlanFailed, match=r"differently at /effects/0/before, /preview/a~1b\."
    ) as caught:
        await runner.plan_twice(tool, {})
    assert caught.value.code == "nondeterministic_plan"
    assert "/preview and /warnings" in caught.value.hint


async def test_where_it_does_not_hold_still_is_cut_and_escaped(make: Make) -> None:
    runner, tool = make(
        COUNTER + "print(json.dumps({'preview': {f'\\u202e{i}' * 90: n for i in range(9)}}))"
    )
    with pytest.raises(PlanFailed, match=r"\\u202e0.*and 4 more\.$") as caught:
        await runner.plan_twice(tool, {})
    assert len(str(caught.value)) < 5 * 130 * 6
    assert str(caught.value).isprintable()


async def test_what_is_declared_volatile_may_vary_and_is_kept_beside_the_plan(make: Make) -> None:
    said = "{'effects': [{'what': 'w', 'before': 1, 'after': 2}], 'preview': {'at': n}}"
    runner, tool = make(f"{COUNTER}print(json.dumps({said}))", volatile=["/preview/at"])
    pinned = await runner.plan_twice(tool, {})
    assert pinned.volatile == {"/preview/at": 2}
    assert pinned.plan["preview"] == {}


async def test_the_undo_of_a_tool_without_one_is_refused_and_of_another_says_so(
    make: Make,
) -> None:
    done = Done({"arguments": {}}, {"rows": 1}, {"outcome": "applied"})
    runner, tool = make(STEADY)
    with pytest.raises(PlanFailed) as caught:
        await runner.plan_twice(tool, {}, done)
    assert caught.value.code == "irreversible"
    runner, tool = make(STEADY, undo_command=[sys.executable, "./tool.py"])
    undo = await runner.plan_twice(tool, {}, done)
    assert undo.plan["tool"] == {**tool.identity(), "undo": False, "verb": "undo"}
    assert drifted(undo, await runner.plan_again(tool, {}))


async def test_a_command_is_asked_for_an_undo_with_what_was_done(make: Make) -> None:
    keep = "import sys, json; asked = json.load(sys.stdin); del asked['tool'], asked['schema']\n"
    runner, tool = make(
        keep + "print(json.dumps({'preview': asked}))", undo_command=[sys.executable, "./tool.py"]
    )
    plan: dict[str, JSON] = {"arguments": {"id": 1}, "effects": []}
    undo = await runner.plan_twice(tool, {"id": 1}, Done(plan, 7, {"outcome": "applied"}))
    assert undo.plan["preview"] == {
        "verb": "undo_plan",
        "arguments": {"id": 1},
        "plan": plan,
        "result": 7,
        "receipt": {"outcome": "applied"},
    }


async def test_a_changed_world_or_a_changed_tool_is_drift(make: Make, tmp_path: Path) -> None:
    runner, tool = make(STEADY)
    pinned = await runner.plan_twice(tool, {})
    swapped = tool.model_copy(update={"apply": (sys.executable, "./other.py")})
    rug_pull = await runner.plan_again(swapped, {})
    assert [c.pointer for c in difference(pinned, rug_pull)] == ["/tool/definition"]
    (tmp_path / "tool.py").write_text(STEADY.replace("2", "3"))
    moved = await runner.plan_again(tool, {})
    assert drifted(pinned, moved)
    assert [c.pointer for c in difference(pinned, moved)] == ["/effects/0/after"]


async def test_arguments_that_do_not_fit_never_reach_the_tool(make: Make, tmp_path: Path) -> None:
    runner, tool = make(COUNTER + STEADY)
    with pytest.raises(BadArguments, match="no argument"):
        await runner.plan_twice(tool, {"ids": 1})
    with pytest.raises(PlanFailed, match="not of type 'integer'") as caught:
        await runner.plan_again(tool, {"id": "1"})
    assert caught.value.code == "bad_arguments"
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("body", "fields", "code"),
    [
        pytest.param("print('nothing')", {}, "bad_plan", id="not-json"),
        pytest.param("print('{\"preview\": NaN}')", {}, "bad_plan", id="nan"),
        pytest.param("print('{\"effects\": []}')", {}, "nothing_to_do", id="nothing-to-approve"),
        pytest.param(STEADY, {"touches": ["spend"]}, "bad_plan", id="spends-without-a-cost"),
        pytest.param(
            "import json; print(json.dumps({'preview': 'x' * 400_000}))",
            {},
            "plan_too_large",
            id="larger-than-a-person-can-read",
        ),
        pytest.param(
            "import json; print(json.dumps({'preview': {'v': 'x' * 400_000, 'w': 1}}))",
            {"volatile": ["/preview/v"]},
            "plan_too_large",
            id="what-varies-counts-too",
        ),
    ],
)
async def test_what_cannot_be_approved_is_not_pinned(
    make: Make, body: str, fields: dict[str, Any], code: str
) -> None:
    runner, tool = make(body, **fields)
    with pytest.raises(PlanFailed) as caught:
        await runner.plan_twice(tool, {})
    assert caught.value.code == code


async def test_a_broken_toolkit_cannot_make_an_apply_look_undone(make: Make) -> None:
    _, tool = make(STEADY)
    runner = Runner({"command": Broken()})
    assert (await runner.apply(tool, ORDER)).outcome is Outcome.LOST
    assert (await runner.verify(tool, ORDER, None)).reading is Reading.UNVERIFIED
    with pytest.raises(PlanFailed) as caught:
        await runner.plan_again(tool, {})
    assert caught.value.code == "bad_plan"


async def test_a_kind_that_nothing_runs_does_nothing(make: Make) -> None:
    _, tool = make(STEADY)
    runner = Runner({})
    assert (await runner.apply(tool, ORDER)).outcome is Outcome.DID_NOTHING
    assert (await runner.verify(tool, ORDER, None)).reading is Reading.UNVERIFIED
    with pytest.raises(PlanFailed, match="kind command"):
        await runner.plan_twice(tool, {})
    await runner.close()


class Watching(Broken):
    """A toolkit that looks, while it applies, what is remembered of its upstream."""

    def __init__(self) -> None:
        self.runner = Runner({"command": self})  # type: ignore[dict-item]
        self.seen: list[Heard | None] = []

    async def apply(self, tool: Tool, order: Order) -> Returned:
        self.seen.append(self.runner.memo.recall(PLACE))
        remember(self.runner.memo)
        return await super().apply(tool, order)


PLACE = ("s", "db.look", "d")


def remember(memo: Memo) -> None:
    memo.keep(PLACE, Heard(1), 60, memo.mark("db.look"))


async def test_an_apply_forgets_what_was_read_before_it_and_while_it_ran(make: Make) -> None:
    _, tool = make(COUNTER + STEADY)
    watching = Watching()
    memo = watching.runner.memo
    remember(memo)
    assert (await watching.runner.apply(tool, ORDER)).outcome is Outcome.LOST
    assert (watching.seen, memo.recall(PLACE)) == ([None], None)
