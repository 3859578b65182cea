"""Recipes over a folder of real files: planned, applied, read back, and taken back."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from proposals.canonical import canonical
from proposals.ports import Done, Order, Outcome, PlanFailed, Reading
from proposals.tools import BadArguments, declared
from tests.folder import Desk, Folder

pytestmark = pytest.mark.anyio

CONTRACT = (Path(__file__).parent.parent / "data" / "contract.toml").read_text()
LACKING = """
[tool.fs.get_file_info]
effect = "read"
absent = "^ENOENT"
"""
DELETE = """
[tool.fs.delete_file]
effect = "destructive"
pre = [{id = "old", tool = "fs.read_text_file", args = {path = {from = "/arguments/path"}}, take = "/structuredContent/content", keep = true, require = "exists"}]
verify = [{tool = "fs.read_text_file", args = {path = {from = "/arguments/path"}}, exists = false}]
undo = [{tool = "fs.write_file", args = {path = {from = "/arguments/path"}, content = {from = "/pre/old"}}}]
"""  # noqa: E501 (one line of TOML)
FLAG: dict[str, Any] = {"type": "boolean", "default": False}
EDIT = {"path": "a.txt", "old": "old", "new": "older"}
SECRET = "the old text, which nobody need see"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "a.txt").write_text(SECRET)
    table = {"fs": tomllib.loads(CONTRACT + LACKING + DELETE)["tool"]["fs"]}
    return Desk(Folder(tmp_path), declared(table, {"fs": "mcp"}))


def order(pinned: Any, key: str = "p_1") -> Order:
    return Order(pinned.plan, key, pinned.kept)


async def test_without_a_dry_run_the_plan_is_what_was_read_and_what_is_declared(
    desk: Desk,
) -> None:
    pinned = await desk.plan("fs.write_file", path="a.txt", content="new")
    [effect] = pinned.plan["effects"]
    assert (effect["what"], effect["after"]) == ("file", "new")
    assert pinned.plan["preconditions"] == {"old": {"sha256": effect["before"]}}
    assert "no dry run" in pinned.plan["warnings"][0]
    assert desk.folder.writes() == []


async def test_what_is_kept_for_the_undo_is_no_part_of_the_plan(desk: Desk) -> None:
    pinned = await desk.plan("fs.write_file", path="a.txt", content="new")
    assert pinned.kept == {"old": SECRET}
    assert SECRET not in canonical([pinned.plan, pinned.volatile]).decode()


async def test_the_dry_run_is_the_plan_and_changes_nothing(desk: Desk) -> None:
    pinned = await desk.plan("fs.edit_file", path="a.txt", old="old", new="older")
    assert "+the older text" in pinned.plan["preview"]
    assert "not isolated" in pinned.plan["warnings"][0]
    assert desk.folder.writes() == []
    assert desk.folder.text("a.txt") == SECRET


async def test_the_change_is_the_call_with_the_flag_turned(desk: Desk) -> None:
    pinned = await desk.plan("fs.edit_file", path="a.txt", old="old", new="older")
    tool = desk.catalog.find("fs.edit_file")
    returned = await desk.runner.apply(tool, order(pinned, "p_7"))
    assert returned.outcome is Outcome.DONE
    arguments = {"path": "a.txt", "old": "old", "new": "older", "dryRun": False}
    assert desk.folder.writes() == [("edit_file", arguments, "p_7")]
    checked = await desk.runner.verify(tool, order(pinned), returned.result)
    assert checked.reading is Reading.VERIFIED
    assert SECRET not in str(checked)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(False, id="the-change"),
        pytest.param(1, id="a-one"),
        pytest.param("", id="text"),
    ],
)
async def test_the_flag_is_not_the_agent_s(desk: Desk, value: Any) -> None:
    with pytest.raises(BadArguments) as caught:
        await desk.plan("fs.edit_file", path="a.txt", old="old", new="x", dryRun=value)
    assert (caught.value.code, caught.value.pointer) == ("flag_not_yours", "/dryRun")


async def test_the_preview_s_own_value_is_taken_and_dropped(desk: Desk) -> None:
    pinned = await desk.plan("fs.edit_file", path="a.txt", old="old", new="x", dryRun=True)
    assert pinned.plan["arguments"] == {"path": "a.txt", "old": "old", "new": "x"}
    assert "dryRun" not in desk.catalog.find("fs.edit_file").offered["properties"]


async def test_another_world_is_another_plan(desk: Desk) -> None:
    first = await desk.plan("fs.write_file", path="a.txt", content="new")
    desk.folder.write_file("a.txt", "changed meanwhile")
    assert (await desk.plan("fs.write_file", path="a.txt", content="new")).digest != first.digest


async def test_what_is_not_there_is_pinned_as_such(desk: Desk) -> None:
    pinned = await desk.plan("fs.write_file", path="b.txt", content="new")
    assert pinned.plan["preconditions"] == {"old": {"absent": True}}
    assert pinned.plan["effects"][0]["before"] is None
    assert pinned.kept == {}


async def test_an_error_that_nobody_declared_proves_nothing(desk: Desk) -> None:
    (desk.folder.root / "d").mkdir()
    with pytest.raises(PlanFailed, match="IsADirectoryError") as caught:
        await desk.plan("fs.write_file", path="d", content="new")
    assert caught.value.code == "not_readable"


async def test_what_must_not_be_there_yet_stops_the_plan(desk: Desk) -> None:
    desk.folder.write_file("b.txt", "in the way")
    with pytest.raises(PlanFailed, match="must not be there yet") as caught:
        await desk.plan("fs.move_file", source="a.txt", destination="b.txt")
    assert caught.value.code == "precondition_failed"


async def test_what_changes_by_itself_is_dropped_before_pinning(desk: Desk) -> None:
    pinned = await desk.plan("fs.move_file", source="a.txt", destination="b.txt")
    said = pinned.plan["preconditions"]["src"]["value"]
    assert "size: 35" in said
    assert "accessed" not in said


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        pytest.param("", Outcome.DONE, id="an-answer"),
        pytest.param("unreached", Outcome.DID_NOTHING, id="never-sent"),
        pytest.param("error", Outcome.DID_NOTHING, id="failed-and-nothing-changed"),
        pytest.param("error after", Outcome.LOST, id="failed-yet-something-changed"),
        pytest.param("lost before", Outcome.LOST, id="no-answer-and-nothing-done"),
        pytest.param("lost", Outcome.LOST, id="no-answer-and-done"),
    ],
)
async def test_only_what_is_certain_to_have_done_nothing_did_nothing(
    desk: Desk, fault: str, outcome: Outcome
) -> None:
    pinned = await desk.plan("fs.write_file", path="a.txt", content="new")
    desk.folder.fault = fault
    returned = await desk.runner.apply(desk.catalog.find("fs.write_file"), order(pinned))
    assert returned.outcome is outcome
    assert len(desk.folder.writes()) == 1


@pytest.mark.parametrize(
    ("fault", "content", "reading"),
    [
        pytest.param("", "new", Reading.VERIFIED, id="as-planned"),
        pytest.param("lie", "new", Reading.CONTRADICTED, id="success-that-is-none"),
        pytest.param("lost", "new", Reading.VERIFIED, id="no-answer-but-there"),
        pytest.param("lost before", "new", Reading.CONTRADICTED, id="no-answer-and-not-there"),
        pytest.param("lost before", SECRET, Reading.UNVERIFIED, id="it-was-so-before"),
    ],
)
async def test_reading_back_shows_what_the_world_shows(
    desk: Desk, fault: str, content: str, reading: Reading
) -> None:
    pinned = await desk.plan("fs.write_file", path="a.txt", content=content)
    tool = desk.catalog.find("fs.write_file")
    desk.folder.fault = fault
    returned = await desk.runner.apply(tool, order(pinned))
    checked = await desk.runner.verify(tool, order(pinned), returned.result)
    assert checked.reading is reading
    assert SECRET not in str(checked)


@pytest.mark.parametrize("then", ["nothing happens", "it vanishes"])
async def test_what_must_differ_from_before_is_there_and_differs(desk: Desk, then: str) -> None:
    pinned = await desk.plan("fs.edit_file", **EDIT)
    tool = desk.catalog.find("fs.edit_file")
    desk.folder.fault = "idle" if then == "nothing happens" else ""
    returned = await desk.runner.apply(tool, order(pinned))
    if then == "it vanishes":
        desk.folder.delete_file("a.txt")
    checked = await desk.runner.verify(tool, order(pinned), returned.result)
    assert (returned.outcome, checked.reading) == (Outcome.DONE, Reading.CONTRADICTED)


async def test_a_read_that_knows_no_absence_proves_none(desk: Desk) -> None:
    info = desk.catalog.find("fs.get_file_info")
    desk.catalog.publish(info.model_copy(update={"absent": ""}))
    with pytest.raises(PlanFailed, match="ENOENT") as caught:
        await desk.plan("fs.move_file", source="a.txt", destination="b.txt")
    assert caught.value.code == "not_readable"


async def test_a_moved_file_is_there_and_no_longer_here(desk: Desk) -> None:
    done = await desk.done("fs.move_file", source="a.txt", destination="b.txt")
    assert done.receipt["after"]["src"] == {"absent": True}
    desk.folder.write_file("a.txt", "back again")
    tool = desk.catalog.find("fs.move_file")
    checked = await desk.runner.verify(tool, Order(done.plan, "p_1"), done.result)
    assert [one["ok"] for one in checked.checks] == [True, False]
    assert checked.reading is Reading.CONTRADICTED


async def test_what_was_kept_is_put_back_and_stands_in_no_plan(desk: Desk) -> None:
    done = await desk.done("fs.write_file", path="a.txt", content="new")
    undo = await desk.undo("fs.write_file", done)
    assert undo.plan["tool"]["verb"] == "undo"
    assert [(e["before"], e["after"]) for e in undo.plan["effects"]] == [
        ("new", done.plan["effects"][0]["before"])  # type: ignore[index, call-overload]
    ]
    assert SECRET not in canonical([undo.plan, undo.volatile]).decode()
    tool = desk.catalog.find("fs.write_file")
    returned = await desk.runner.apply(tool, order(undo, "p_2"))
    assert (returned.outcome, desk.folder.text("a.txt")) == (Outcome.DONE, SECRET)
    assert (await desk.runner.verify(tool, order(undo), returned.result)).reading is (
        Reading.VERIFIED
    )


async def test_an_undo_whose_kept_value_is_another_does_nothing(desk: Desk) -> None:
    done = await desk.done("fs.write_file", path="a.txt", content="new")
    undo = await desk.undo("fs.write_file", done)
    forged = Order(undo.plan, "p_2", {"old": "forged"})
    returned = await desk.runner.apply(desk.catalog.find("fs.write_file"), forged)
    assert (returned.outcome, desk.folder.text("a.txt")) == (Outcome.DID_NOTHING, "new")


@pytest.mark.parametrize(
    ("call", "meanwhile", "code", "words"),
    [
        pytest.param(
            ("fs.write_file", {"path": "b.txt", "content": "x"}), None, "irreversible",
            "the server has no delete", id="a-way-back-for-what-was-absent",
        ),
        pytest.param(
            ("fs.write_file", {"path": "a.txt", "content": "x"}), SECRET, "already_undone",
            "as it was before", id="somebody-put-it-back",
        ),
        pytest.param(
            ("fs.write_file", {"path": "a.txt", "content": "x"}), "y", "undo_conflict",
            r'"old" \(fs.read_text_file\) is sha256:\w+, and was left as sha256:',
            id="somebody-changed-it-since",
        ),
        pytest.param(
            ("fs.edit_file", {"path": "a.txt", "old": "old", "new": "x"}), "y", "undo_conflict",
            "was left as", id="an-edit-that-somebody-went-on-from",
        ),
    ],
)  # fmt: skip
async def test_a_world_that_moved_on_is_not_overwritten(
    desk: Desk, call: tuple[str, dict[str, Any]], meanwhile: str | None, code: str, words: str
) -> None:
    done = await desk.done(call[0], **call[1])
    if meanwhile is not None:
        desk.folder.write_file("a.txt", meanwhile)
    with pytest.raises(PlanFailed, match=words) as caught:
        await desk.undo(call[0], done)
    assert caught.value.code == code
    assert SECRET not in str(caught.value)


async def test_a_move_is_moved_back(desk: Desk) -> None:
    done = await desk.done("fs.move_file", source="a.txt", destination="b.txt")
    undo = await desk.undo("fs.move_file", done)
    tool = desk.catalog.find("fs.move_file")
    returned = await desk.runner.apply(tool, order(undo))
    assert desk.folder.text("a.txt") == SECRET
    assert (await desk.runner.verify(tool, order(undo), returned.result)).reading is (
        Reading.VERIFIED
    )


async def test_what_is_pinned_by_value_stands_in_the_plan_of_its_undo(desk: Desk) -> None:
    done = await desk.done("fs.delete_file", path="a.txt")
    undo = await desk.undo("fs.delete_file", done)
    call = undo.plan["preview"]["undo"]["call"]
    assert call == {"tool": "fs.write_file", "arguments": {"path": "a.txt", "content": SECRET}}
    await desk.runner.apply(desk.catalog.find("fs.delete_file"), order(undo))
    assert desk.folder.text("a.txt") == SECRET


async def test_an_undo_that_does_not_put_it_back_is_contradicted(desk: Desk) -> None:
    done = await desk.done("fs.write_file", path="a.txt", content="new")
    undo = await desk.undo("fs.write_file", done)
    desk.folder.fault = "lie"
    tool = desk.catalog.find("fs.write_file")
    returned = await desk.runner.apply(tool, order(undo))
    assert (await desk.runner.verify(tool, order(undo), returned.result)).reading is (
        Reading.CONTRADICTED
    )


async def test_an_agent_s_value_is_never_read_as_a_reference(desk: Desk) -> None:
    text = '{"from": "/pre/old"}'
    done = await desk.done("fs.write_file", path="a.txt", content=text)
    assert desk.folder.text("a.txt") == text
    assert isinstance(done, Done)


def one(desk: Desk, table: str, schema: dict[str, Any]) -> Desk:
    """The desk with a tool more, which is `edit_file` declared in another way."""
    [said] = declared({"fs": tomllib.loads(table)}, {"fs": "mcp"})
    tool = said.model_copy(update={"name": "fs.edit_file"}).with_schema(schema, published={"x": 1})
    desk.catalog.publish(tool)
    return desk


def with_flag(**flag: Any) -> dict[str, Any]:
    known = {name: {"type": "string"} for name in ("path", "old", "new")}
    return {"properties": known | flag, "required": list(known)}


@pytest.mark.parametrize(
    ("preview", "apply", "schema", "code"),
    [
        pytest.param(
            "set = {dryRun = true}", "unset = ['dryRun']",
            with_flag(dryRun=FLAG | {"default": True}), "flag_not_flipped",
            id="left-out-it-is-taken-for-the-dry-run",
        ),
        pytest.param(
            "set = {dryRun = true}", "set = {dryRun = true}", with_flag(dryRun=FLAG),
            "flag_not_flipped", id="the-same-flag-twice",
        ),
        pytest.param(
            "unset = ['dryRun']", "set = {dryRun = false}", with_flag(dryRun=FLAG),
            "flag_not_flipped", id="a-dry-run-that-is-the-change",
        ),
        pytest.param(
            "set = {dryRun = true}", "set = {dryRun = false}", with_flag(),
            "flag_not_there", id="the-tool-has-no-such-flag",
        ),
        pytest.param(
            "set = {dryRun = 'yes'}", "set = {dryRun = false}", with_flag(dryRun=FLAG),
            "bad_call", id="the-tool-takes-no-such-value",
        ),
    ],
)  # fmt: skip
async def test_a_flag_that_cannot_be_turned_refuses_and_calls_nothing(
    desk: Desk, preview: str, apply: str, schema: dict[str, Any], code: str
) -> None:
    table = f"[flagged]\neffect = 'write'\npreview = {{{preview}}}\napply = {{{apply}}}\n"
    one(desk, table, schema)
    with pytest.raises(PlanFailed) as caught:
        await desk.plan("fs.edit_file", **EDIT)
    assert caught.value.code == code
    assert desk.folder.writes() == []
    assert desk.folder.text("a.txt") == SECRET


@pytest.mark.parametrize(
    ("more", "arguments", "code", "words"),
    [
        pytest.param("", EDIT | {"old": "nowhere"}, "preview_failed", "is not in", id="it-fails"),
        pytest.param(
            "take = '/structuredContent/diff'", EDIT, "bad_plan", "nothing at", id="not-there"
        ),
        pytest.param("take = ''", EDIT, "", "", id="everything-is-taken-when-nothing-is-said"),
    ],
)
async def test_a_dry_run_is_a_plan_only_if_it_shows_something(
    desk: Desk, more: str, arguments: dict[str, Any], code: str, words: str
) -> None:
    flags = "set = {dryRun = true}" + (f", {more}" if more else "")
    table = f"[x]\neffect = 'write'\npreview = {{{flags}}}\napply = {{set = {{dryRun = false}}}}\n"
    one(desk, table, with_flag(dryRun=FLAG))
    if not code:
        pinned = await desk.plan("fs.edit_file", **arguments)
        assert pinned.plan["preview"]["isError"] is False
        return
    with pytest.raises(PlanFailed, match=words) as caught:
        await desk.plan("fs.edit_file", **arguments)
    assert caught.value.code == code


COST = """
[x]
effect = "write"
touches = ["spend"]
cost = {amount = {from = "/preview/structuredContent/COST"}, unit = "EUR"}
preview = {set = {dryRun = true}}
apply = {set = {dryRun = false}}
"""


async def test_what_it_spends_is_read_from_its_dry_run(desk: Desk) -> None:
    one(desk, COST.replace("COST", "content"), with_flag(dryRun=FLAG))
    pinned = await desk.plan("fs.edit_file", **EDIT)
    assert pinned.plan["cost"]["unit"] == "EUR"


@pytest.mark.parametrize("place", ["nowhere", "content/0"])
async def test_a_cost_that_cannot_be_told_is_no_plan(desk: Desk, place: str) -> None:
    one(desk, COST.replace("COST", place), with_flag(dryRun=FLAG))
    with pytest.raises(PlanFailed, match="cost") as caught:
        await desk.plan("fs.edit_file", **EDIT)
    assert caught.value.code == "bad_plan"


async def test_what_varies_in_a_dry_run_is_shown_and_not_pinned(desk: Desk) -> None:
    table = COST.replace("COST", "content") + 'volatile = ["/preview/structuredContent/content"]\n'
    one(desk, table, with_flag(dryRun=FLAG))
    with pytest.raises(
        PlanFailed, match="there is nothing at '/preview/structuredContent/content'"
    ):
        await desk.plan("fs.edit_file", **EDIT)


async def test_without_anything_to_read_nothing_is_verified_and_the_undo_says_so(
    desk: Desk,
) -> None:
    table = """
