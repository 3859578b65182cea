"""What an operator may declare, what an agent may send, and the one line people read."""

import re
import tomllib
import unicodedata
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.canonical import canonical, loads, pointer_of
from proposals.tools import (
    BadArguments,
    BadDeclaration,
    Catalog,
    Tool,
    UnknownTool,
    declared,
    title,
    undo_title,
)

ROWS = {"kind": "command", "effect": "write", "plan": ["./rows", "plan"], "apply": ["./rows", "do"]}
SCHEMA = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer"},
        "size": {"type": "number"},
        "note": {"type": "string", "maxLength": 5},
        "who": {"properties": {"name": {"type": "string"}}},
        "properties": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}


def tool(**change: Any) -> Tool:
    fields = {**ROWS, **change}
    [one] = declared({"db": {"rows": {k: v for k, v in fields.items() if v is not None}}})
    return one


def definition(**change: Any) -> object:
    return tool(**change).identity()["definition"]


EXAMPLE = """
[tool.db.update_rows]
kind = "command"
effect = "destructive"
touches = ["delete"]
summary = "Set {/arguments/column} of {count} rows"
plan = ["./tools/rows.py", "plan"]
apply = ["./tools/rows.py", "apply"]
verify_command = ["./tools/rows.py", "verify"]
undo_command = ["./tools/rows.py", "undo"]
plan_env = {DATABASE = "file:crm.db?mode=ro"}
apply_env = {DATABASE = "env:CRM_DATABASE"}
timeout = "2m"
arguments = {required = ["column"], properties = {column = {type = "string"}}}

[tool.crm.deactivate]
kind = "python"
effect = "write"
module = "tools.customers"
volatile = ["/preview/took"]
"""


def test_the_example_of_the_contract_is_read() -> None:
    rows, crm = declared(tomllib.loads(EXAMPLE)["tool"])
    assert (rows.name, rows.timeout.total_seconds(), rows.mode) == (
        "db.update_rows",
        120,
        "approve",
    )
    assert (crm.name, crm.timeout.total_seconds(), crm.repository) == (
        "crm.deactivate",
        60,
        "default",
    )
    assert crm.identity().keys() == {"name", "kind", "effect", "definition", "undo"}
    assert rows.identity().keys() - crm.identity().keys() == {"touches"}
    assert (rows.identity()["undo"], crm.identity()["undo"]) == (True, False)
    assert rows.undo_identity() == {**rows.identity(), "undo": False, "verb": "undo"}


def test_the_line_of_an_undo_is_no_longer_than_any_other() -> None:
    assert undo_title("Deactivate 3 customers") == "Undo: Deactivate 3 customers"
    assert undo_title("x" * 72) == "Undo: " + "x" * 65 + "…"


