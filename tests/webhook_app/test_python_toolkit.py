"""Python modules as tools: a warm process that looks, a fresh one that acts."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from proposals.canonical import JSON
from proposals.ports import Checked, Done, Order, Outcome, PlanFailed, Reading, Returned
from proposals.tools import BadArguments, BadDeclaration, Tool
from proposals.upstreams import Heard
from webhook_app.toolkits.python import PythonToolkit
from webhook_app.toolkits.wire import UNCHECKED

pytestmark = pytest.mark.anyio

MODULE = """
import os, sys, time
from pydantic import BaseModel, field_validator

class Arguments(BaseModel):
    id: int = 1
    say: str = ""

    @field_validator("id")
    @classmethod
    def not_13(cls, value):
        if value == 13:
            raise ValueError("not 13")
        return value

def plan(arguments):
    print("noise")
    os.system("echo more noise")
    seen = {"pid": os.getpid(), "env": dict(os.environ), "stdin": sys.stdin.read()}
    match arguments.say:
        case "nan": return {"preview": float("nan")}
        case "set": return {"preview": {1}}
        case "raise": raise RuntimeError("postgres://user:hunter2@db")
        case "exit": sys.exit(4)
        case "die": os.abort()
        case "sleep": time.sleep(300)
        case "loud": return {"preview": "x" * 2_000_000}
    return {"preview": seen}

def apply(arguments, plan, key):
    print("noise")
    if arguments.say == "raise":
        raise RuntimeError
    if arguments.say == "nothing":
        return {"ok": False, "did_nothing": True, "why": "row moved"}
    return {"ok": True, "result": {"pid": os.getpid(), "key": key, "env": dict(os.environ)}}
"""
VERIFY = """
def verify(arguments, plan, result):
    return {"verdict": "contradicted", "why": str(result)}
"""
HALF = """
def undo(arguments, plan, key):
    return {"ok": True}
"""
UNDO = """
def undo_plan(arguments, plan, result):
    if result == "other":
        return {"error": {"code": "undo_conflict", "message": "row 1 holds 7"}}
    return {"preview": {"plan": plan, "result": result, "pid": os.getpid()}}

def undo(arguments, plan, key):
    if arguments.say == "raise":
        raise RuntimeError
    return {"ok": True, "result": {"pid": os.getpid(), "plan": plan, "env": dict(os.environ)}}
