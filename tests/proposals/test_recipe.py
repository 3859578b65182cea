"""What an operator may say of a tool that others wrote; every fault is a sentence at the start."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.canonical import JSON, same
from proposals.tools import BadArguments, BadDeclaration, Tool, declared
from proposals.tools.recipe import pattern
from proposals.tools.references import filled

KINDS = {"fs": "mcp", "cal": "mcp", "api": "http"}
DATA = Path(__file__).parent.parent / "data"
CONTRACT = (DATA / "contract.toml").read_text()
PATH = {"path": {"from": "/arguments/path"}}
OLD = {"id": "old", "tool": "fs.read", "args": PATH, "take": "/structuredContent/content"}
READ = {"effect": "read", "absent": "^ENOENT"}
SCHEMA = {"properties": {"path": {"type": "string"}, "dryRun": {"type": "boolean"}}}


def tool(effect: str = "write", **fields: Any) -> Tool:
    table = {"fs": {"do": {"effect": effect, **fields}, "read": READ, "other": {"effect": "write"}}}
    return declared(table, KINDS)[0]


def http(**fields: Any) -> Tool:
    said = {"effect": "write", "method": "PUT", "path": "/items/{id}", **fields}
    said.setdefault("arguments", {"properties": {"id": {}, "etag": {}, "size": {}}})
    return declared({"api": {"put": {k: v for k, v in said.items() if v is not None}}}, KINDS)[0]


def test_the_example_of_the_contract_loads_as_it_stands() -> None:
    tools = {one.name: one for one in declared(tomllib.loads(CONTRACT)["tool"], KINDS)}
    assert {name: one.kind for name, one in tools.items()} == {
        "fs.read_text_file": "mcp",
        "fs.write_file": "mcp",
        "fs.edit_file": "mcp",
        "fs.move_file": "mcp",
        "cal.push_workout": "mcp",
        "cal.create_event": "mcp",
        "db.update_rows": "command",
    }
    assert tools["fs.edit_file"].recipe.forbid == ("dryRun",)
    assert tools["cal.create_event"].undo


def test_what_the_example_calls_and_does_not_declare_is_told_and_never_called() -> None:
    tools = {one.name: one for one in declared(tomllib.loads(CONTRACT)["tool"], KINDS)}
    lacking = {name: one.lacking for name, one in tools.items() if one.lacking}
    assert lacking.keys() == {"fs.move_file", "cal.create_event"}
    assert "Write [tool.fs.get_file_info]" in lacking["fs.move_file"]
    with pytest.raises(BadArguments, match="cannot be used") as caught:
        tools["fs.move_file"].validate({})
    assert caught.value.code == "not_usable"


def test_with_the_declarations_that_it_needs_nothing_of_the_example_is_lacking() -> None:
    text = CONTRACT + (DATA / "contract-reads.toml").read_text()
    assert [t.name for t in declared(tomllib.loads(text)["tool"], KINDS) if t.lacking] == []


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        pytest.param(
            {"pre": [OLD | {"requires": "absent"}]},
            r'pre.0.requires: there is no such key. Did you mean "require"',
            id="a-typo-inside-a-table",
        ),
        pytest.param({"prre": []}, 'unknown key "prre". Did you mean "pre"', id="a-typo"),
        pytest.param({"arguments": {}}, "its server says them", id="the-server-says-the-arguments"),
        pytest.param({"plan": ["./x"]}, "no module, commands", id="no-commands"),
        pytest.param({"method": "GET", "path": "/"}, "belong to HTTP tools", id="no-requests"),
        pytest.param(
            {"pre": [OLD | {"tool": "fs.other"}]},
            '"fs.other" is not declared effect = "read"',
            id="a-precondition-only-reads",
        ),
        pytest.param(
            {"verify": [{"tool": "fs.other", "exists": True}]},
            "not called without approval",
            id="a-read-back-only-reads",
        ),
        pytest.param(
            {"preview": {"tool": "fs.other"}}, "without approval", id="a-preview-s-own-tool-reads"
        ),
        pytest.param(
            {"undo": [{"tool": "fs.read", "args": {}}]}, "it changes nothing", id="an-undo-changes"
        ),
        pytest.param({"touches": ["spend"]}, "says its cost", id="what-it-spends-is-said"),
        pytest.param(
            {"pre": [OLD | {"args": {"path": {"from": "/result/path"}}}]},
            "'/result/path' is not known then; known are /arguments, /pre",
            id="no-result-before-the-call",
        ),
        pytest.param(
            {"pre": [OLD | {"args": {"path": {"from": "/pre/old"}}}]},
            "is read later than this",
            id="no-precondition-of-itself",
        ),
        pytest.param(
            {"effects": [{"what": {"from": "/preview/x"}}]},
            "'/preview/x' is not known then",
            id="no-preview-without-a-dry-run",
        ),
        pytest.param(
            {"effects": [{"what": {"from": "/pre/new"}}]}, "names no id of pre", id="no-such-id"
        ),
        pytest.param(
            {"pre": [OLD, OLD]}, "two have the id 'old'", id="one-id-for-two-preconditions"
        ),
        pytest.param(
            {"pre": [OLD | {"pin": "sha256"}], "undo": [{"tool": "fs.other", "args": {
                "x": {"from": "/pre/old"}}}]},
            "keep = true for an undo",
            id="an-undo-needs-what-was-kept",
        ),
        pytest.param(
            {"pre": [OLD | {"pin": "sha256", "keep": True}], "apply": {"set": {
                "x": {"from": "/pre/old"}}}},
            'write pin = "value"',
            id="an-apply-has-only-what-the-plan-shows",
        ),
        pytest.param(
            {"undo": [{"when_absent": "old", "irreversible": "no"}]},
            "when_absent names no id of pre",
            id="an-undo-asks-for-a-precondition",
        ),
        pytest.param(
            {"undo": [{"tool": "fs.other", "irreversible": "no"}]}, "either a tool", id="both-ways"
        ),
        pytest.param(
            {"verify": [{"tool": "fs.read"}]}, "one of exists, equals", id="an-empty-read-back"
        ),
        pytest.param(
            {"verify": [{"tool": "fs.read", "exists": True, "within": "1h"}]},
            "at most 5m",
            id="patience-has-an-end",
        ),
        pytest.param({"preview": {}}, "either flags", id="an-empty-preview"),
        pytest.param(
            {"preview": {"set": {"dryRun": True}}},
            "say what 'dryRun' is then",
            id="a-flag-that-nothing-turns",
        ),
        pytest.param(
            {"preview": {"set": {"a": {"from": "arguments/x"}}}},
            "a reference is",
            id="a-reference-begins-with-a-slash",
        ),
        pytest.param(
            {"effects": [{"what": {"from": "/argument/x"}}]}, "a reference is", id="no-such-root"
        ),
        pytest.param({"absent": "^ENOENT"}, "belong to tools that only read", id="absent-reads"),
        pytest.param({"memo": "60s"}, "belong to tools that only read", id="no-memo-of-writes"),
        pytest.param({"pre": [OLD | {"drop": "("}]}, "no regular expression", id="no-such-regex"),
        pytest.param({"pre": [OLD | {"drop": "(a+)+$"}]}, "for ever", id="an-endless-regex"),
        pytest.param({"pre": [OLD | {"drop": "a" * 201}]}, "at most 200", id="a-long-regex"),
        pytest.param({"secrets": ["/tool"]}, "a secret is a pointer below", id="no-such-secret"),
        pytest.param({"secrets": ["/arguments/~2"]}, "JSON Pointer", id="no-pointer-at-all"),
        pytest.param(
            {"volatile": ["/preview"], "undo": [{"tool": "fs.other", "args": {}}]},
            "the call of its undo stands in /preview/undo",
            id="the-way-back-is-never-volatile",
        ),
    ],
)  # fmt: skip
def test_a_wrong_recipe_refuses_the_start_with_a_sentence(
    fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadDeclaration, match=re.escape(sentence)) as caught:
        tool(**fields)
    assert "[tool.fs.do]" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        pytest.param({"method": None, "path": None}, "has a method and a path", id="no-request"),
        pytest.param({"path": "/items/{who}"}, "no property of arguments", id="an-unknown-hole"),
        pytest.param({"path": "https://x.example/"}, "stays below", id="another-host"),
        pytest.param({"path": "//x.example/"}, "stays below", id="another-host-without-a-scheme"),
        pytest.param({"path": "/a/../b"}, "stays below", id="a-way-up"),
        pytest.param({"path": "/a?b=c"}, "stays below", id="a-query-is-said-apart"),
        pytest.param({"headers": {"etag": "Host"}}, "no header that", id="not-the-host"),
        pytest.param({"headers": {"tag": "If-Match"}}, "no property", id="an-unknown-argument"),
        pytest.param(
            {"forbid": ["etags"]}, 'Did you mean "etag"', id="a-flag-that-the-tool-has-not"
        ),
    ],
)
def test_a_wrong_request_refuses_the_start_with_a_sentence(
    fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadDeclaration, match=re.escape(sentence)):
        http(**fields)


def test_a_tool_of_no_declared_upstream_needs_a_kind() -> None:
    with pytest.raises(BadDeclaration, match=r"\[upstream.gh\] with command or url"):
        declared({"gh": {"merge": {"effect": "write"}}}, KINDS)
    with pytest.raises(BadDeclaration, match=r'kind = "mcp" needs \[upstream.gh\]'):
        declared({"gh": {"merge": {"effect": "write", "kind": "mcp"}}}, KINDS)


@pytest.mark.parametrize(
    ("change", "drifts"),
    [
        pytest.param({"forbid": ["x"]}, True, id="a-flag"),
        pytest.param({"pre": [OLD]}, True, id="a-precondition"),
        pytest.param({"apply": {"set": {"x": 1}}}, True, id="the-call"),
        pytest.param({"secrets": ["/arguments/x"]}, True, id="a-secret"),
    ],
)
def test_a_recipe_is_a_part_of_what_the_tool_is(change: dict[str, Any], *, drifts: bool) -> None:
    assert (tool(**change).identity() != tool().identity()) is drifts


def test_what_a_read_is_remembered_by_changes_no_plan() -> None:
    plain, kept = tool("read"), tool("read", memo="60s", retries=2, fallback="fs.read")
    assert plain.identity() == kept.identity()
    assert (kept.memo, kept.retries, kept.fallback) == (kept.memo, 2, "fs.read")


def test_an_upstream_s_server_can_be_asked_whether_it_has_the_flags() -> None:
    flagged = {"forbid": ["dryRun"], "preview": {"set": {"dryRun": True}}}
    one = tool(**flagged, apply={"unset": ["dryRun"]})
    assert "no argument 'dryRun'" in one.unflippable()
    assert one.with_schema(SCHEMA).unflippable() == ""


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["from", "a", "b"]), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(values)
def test_what_an_agent_sends_comes_out_as_it_was(value: JSON) -> None:
    """A value that looks like a reference is none: only the operator's words are read as such."""
    assert same(filled({"from": "/arguments/x"}, {"arguments": {"x": value}}), value)


@given(st.text(alphabet="ab+*(){}1,?^$.|\\", max_size=12))
def test_a_pattern_is_usable_or_refused(text: str) -> None:
    try:
        pattern(text)
    except ValueError:
        return
    re.compile(text)