def test_whether_a_module_can_undo_is_not_declared() -> None:
    with pytest.raises(BadDeclaration, match=r'unknown key "undoable"'):
        tool(undoable=True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"timout": "5s"}, r'unknown key "timout"\. Did you mean "timeout"', id="typo"),
        pytest.param({"xyzzy": 1}, r'unknown key "xyzzy"\.$', id="unknown-and-near-nothing"),
        pytest.param(
            {"secrets": ["/a"]}, "a secret is a pointer below", id="secrets-are-somewhere"
        ),
        pytest.param(
            {"pre": [{"id": "a", "tool": "db.x"}]},
            "does these things itself",
            id="no-recipe-for-a-command",
        ),
        pytest.param(
            {"mode": "confirm", "effect": "destructive"},
            'for effect = "write" alone',
            id="nothing-destructive-unasked",
        ),
        pytest.param(
            {"mode": "announce", "effect": "write", "touches": [], "verify_command": ["v"]},
            "can always take it back",
            id="nothing-announced-without-an-undo",
        ),
        pytest.param(
            {"mode": "announce", "effect": "write", "touches": [], "undo_command": ["u"]},
            "can always take it back",
            id="nothing-announced-without-a-verify",
        ),
        pytest.param(
            {"mode": "confirm", "effect": "write", "touches": ["contact"]},
            "touch none of spend",
            id="nothing-that-touches-unasked",
        ),
        pytest.param(
            {"mode": "confirm", "effect": "write", "touches": [], "targets": ["acme/shop"]},
            "no targets",
            id="a-confirmation-has-no-page",
        ),
        pytest.param({"mode": "yolo"}, "mode", id="no-such-mode"),
        pytest.param({"kind": None}, "needs kind", id="a-kind-is-needed"),
        pytest.param({"effect": None}, "effect", id="an-effect-is-needed"),
        pytest.param({"effect": "harmless"}, "effect", id="no-such-effect"),
        pytest.param({"touches": ["money"]}, "touches", id="no-such-touch"),
        pytest.param(
            {"effect": "read", "touches": ["spend"]}, "only reads", id="reads-touch-nothing"
        ),
        pytest.param({"plan": "./rows plan"}, "plan", id="a-command-is-a-list-not-a-shell-line"),
        pytest.param({"plan": []}, "has plan and apply", id="a-command-needs-its-plan"),
        pytest.param({"module": "tools.x"}, "no module", id="a-command-has-no-module"),
        pytest.param({"kind": "python"}, "no commands", id="a-python-tool-has-no-commands"),
        pytest.param({"kind": "python", "arguments": {}}, "its module says", id="python-schema"),
        pytest.param({"apply": ["a\0b"]}, "apply", id="no-nul-in-a-command"),
        pytest.param({"timeout": 60}, "timeout", id="a-timeout-has-a-unit"),
        pytest.param({"idempotent": "yes"}, "idempotent", id="nothing-is-converted"),
        pytest.param({"volatile": ["/effects/0"]}, "volatile", id="effects-are-never-volatile"),
        pytest.param({"volatile": ["/previewed"]}, "volatile", id="a-near-miss-is-not-preview"),
        pytest.param({"plan_env": {"A-B": "x"}}, "plan_env", id="no-such-variable-name"),
        pytest.param({"plan_env": {"A": "env:"}}, "plan_env", id="env-without-a-name"),
        pytest.param({"summary": "Do {everything}"}, "summary", id="unknown-hole"),
        pytest.param({"summary": "Do {/arguments/~2}"}, "summary", id="malformed-pointer"),
        pytest.param({"summary": "Do {/preview/x}"}, "summary", id="only-arguments-in-a-summary"),
        pytest.param({"key_argument": "key"}, "key_argument", id="key-argument-must-exist"),
        pytest.param({"arguments": {"type": "array"}}, "object", id="arguments-are-an-object"),
        pytest.param({"arguments": {"type": "objekt"}}, "arguments", id="no-such-type"),
        pytest.param(
            {"arguments": {"properties": {"a": {"$ref": "https://x.example/s"}}}},
            "references stay inside",
            id="no-remote-reference",
        ),
        pytest.param(
            {"arguments": {"properties": {"a": {"$ref": "#/$defs/none"}}}},
            "references stay inside",
            id="no-dangling-reference",
        ),
        pytest.param(
            {"arguments": {"properties": {"a": {"$id": "https://x.example/"}}}},
            "id is not understood",
            id="no-other-base",
        ),
        pytest.param(
            {"arguments": {"$schema": "http://json-schema.org/draft-07/schema#"}},
            "2020-12",
            id="one-dialect",
        ),
        pytest.param({"arguments": {"properties": {"a": {"pattern": "("}}}}, "pattern", id="regex"),
    ],
)
def test_a_wrong_declaration_refuses_the_start_with_a_sentence(
    change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadDeclaration, match=sentence) as caught:
        tool(**change)
    assert "[tool.db.rows]" in str(caught.value)


@pytest.mark.parametrize(
    "table",
    [
        pytest.param({"rows": {"kind": "command"}, "x": 1}, id="no-table-at-all"),
        pytest.param({"kind": "command"}, id="no-second-name"),
        pytest.param({"db": {"a.b": ROWS}}, id="a-dot-in-a-name"),
        pytest.param({"d__b": {"rows": ROWS}}, id="ambiguous-on-the-wire"),
        pytest.param({"db": {"r" * 61: ROWS}}, id="too-long-for-the-wire"),
        pytest.param({"db": {"": ROWS}}, id="empty-name"),
    ],
)
def test_a_tool_that_cannot_be_named_on_the_wire_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(BadDeclaration):
        declared(table)


