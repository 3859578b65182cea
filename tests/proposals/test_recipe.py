"""What an operator may say of a tool that others wrote; every fault is a sentence at the start."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.canonical import JSON, same
from proposals.tools import BadArguments, BadDeclaration, Catalog, Tool, UnknownTool, declared
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
    tools = Catalog.of(declared(tomllib.loads(CONTRACT)["tool"], KINDS)).tools
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


def test_what_the_examples_recipes_name_is_placets_own_and_no_agents() -> None:
    catalog = Catalog.of(declared(tomllib.loads(CONTRACT)["tool"], KINDS))
    assert [tool.name for tool in catalog.list() if tool.lacking] == []
    assert {name: (one.effect, one.absent) for name, one in catalog.own.items()} == {
        "fs.get_file_info": ("read", "^ENOENT"),
        "cal.get_event": ("read", ""),
        "cal.delete_event": ("write", ""),
    }
    for name in catalog.own:
        assert catalog.reach(name).own
        with pytest.raises(UnknownTool):
            catalog.find(name)


def test_what_is_declared_is_declared_for_agents_whatever_names_it() -> None:
    text = CONTRACT + (DATA / "contract-reads.toml").read_text()
    assert Catalog.of(declared(tomllib.loads(text)["tool"], KINDS)).own == {}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"preview": {"tool": "fs.x"}}, id="a-preview-is-shown-to-agents"),
        pytest.param({"apply": {"tool": "fs.x"}}, id="a-change-is-what-people-approve"),
        pytest.param(
            {"verify": [{"tool": "api.x", "exists": True}]}, id="an-api-says-no-arguments"
        ),
        pytest.param(
            {"verify": [{"tool": "gh.x", "exists": True}]}, id="there-is-no-such-upstream"
        ),
    ],
)
def test_naming_a_tool_declares_it_for_nothing_else(fields: dict[str, Any]) -> None:
    one = tool(**fields)
    assert "is not declared" in one.lacking
    with pytest.raises(BadArguments, match="cannot be used") as caught:
        one.validate({})
    assert caught.value.code == "not_usable"


def test_a_fallback_is_told_to_agents_so_it_is_declared() -> None:
    assert "is not declared" in tool("read", fallback="fs.x").lacking


@pytest.mark.parametrize(
    ("other", "absent"),
    [
        pytest.param({}, "^ENOENT", id="what-the-servers-reads-agree-on"),
        pytest.param({"effect": "read", "absent": "^ENOENT"}, "^ENOENT", id="two-alike"),
        pytest.param(
            {"effect": "read", "absent": "gone"}, "", id="reads-that-differ-prove-nothing"
        ),
    ],
)
def test_what_is_not_there_is_told_as_the_servers_declared_reads_tell_it(
    other: dict[str, Any], absent: str
) -> None:
    does = {"effect": "write", "verify": [{"tool": "fs.x", "exists": True}]}
    table = {"fs": {"do": does, "read": READ} | ({"other": other} if other else {})}
    assert Catalog.of(declared(table, KINDS)).own["fs.x"].absent == absent


def test_no_agent_and_no_file_calls_a_tool_placets_own() -> None:
    with pytest.raises(BadDeclaration, match='unknown key "own"'):
        tool(own=True)


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
        pytest.param(
            {"pre": [OLD | {"tool": "fs.x"}], "undo": [{"tool": "fs.x", "args": {}}]},
            '"fs.x" is named as a read and as a way back; write [tool.fs.x]',
            id="one-name-one-use",
        ),
        pytest.param(
            {"verify": [{"tool": "fs.a b", "exists": True}]}, "is no tool's name", id="no-name"
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