[x]
effect = "write"
undo = [{tool = "fs.x", args = {path = {from = "/arguments/path"}, old = {from = "/arguments/new"}, new = {from = "/arguments/old"}}}]
"""  # noqa: E501 (one line of TOML)
    one(desk, table.replace("fs.x", "fs.x"), with_flag(dryRun=FLAG))
    desk.catalog.tools["fs.x"] = desk.catalog.find("fs.edit_file")
    done = await desk.done("fs.edit_file", **EDIT)
    assert done.receipt["after"] == {}
    undo = await desk.undo("fs.edit_file", done)
    assert "cannot be told" in undo.plan["warnings"][0]
    tool = desk.catalog.find("fs.edit_file")
    returned = await desk.runner.apply(tool, order(undo))
    assert desk.folder.text("a.txt") == SECRET
    checked = await desk.runner.verify(tool, order(undo), returned.result)
    assert checked.reading is Reading.UNVERIFIED


async def test_a_failed_call_tells_nobody_what_was_kept(desk: Desk) -> None:
    pinned = await desk.plan("fs.write_file", path="a.txt", content="new")
    desk.folder.fault = "echo"
    returned = await desk.runner.apply(desk.catalog.find("fs.write_file"), order(pinned))
    assert returned.outcome is Outcome.DID_NOTHING
    assert "it still holds sha256:" in returned.why
    assert SECRET not in returned.why