@pytest.mark.parametrize(
    ("change", "drifts"),
    [
        pytest.param({"apply": ["./rows", "do", "--force"]}, True, id="argv"),
        pytest.param({"verify_command": ["./rows", "look"]}, True, id="verify"),
        pytest.param({"arguments": SCHEMA}, True, id="schema"),
        pytest.param({"effect": "destructive"}, True, id="effect"),
        pytest.param({"touches": ["contact"]}, True, id="touches"),
        pytest.param({"summary": "Harmless"}, True, id="summary"),
        pytest.param({"timeout": "61s"}, True, id="timeout"),
        pytest.param({"volatile": ["/preview"]}, True, id="volatile"),
        pytest.param({"apply_env": {"DATABASE": "rw"}}, True, id="another-variable"),
        pytest.param({"conclusive": True}, True, id="conclusive"),
        pytest.param({"plan_env": {"DATABASE": "ro"}}, True, id="a-variable-for-planning"),
        pytest.param({"section": "Data"}, False, id="section-is-for-people"),
        pytest.param({"timeout": "60s"}, False, id="the-default-said-aloud"),
    ],
)
def test_a_tool_that_changes_after_approval_is_another_tool(
    change: dict[str, Any], *, drifts: bool
) -> None:
    assert (definition(**change) != definition()) is drifts


def test_the_value_of_a_variable_is_no_part_of_the_definition() -> None:
    one, other = ({"apply_env": {"TOKEN": value}} for value in ("hunter2", "env:TOKEN"))
    assert definition(**one) == definition(**other)