"""
TOOL = Tool(
    name="crm.t",
    kind="python",
    effect="write",
    module="tools.crm",
    plan_env={"DATABASE": "ro"},
    apply_env={"DATABASE": "rw", "TOKEN": "env:CRM_TOKEN"},
)


@pytest.fixture
async def toolkit(tmp_path: Path) -> AsyncIterator[PythonToolkit]:
    write(tmp_path, MODULE)
    server = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": "hunter2", "CRM_TOKEN": "t"}
    toolkit = PythonToolkit(tmp_path, server)
    yield toolkit
    await toolkit.close()


def write(folder: Path, source: str) -> None:
    (folder / "tools").mkdir(exist_ok=True)
    (folder / "tools" / "crm.py").write_text(source)


def order(**arguments: JSON) -> Order:
    return Order({"arguments": arguments}, "key-1")


async def preview(toolkit: PythonToolkit, tool: Tool = TOOL) -> dict[str, Any]:
    seen = (await toolkit.plan(tool, {})).preview
    assert isinstance(seen, dict)
    return seen


def ask_until_reaped(pid: int) -> None:
    while True:
        os.kill(pid, 0)
        time.sleep(0.01)


async def test_the_module_publishes_its_arguments(toolkit: PythonToolkit) -> None:
    tool = await toolkit.ready(TOOL)
    assert tool.validate({"id": 5}) == {"id": 5}
    assert tool.identity() != TOOL.identity()
    with pytest.raises(BadArguments, match="not of type 'integer'"):
        tool.validate({"id": "5"})
    with pytest.raises(BadArguments, match="no argument"):
        tool.validate({"idd": 5})


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("import nonesuch", "ModuleNotFoundError", id="its-import-fails"),
        pytest.param("Arguments = dict", "TypeError", id="its-arguments-are-no-model"),
        pytest.param("pass", "AttributeError", id="it-has-no-arguments"),
        pytest.param("raise SystemExit(3)", "exited with 3", id="it-ends"),
        pytest.param(MODULE + HALF, "has undo but no undo_plan", id="undo-without-its-plan"),
        pytest.param(
            MODULE + HALF.replace("undo", "undo_plan"),
            "has undo_plan but no undo",
            id="a-plan-without-the-undo",
        ),
    ],
)
async def test_a_module_that_cannot_be_used_refuses_the_start(
    toolkit: PythonToolkit, source: str, words: str
) -> None:
    write(toolkit.folder, source)
    with pytest.raises(BadDeclaration, match=words):
        await toolkit.ready(TOOL)


async def test_looking_is_done_by_one_warm_process_that_sees_only_plan_env(
    toolkit: PythonToolkit,
) -> None:
    first, second = await preview(toolkit), await preview(toolkit)
    assert first["pid"] == second["pid"]
    assert first["env"]["DATABASE"] == "ro"
    assert first["env"].keys() - {"LC_CTYPE"} == {"PATH", "PYTHONPATH", "DATABASE"}
    assert first["stdin"] == ""


async def test_every_apply_is_a_fresh_process_with_its_own_secrets(toolkit: PythonToolkit) -> None:
    looked = await preview(toolkit)
    results = [(await toolkit.apply(TOOL, order())).result for _ in range(2)]
    one, other = (result for result in results if isinstance(result, dict))
    assert len({looked["pid"], one["pid"], other["pid"]}) == 3
    assert one["key"] == "key-1"
    assert isinstance(one["env"], dict)
    assert (one["env"]["DATABASE"], one["env"]["TOKEN"]) == ("rw", "t")
    assert "WEBHOOK_SECRET" not in one["env"]


async def test_another_environment_is_another_process(toolkit: PythonToolkit) -> None:
    before = await preview(toolkit)
    after = await preview(toolkit, TOOL.model_copy(update={"plan_env": {"DATABASE": "copy"}}))
    assert after["env"]["DATABASE"] == "copy"
    assert after["pid"] != before["pid"]


@pytest.mark.parametrize(
    ("say", "code", "words"),
    [
        pytest.param("nan", "bad_plan", "NaN", id="nan"),
        pytest.param("set", "tool_failed", "plan raised TypeError", id="not-json"),
        pytest.param(
            "raise", "tool_failed", r"^plan raised RuntimeError$", id="its-words-are-kept-in"
        ),
        pytest.param("exit", "tool_failed", "exited with 4", id="it-exits"),
        pytest.param("die", "tool_failed", "killed by signal 6", id="it-dies"),
        pytest.param("sleep", "tool_failed", "did not answer within 2 s", id="it-hangs"),
        pytest.param("loud", "tool_failed", "more than 1,000,000", id="it-is-too-loud"),
    ],
)
async def test_a_plan_that_goes_wrong_does_not_spoil_the_next(
    toolkit: PythonToolkit, say: str, code: str, words: str
) -> None:
    seconds = 2 if say == "sleep" else 60
    tool = TOOL.model_copy(update={"timeout": timedelta(seconds=seconds)})
    with pytest.raises(PlanFailed, match=words) as caught:
        await toolkit.plan(tool, {"say": say})
    assert caught.value.code == code
    assert await preview(toolkit)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param({"id": "5"}, "id: Input should be a valid integer", id="text-is-no-number"),
        pytest.param({"id": 13}, "id: Value error, not 13", id="the-model's-own-rule"),
    ],
)
async def test_the_model_judges_too_and_nothing_runs(
    toolkit: PythonToolkit, arguments: dict[str, JSON], words: str
) -> None:
    with pytest.raises(PlanFailed, match=words) as caught:
        await toolkit.plan(TOOL, arguments)
    assert caught.value.code == "bad_arguments"
    returned = await toolkit.apply(TOOL, order(**arguments))
    assert returned.outcome is Outcome.DID_NOTHING


async def test_an_apply_that_raises_is_lost_and_one_that_declines_is_not(
    toolkit: PythonToolkit,
) -> None:
    lost = await toolkit.apply(TOOL, order(say="raise"))
    assert lost == Returned(Outcome.LOST, why="The tool exited with 1.")
    declined = await toolkit.apply(TOOL, order(say="nothing"))
    assert declined == Returned(Outcome.DID_NOTHING, why="row moved")


async def test_a_module_that_broke_since_did_nothing(toolkit: PythonToolkit) -> None:
    write(toolkit.folder, "import nonesuch")
    returned = await toolkit.apply(TOOL, order())
    assert returned.outcome is Outcome.DID_NOTHING
    assert "ModuleNotFoundError" in returned.why


async def test_undo_is_optional_and_known_at_the_start(toolkit: PythonToolkit) -> None:
    assert (await toolkit.ready(TOOL)).identity()["undo"] is False
    write(toolkit.folder, MODULE + UNDO)
    await toolkit.close()
    assert (await toolkit.ready(TOOL)).identity()["undo"] is True


async def test_an_undo_is_planned_where_plans_are_made_and_done_where_changes_are(
    toolkit: PythonToolkit,
) -> None:
    write(toolkit.folder, MODULE + UNDO)
    done = Done({"arguments": {"id": 2}, "tool": {}}, {"rows": 1}, {"outcome": "applied"})
    looked: Any = (await toolkit.undo_plan(TOOL, done)).preview
    assert (looked["plan"], looked["result"]) == (done.plan, done.result)
    with pytest.raises(PlanFailed, match="row 1 holds 7") as caught:
        await toolkit.undo_plan(TOOL, replace(done, result="other"))
    assert caught.value.code == "undo_conflict"
    plan: dict[str, JSON] = {"arguments": {"id": 2}, "tool": {"verb": "undo"}}
    changed = await toolkit.apply(TOOL, Order(plan, "p_2"))
    assert changed.outcome is Outcome.DONE
    said: Any = changed.result
    assert (said["plan"], said["env"]["DATABASE"], said["env"]["TOKEN"]) == (plan, "rw", "t")
    assert said["pid"] != looked["pid"]
    raised = await toolkit.apply(TOOL, Order({**plan, "arguments": {"say": "raise"}}, "p_2"))
    assert raised.outcome is Outcome.LOST


async def test_verify_is_optional(toolkit: PythonToolkit) -> None:
    nothing = await toolkit.verify(TOOL, order(), 7)
    assert nothing == Checked(Reading.UNVERIFIED, why="nothing to read back")
    await toolkit.close()
    write(toolkit.folder, MODULE + VERIFY)
    assert await toolkit.verify(TOOL, order(), 7) == Checked(Reading.CONTRADICTED, why="7")


async def test_who_approves_is_told_when_a_module_has_no_verify(toolkit: PythonToolkit) -> None:
    await toolkit.ready(TOOL)
    assert UNCHECKED in (await toolkit.plan(TOOL, {})).warnings
    await toolkit.close()
    write(toolkit.folder, MODULE + VERIFY)
    looked = PythonToolkit(toolkit.folder, toolkit.server)
    await looked.ready(TOOL)
    assert UNCHECKED not in (await looked.plan(TOOL, {})).warnings
    await looked.close()


async def test_a_warm_process_that_was_killed_while_idle_is_replaced(
    toolkit: PythonToolkit,
) -> None:
    pid = (await preview(toolkit))["pid"]
    os.kill(pid, 9)
    with pytest.raises(ProcessLookupError):
        await asyncio.to_thread(ask_until_reaped, pid)
    await asyncio.sleep(0.2)  # the event loop is told right after the reaping
    assert (await preview(toolkit))["pid"] != pid


async def test_closing_ends_the_warm_process(toolkit: PythonToolkit) -> None:
    pid = (await preview(toolkit))["pid"]
    await toolkit.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_the_child_imports_nothing_heavy(toolkit: PythonToolkit) -> None:
    heavy = ["fastapi", "githubkit", "httpx", "jsonschema", "structlog", "asyncio"]
    write(toolkit.folder, MODULE.replace('"pid": os.getpid()', '"pid": sorted(sys.modules)'))
    loaded = (await preview(toolkit))["pid"]
    assert "pydantic" in loaded
    assert [name for name in heavy if name in loaded] == []


async def test_a_file_beside_placet_toml_takes_the_place_of_nothing(toolkit: PythonToolkit) -> None:
    (toolkit.folder / "pydantic.py").write_text("raise SystemExit('shadowed')")
    (toolkit.folder / "json.py").write_text("raise SystemExit('shadowed')")
    assert await preview(toolkit)


FLAGGED = """
from pydantic import BaseModel

