"""Commands as tools, with real processes: what they see, what they may say, how they end."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proposals.plan import Planned
from proposals.ports import Checked, Order, Outcome, PlanFailed, Reading, Returned
from proposals.tools import BadDeclaration, Tool
from proposals.upstreams import Heard, Unreached, Unreturned
from webhook_app.toolkits.command import CommandToolkit
from webhook_app.toolkits.process import MAX_OUTPUT, Child
from webhook_app.toolkits.wire import UNCHECKED

pytestmark = pytest.mark.anyio

SERVER = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": "hunter2", "CRM": "rw.db"}
PLAN = '{"effects": [{"what": "row 1", "before": 1, "after": 2}]}'
ORDER = Order({"arguments": {"id": 1}, "effects": []}, "key-1")
ENDLESS = "while True: print('x' * 100_000)"
Make = Callable[..., tuple[CommandToolkit, Tool]]
SLEEP_WITH_A_CHILD = "sleep 300 & echo $! > pids; wait"
SLEEP_DEAF = "trap '' TERM; " + SLEEP_WITH_A_CHILD
LEAVE_ONE_BEHIND = """
import subprocess
sleeper = subprocess.Popen(["sleep", "300"])
open("pids", "w").write(str(sleeper.pid))
print('{"ok": true, "result": 1}')
"""


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A toolkit, and a tool whose every verb is this Python script."""

    def make(body: str, **fields: Any) -> tuple[CommandToolkit, Tool]:
        (tmp_path / "tool.py").write_text(body)
        command = [sys.executable, "./tool.py"]
        verbs = {verb: [*command, verb] for verb in ("plan", "apply", "verify_command")}
        said = {"effect": "write", **verbs, **fields}
        tool = Tool(name="db.t", kind="command", **said)
        return CommandToolkit(tmp_path, SERVER), tool

    return make


async def plan(made: tuple[CommandToolkit, Tool]) -> Planned:
    return await made[0].plan(made[1], {"id": 1})


async def apply(made: tuple[CommandToolkit, Tool]) -> Returned:
    return await made[0].apply(made[1], ORDER)


async def verify(made: tuple[CommandToolkit, Tool]) -> Checked:
    return await made[0].verify(made[1], ORDER, {"rows": 1})