@pytest.mark.parametrize(
    ("arguments", "code", "pointer"),
    [
        pytest.param({"id": "5"}, "bad_arguments", "/id", id="text-is-no-number"),
        pytest.param({"id": True}, "bad_arguments", "/id", id="true-is-no-number"),
        pytest.param({"id": 5.5}, "bad_arguments", "/id", id="half-is-no-integer"),
        pytest.param({"id": None}, "bad_arguments", "/id", id="null-is-no-number"),
        pytest.param({}, "missing_argument", "", id="missing"),
        pytest.param({"id": 1, "ID": 2}, "unknown_argument", "/ID", id="unknown"),
        pytest.param({"id": 1, "a/b": 2}, "unknown_argument", "/a~1b", id="unknown-with-a-slash"),
        pytest.param(
            {"id": 1, "who": {"nme": "x"}}, "unknown_argument", "/who/nme", id="unknown-inside"
        ),
        pytest.param(
            {"id": 1, "properties": {"a": "x"}}, "bad_arguments", "/properties/a", id="map"
        ),
        pytest.param({"id": 1, "note": "123456"}, "bad_arguments", "/note", id="too-long"),
        pytest.param({"id": 1, "size": float("nan")}, "not_a_number", "/size", id="nan"),
        pytest.param({"id": 2**53}, "number_too_large", "/id", id="too-large-to-be-exact"),
        pytest.param({"id": 1, "note": "\ud800"}, "lone_surrogate", "/note", id="half-a-character"),
        pytest.param([], "bad_arguments", "", id="a-list"),
        pytest.param(None, "bad_arguments", "", id="nothing"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: object, code: str, pointer: str) -> None:
    with pytest.raises(BadArguments) as caught:
        tool(arguments=SCHEMA).validate(arguments)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    assert str(caught.value).isprintable()


def test_arguments_come_back_as_their_canonical_bytes_say() -> None:
    whole = tool(arguments=SCHEMA).validate({"id": 5.0, "size": 0.5, "properties": {"a": 1}})
    assert canonical(whole) == b'{"id":5,"properties":{"a":1},"size":0.5}'
    assert repr(whole) == repr(loads(canonical(whole)))


def test_an_unknown_argument_is_told_the_nearest_one() -> None:
    with pytest.raises(BadArguments) as caught:
        tool(arguments=SCHEMA).validate({"id": 1, "niote": "x"})
    assert caught.value.hint.endswith('Did you mean "note"?')


def test_a_tool_without_a_schema_takes_no_arguments() -> None:
    assert tool().validate({}) == {}
    with pytest.raises(BadArguments, match="no argument"):
        tool().validate({"id": 1})


def test_an_object_stays_open_only_when_the_operator_says_so() -> None:
    open_one = tool(arguments={**SCHEMA, "additionalProperties": True})
    assert open_one.validate({"id": 1, "more": 2}) == {"id": 1, "more": 2}


def test_a_schema_that_leads_back_to_itself_is_an_error_not_a_crash() -> None:
    loop = tool(arguments={"properties": {"a": {"$ref": "#/properties/a"}}})
    with pytest.raises(BadArguments, match="operator"):
        loop.validate({"a": 1})


def test_a_published_schema_is_closed_too() -> None:
    python = tool(kind="python", module="tools.x", plan=None, apply=None)
    with pytest.raises(BadArguments, match="no argument"):
        python.with_schema({"properties": {"id": {}}}).validate({"idd": 1})
    with pytest.raises(BadDeclaration, match="references"):
        python.with_schema({"$ref": "https://x.example/"})


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_whatever_is_sent_is_taken_whole_or_refused(arguments: dict[str, Any]) -> None:
    with suppress(BadArguments):
        assert tool(arguments=SCHEMA).validate(arguments) == arguments


def test_a_name_that_is_not_declared_is_denied_with_the_nearest() -> None:
    catalog = Catalog.of([tool()])
    assert catalog.find("db.rows") is catalog.list()[0]
    with pytest.raises(
        UnknownTool, match=r'No tool "db\.row" is declared\. Did you mean "db\.rows"'
    ):
        catalog.find("db.row")
    with pytest.raises(UnknownTool, match=r"\\u202e"):
        catalog.find("\u202eswor.bd\n")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(BadDeclaration, match="twice"):
        Catalog.of([tool(), tool()])


def titled(value: object, summary: str = "Mail {/arguments/to} now") -> str:
    return title(tool(summary=summary), {"arguments": {"to": value}, "effects": [1, 2, 3]})


@pytest.mark.parametrize(
    ("value", "line"),
    [
        pytest.param("ann", "Mail ann now", id="plain"),
        pytest.param(7, "Mail 7 now", id="number"),
        pytest.param(["a"], 'Mail ["a"] now', id="list"),
        pytest.param(None, "Mail ? now", id="null"),
        pytest.param("@ann", "Mail (at)ann now", id="mentions-nobody"),
        pytest.param("fixes #12", "Mail fixes 12 now", id="closes-nothing"),
        pytest.param("##12", "Mail 12 now", id="links-nothing-twice"),
        pytest.param("#\u200b12", "Mail 12 now", id="links-nothing-unseen"),
        pytest.param("GH-12", "Mail GH 12 now", id="links-nothing-the-old-way"),
        pytest.param("a\nApproved-By: x\r\n", "Mail a Approved-By: x now", id="stays-one-line"),
        pytest.param("a\u2028b\x85c", "Mail a b c now", id="stays-one-line-in-unicode"),
        pytest.param("x\u202egnp.exe", "Mail xgnp.exe now", id="cannot-turn-direction"),
        pytest.param("a\u200bd\u2060m\ufeffin\u3164", "Mail admin now", id="hides-nothing"),
        pytest.param("\x1b[31mred\x07", "Mail [31mred now", id="no-terminal-codes"),
        pytest.param("a" * 50, f"Mail {'a' * 23}… now", id="long-values-are-cut"),
        pytest.param("{count}", "Mail {count} now", id="a-value-is-no-template"),
    ],
)
def test_a_value_in_a_title_is_only_a_value(value: object, line: str) -> None:
    assert titled(value) == line


def test_a_title_counts_and_survives_what_is_missing() -> None:
    assert titled("x", "Change {count} rows of {/arguments/none}") == "Change 3 rows of ?"
    assert titled("12", "Close #{/arguments/to}") == "Close 12"
    assert title(tool(), {"effects": []}) == "Run db.rows"
    assert titled("x", "y" * 100) == "y" * 71 + "…"


@given(st.lists(st.text(), max_size=6), st.text())
def test_a_title_is_always_one_short_printable_line(steps: list[str], value: str) -> None:
    arguments: Any = value
    for step in reversed(steps):
        arguments = {step: arguments}
    pointer = pointer_of(steps)
    summary = f"Set {{/arguments{pointer}}} of {{count}}"
    if (
        re.search(r"[{}]", pointer)
        or len(summary) > 200
        or "\ud800" <= max(value + " ") <= "\udfff"
    ):
        return
    line = title(tool(summary=summary), {"arguments": arguments, "effects": []})
    assert len(line) <= 72
    assert line.isprintable()
    assert "@" not in line
    assert not any(unicodedata.category(c) in {"Cf", "Cc", "Zl", "Zp"} for c in line)


def test_targets_are_a_part_of_what_a_tool_is() -> None:
    both = definition(targets=["acme/shop", "acme/site"])
    assert both == definition(targets=["acme/site", "acme/shop"])
    assert len({definition(), both, definition(targets=["acme/shop"])}) == 3
    assert definition(targets=["acme/shop"]) != definition(targets=["acme/shop"], forks=True)


@pytest.mark.parametrize("name", ["shop", "acme/", "acme/shop/x", "acme/*", "a b/c"])
def test_a_target_is_a_repository_by_its_full_name(name: str) -> None:
    with pytest.raises(BadDeclaration):
        tool(targets=[name])