class Arguments(BaseModel):
    title: str
    push: bool = False

def is_preview(arguments):
    return not arguments.push

def apply_push(arguments):
    return arguments.model_copy(update={"push": arguments.title != "stuck"})

def run(arguments):
    return {"pushed": arguments.push, "title": arguments.title}
"""


async def test_a_flag_in_the_arguments_is_turned_for_the_change_alone(
    toolkit: PythonToolkit, tmp_path: Path
) -> None:
    write(tmp_path, FLAGGED)
    tool = await toolkit.ready(TOOL)
    shown = await toolkit.plan(tool, {"title": "Run"})
    assert shown.preview == {"pushed": False, "title": "Run"}
    returned = await toolkit.apply(tool, order(title="Run"))
    assert returned == Returned(Outcome.DONE, {"pushed": True, "title": "Run"})


async def test_a_flag_that_cannot_be_turned_runs_nothing(
    toolkit: PythonToolkit, tmp_path: Path
) -> None:
    write(tmp_path, FLAGGED)
    tool = await toolkit.ready(TOOL)
    returned = await toolkit.apply(tool, order(title="stuck"))
    assert returned.outcome is Outcome.DID_NOTHING
    assert "preview" in returned.why


async def test_an_agent_does_not_turn_the_flag(toolkit: PythonToolkit, tmp_path: Path) -> None:
    write(tmp_path, FLAGGED)
    tool = await toolkit.ready(TOOL)
    with pytest.raises(PlanFailed) as caught:
        await toolkit.plan(tool, {"title": "Run", "push": True})
    assert caught.value.code == "flag_not_yours"


async def test_half_a_preview_refuses_the_start(toolkit: PythonToolkit, tmp_path: Path) -> None:
    write(tmp_path, FLAGGED.replace("apply_push", "other"))
    with pytest.raises(BadDeclaration, match="is_preview but no apply_push"):
        await toolkit.ready(TOOL)


READS = TOOL.model_copy(update={"effect": "read", "apply_env": {}})
READ = """
def read(arguments):
    if arguments.id == 7:
        raise LookupError("hunter2")
    return {"id": arguments.id}
"""


async def test_a_module_that_reads_is_read(toolkit: PythonToolkit, tmp_path: Path) -> None:
    write(tmp_path, MODULE + READ)
    tool = await toolkit.ready(READS)
    assert await toolkit.read(tool, {"id": 5}) == Heard({"id": 5})
    failed = await toolkit.read(tool, {"id": 7})
    assert failed == Heard(None, "tool_failed: read raised LookupError")


async def test_a_read_without_a_function_refuses_the_start(toolkit: PythonToolkit) -> None:
    with pytest.raises(BadDeclaration, match=r"has no read\(arguments\)"):
        await toolkit.ready(READS)