def is_gone(pid: int) -> bool:
    """Whether a process ends soon: it is gone, or a zombie that nobody has reaped."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def written(path: Path) -> str:
    """What a child writes to a file, once it has."""
    while not (path.exists() and path.read_text()):
        time.sleep(0.02)
    return path.read_text()


def says(answer: str, code: int = 0) -> str:
    """A tool that gives this answer and exits with this code."""
    return f"import sys\nprint({answer!r})\nsys.exit({code})"


async def test_a_tool_is_asked_one_json_object_and_gives_its_plan(make: Make) -> None:
    echo = f"import sys; open('asked', 'w').write(sys.stdin.read()); print('''{PLAN}''')"
    toolkit, tool = make(echo)
    planned = await toolkit.plan(tool, {"id": 1})
    assert planned == Planned(effects=[{"what": "row 1", "before": 1, "after": 2}])
    assert json.loads((toolkit.folder / "asked").read_text()) == {
        "schema": "placet.tool/v1",
        "verb": "plan",
        "tool": "db.t",
        "arguments": {"id": 1},
    }


async def test_apply_is_given_the_plan_and_the_key_and_verify_the_result(make: Make) -> None:
    made = make("import sys; open(sys.argv[1], 'w').write(sys.stdin.read())")
    await apply(made)
    await verify(made)
    applied = json.loads((made[0].folder / "apply").read_text())
    assert (applied["verb"], applied["plan"], applied["key"]) == ("apply", ORDER.plan, "key-1")
    assert applied["arguments"] == {"id": 1}
    verified = json.loads((made[0].folder / "verify_command").read_text())
    assert (verified["verb"], verified["result"]) == ("verify", {"rows": 1})
    assert "key" not in verified


async def test_whole_plans_are_read_whole(make: Make) -> None:
    whole = {
        "effects": [{"what": "w", "before": None, "after": [1]}],
        "preview": "text",
        "preconditions": {"etag": "e"},
        "cost": {"amount": "1.50", "unit": "EUR"},
        "warnings": ["slow"],
    }
    planned = await plan(make(f"print('''{json.dumps(whole)}''')"))
    assert planned == Planned(**whole)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        pytest.param(says("hello"), "bad_plan", "Not one JSON value", id="not-json"),
        pytest.param("pass", "bad_plan", "Not one JSON value", id="silence"),
        pytest.param(says("{}{}"), "bad_plan", "Not one JSON value", id="two-answers"),
        pytest.param(says("[]"), "bad_plan", "the answer", id="a-list"),
        pytest.param(says('{"preview": NaN}'), "bad_plan", "NaN", id="nan"),
        pytest.param(says('{"preview": 1, "preview": 2}'), "bad_plan", "twice", id="a-key-twice"),
        pytest.param(says('{"preview": 9007199254740993}'), "bad_plan", "digits", id="inexact"),
        pytest.param(says("[" * 80 + "]" * 80), "bad_plan", "deep", id="too-deep"),
        pytest.param("import os; os.write(1, b'\\xff')", "bad_plan", "UTF-8", id="not-utf-8"),
        pytest.param(says('{"preview": 1, "x": 2}'), "bad_plan", "x: Extra", id="unknown-member"),
        pytest.param(says('{"effects": [{"what": "w"}]}'), "bad_plan", "before", id="half-effect"),
        pytest.param(
            says('{"preview": 1, "warnings": [1]}'), "bad_plan", "warnings", id="odd-warning"
        ),
        pytest.param(
            says('{"preview": 1, "cost": {"amount": true, "unit": "EUR"}}'),
            "bad_plan",
            "cost",
            id="true-is-no-amount",
        ),
        pytest.param(says("{}"), "bad_plan", "neither effects nor a preview", id="shows-nothing"),
        pytest.param(says('{"effects": []}'), "nothing_to_do", "change nothing", id="no-effects"),
        pytest.param("raise SystemExit(3)", "tool_failed", "exited with 3", id="exit-code"),
        pytest.param(says(PLAN, 3), "tool_failed", "exited with 3", id="a-plan-and-an-exit-code"),
        pytest.param("import os; os.abort()", "tool_failed", "killed by signal 6", id="crash"),
        pytest.param(ENDLESS, "tool_failed", "more than 1,000,000", id="too-loud"),
        pytest.param(
            says('{"error": {"code": "no_such_row", "message": "No row 1.", "hint": "Look."}}'),
            "no_such_row",
            r"^No row 1\.$",
            id="its-own-refusal",
        ),
        pytest.param(
            says('{"error": {"code": "x", "message": "a\\u202eb\\n"}}', 1),
            "x",
            r"^a\\u202eb\\n$",
            id="its-words-are-escaped",
        ),
        pytest.param(
            says('{"error": {"code": "A B", "message": "m"}}'), "tool_failed", "m", id="odd-code"
        ),
        pytest.param(says('{"error": "no"}'), "bad_plan", "error", id="malformed-error"),
    ],
)
async def test_what_is_no_plan_says_why(make: Make, body: str, code: str, words: str) -> None:
    with pytest.raises(PlanFailed, match=words) as caught:
        await plan(make(body))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("body", "outcome", "why"),
    [
        pytest.param(says('{"ok": true, "result": 7}'), Outcome.DONE, "", id="done"),
        pytest.param(
            says('{"ok": false, "did_nothing": true, "why": "row moved"}'),
            Outcome.DID_NOTHING,
            "row moved",
            id="did-nothing",
        ),
        pytest.param(
            says('{"ok": false, "did_nothing": true, "why": "no"}', 1),
            Outcome.DID_NOTHING,
            "no",
            id="did-nothing-with-an-exit-code",
        ),
        pytest.param(says('{"ok": true}', 1), Outcome.LOST, "exited with 1", id="ok-yet-failed"),
        pytest.param(says('{"ok": true, "did_nothing": true}'), Outcome.LOST, "both", id="both"),
        pytest.param(
            says('{"ok": false, "why": "half"}'), Outcome.LOST, "half", id="not-ok-is-not-nothing"
        ),
        pytest.param(says('{"ok": false}'), Outcome.LOST, "nor", id="not-ok-without-a-word"),
        pytest.param(says('{"ok": 1}'), Outcome.LOST, "ok", id="one-is-not-true"),
        pytest.param(
            says('{"ok": true, "results": 1}'), Outcome.LOST, "results", id="unknown-member"
        ),
        pytest.param("raise SystemExit(3)", Outcome.LOST, "exited with 3", id="exit-code"),
        pytest.param("import os; os.kill(os.getpid(), 9)", Outcome.LOST, "signal 9", id="killed"),
        pytest.param(says("done"), Outcome.LOST, "cannot be read", id="not-json"),
        pytest.param(says('{"ok": true, "result": NaN}'), Outcome.LOST, "NaN", id="nan"),
        pytest.param(ENDLESS, Outcome.LOST, "more than 1,000,000", id="too-loud"),
        pytest.param("pass", Outcome.LOST, "cannot be read", id="silence"),
    ],
)
async def test_only_an_answer_settles_an_apply(
    make: Make, body: str, outcome: Outcome, why: str
) -> None:
    returned = await apply(make(body))
    assert returned.outcome is outcome
    assert why in returned.why
    assert returned.result == (7 if outcome is Outcome.DONE else None)


CHECK = '{"what": "w", "expected": 1, "found": 1, "ok": '


@pytest.mark.parametrize(
    ("body", "reading"),
    [
        pytest.param(
            says(f'{{"verdict": "verified", "checks": [{CHECK}true}}]}}'),
            Reading.VERIFIED,
            id="verified",
        ),
        pytest.param(says('{"verdict": "verified"}'), Reading.UNVERIFIED, id="verified-by-nothing"),
        pytest.param(
            says(f'{{"verdict": "verified", "checks": [{CHECK}false}}]}}'),
            Reading.UNVERIFIED,
            id="verified-against-its-own-check",
        ),
        pytest.param(says('{"verdict": "contradicted"}'), Reading.CONTRADICTED, id="contradicted"),
        pytest.param(says('{"verdict": "fine"}'), Reading.UNVERIFIED, id="no-such-verdict"),
        pytest.param(says('{"verdict": "contradicted"}', 1), Reading.UNVERIFIED, id="exit-code"),
        pytest.param(says("yes"), Reading.UNVERIFIED, id="not-json"),
    ],
)
async def test_only_a_reading_verifies(make: Make, body: str, reading: Reading) -> None:
    checked = await verify(make(body))
    assert checked.reading is reading
    assert checked.why or reading is not Reading.UNVERIFIED


async def test_without_a_verify_command_there_is_nothing_to_read_back(make: Make) -> None:
    checked = await verify(make("print('{}')", verify_command=[]))
    assert checked == Checked(Reading.UNVERIFIED, why="nothing to read back")


async def test_who_approves_is_told_that_nothing_can_be_read_back(make: Make) -> None:
    body = "import json; print(json.dumps({'preview': 1, 'warnings': ['slow']}))"
    assert (await plan(make(body))).warnings == ["slow"]
    assert (await plan(make(body, verify_command=[]))).warnings == ["slow", UNCHECKED]


async def test_each_verb_sees_only_its_own_environment(make: Make) -> None:
    body = "import json, os; print(json.dumps({'preview': dict(os.environ)}))"
    plan_env, apply_env = {"DATABASE": "ro.db"}, {"DATABASE": "env:CRM", "TOKEN": "s3cret"}
    toolkit, tool = make(body, plan_env=plan_env, apply_env=apply_env)
    seen = (await toolkit.plan(tool, {})).preview
    assert isinstance(seen, dict)
    assert seen.keys() - {"LC_CTYPE"} == {"PATH", "DATABASE"}
    assert seen["DATABASE"] == "ro.db"
    dump = "import json, os; print(json.dumps({'ok': True, 'result': dict(os.environ)}))"
    result = (await apply(make(dump, plan_env=plan_env, apply_env=apply_env))).result
    assert isinstance(result, dict)
    assert (result["DATABASE"], result["TOKEN"]) == ("rw.db", "s3cret")
    assert "WEBHOOK_SECRET" not in result


async def test_a_variable_that_the_server_lacks_stops_the_tool_before_it_starts(make: Make) -> None:
    made = make("open('ran', 'w')", plan_env={"A": "env:GONE"}, apply_env={"A": "env:GONE"})
    with pytest.raises(BadDeclaration, match="plan_env names the environment variable GONE"):
        await made[0].ready(made[1])
    with pytest.raises(PlanFailed, match="GONE is not set") as caught:
        await plan(made)
    assert caught.value.code == "tool_not_started"
    assert (await apply(made)).outcome is Outcome.DID_NOTHING
    assert (await verify(made)).reading is Reading.UNVERIFIED
    assert not (made[0].folder / "ran").exists()


async def test_a_program_that_is_not_there_did_nothing(make: Make) -> None:
    made = make("", plan=["./none"], apply=["./none"])
    with pytest.raises(PlanFailed, match=r"\./none could not be started"):
        await plan(made)
    assert (await apply(made)).outcome is Outcome.DID_NOTHING


async def test_there_is_no_shell(make: Make) -> None:
    body = "import json, sys; print(json.dumps({'preview': sys.argv[1:]}))"
    hostile = "; touch ran $(touch ran) `touch ran`"
    toolkit, tool = make(body, plan=[sys.executable, "./tool.py", hostile])
    assert (await toolkit.plan(tool, {})).preview == [hostile]
    assert not (toolkit.folder / "ran").exists()


async def test_noise_on_stderr_is_for_the_log_and_bounded(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    noise = "import sys; sys.stderr.write('x' * 500_000 + '\\x1b[2Jlast words\\n')\n"
    assert (await plan(make(f"{noise}print('''{PLAN}''')"))).effects
    [record] = caplog.records
    assert "db.t plan wrote on stderr" in record.getMessage()
    assert r"\x1b[2Jlast words\n" in record.getMessage()
    assert len(record.getMessage()) < 9_000


async def test_a_tool_need_not_read_what_it_is_asked(make: Make) -> None:
    toolkit, tool = make(f"import os; os.close(0); print('''{PLAN}''')")
    assert (await toolkit.plan(tool, {"text": "x" * 900_000})).effects


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(SLEEP_WITH_A_CHILD, id="one-that-sleeps"),
        pytest.param(SLEEP_DEAF, id="one-that-ignores-sigterm"),
    ],
)
async def test_a_timeout_ends_the_tool_and_its_children(make: Make, script: str) -> None:
    made = make("", apply=["sh", "-c", script], timeout="2s")
    returned = await apply(made)
    assert returned.outcome is Outcome.LOST
    assert "did not end within 2 s" in returned.why
    assert await asyncio.to_thread(is_gone, int((made[0].folder / "pids").read_text()))


async def test_what_a_tool_leaves_running_ends_with_it(make: Make) -> None:
    made = make(LEAVE_ONE_BEHIND)
    assert (await apply(made)) == Returned(Outcome.DONE, 1)
    assert await asyncio.to_thread(is_gone, int((made[0].folder / "pids").read_text()))


async def test_a_daemon_that_holds_the_pipe_does_not_hold_the_answer(make: Make) -> None:
    made = make(LEAVE_ONE_BEHIND.replace('"300"]', '"300"], start_new_session=True'))
    try:
        assert (await apply(made)) == Returned(Outcome.DONE, 1)
    finally:
        os.kill(int((made[0].folder / "pids").read_text()), 9)


async def test_a_cancelled_apply_leaves_nothing_running(make: Make) -> None:
    made = make("", apply=["sh", "-c", SLEEP_DEAF])
    task = asyncio.create_task(apply(made))
    pid = int(await asyncio.to_thread(written, made[0].folder / "pids"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(is_gone, pid)


async def test_output_beyond_the_cap_is_not_kept(tmp_path: Path) -> None:
    endless = [sys.executable, "-c", ENDLESS]
    child = await Child.start(endless, tmp_path, SERVER)
    assert await child.until(lambda: child.loud, 10)
    with suppress(TimeoutError):
        await child.until(lambda: False, 0.05)
    assert len(child.output) == MAX_OUTPUT + 1
    await child.end(0)


def reads(make: Make, body: str) -> tuple[CommandToolkit, Tool]:
    command = [sys.executable, "./tool.py", "read"]
    no_other = {"plan": [], "apply": [], "verify_command": []}
    return make(body, effect="read", read=command, **no_other)


async def test_a_read_gives_what_it_found(make: Make) -> None:
    toolkit, tool = reads(make, says('{"result": {"rows": 3}}'))
    assert await toolkit.read(tool, {}) == Heard({"rows": 3})


async def test_a_read_that_fails_says_why_and_nothing_else(make: Make) -> None:
    answer = '{"error": {"code": "no_row", "message": "there is no row 1"}}'
    toolkit, tool = reads(make, says(answer, 1))
    assert await toolkit.read(tool, {}) == Heard(None, "no_row: there is no row 1")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(says("nothing"), id="not-json"),
        pytest.param(says('{"results": 1}'), id="another-shape"),
        pytest.param(says('{"result": 1}', 3), id="an-answer-and-a-failure"),
        pytest.param("import os; os.abort()", id="killed"),
    ],
)
async def test_a_read_whose_answer_cannot_be_read_is_none(make: Make, body: str) -> None:
    toolkit, tool = reads(make, body)
    with pytest.raises(Unreturned):
        await toolkit.read(tool, {})


async def test_a_read_that_cannot_be_started_was_not_reached(make: Make) -> None:
    toolkit, tool = reads(make, "")
    with pytest.raises(Unreached):
        await toolkit.read(tool.model_copy(update={"read": ("./no-such-program",)}), {})
