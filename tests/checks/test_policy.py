import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from checks.facts import Surface
from checks.policy import (
    MAX_DEPTH,
    MAX_SIZE,
    PERMISSIONS,
    Group,
    Policy,
    PolicyError,
    Rule,
    document,
    floor,
    load,
)

DOCS = Path(__file__).parent.parent.parent / "docs" / "reference"
EXAMPLE = """\
version: 1
rules:
  - tools: ["billing.*"]
    require:
      - {approvals: 1, from: [team:acme/finance]}
      - {approvals: 1, from: [user:ann, team:acme/security]}
    permission: write           # floor for every approver (default)
    surfaces: [review, button]  # default: review, comment, button
    expires: 4h                 # how long the proposal waits
    approval_valid: 30m         # how long an approval lasts
  - tools: ["*"]
    require: [{approvals: 1}]
freeze:
  - {from: 2026-12-24T00:00Z, until: 2026-12-27T00:00Z, reason: holidays}
"""
PLAIN = "version: 1\nrules:\n  - tools: ['*']\n    require: [{approvals: 1}]\n"


def written(old: str, new: str) -> str:
    """The plain policy with one part written otherwise."""
    assert old in PLAIN
    return PLAIN.replace(old, new)


def with_rule(line: str) -> str:
    return f"{PLAIN}    {line}\n"


def frozen(start: str = "2026-12-24T00:00Z", end: str = "2026-12-27T00:00Z") -> str:
    return f"{PLAIN}freeze:\n  - {{from: {start}, until: {end}, reason: holidays}}\n"


def asking(who: str) -> str:
    return written("{approvals: 1}", f"{{approvals: 1, from: {who}}}")


def test_the_example_says_what_it_looks_like() -> None:
    policy = load(EXAMPLE)
    billing, rest = policy.rules
    assert [str(group) for group in billing.require] == [
        "1 person of acme/finance",
        "1 person of @ann or acme/security",
    ]
    assert billing.surfaces == (Surface.REVIEW, Surface.BUTTON)
    assert (billing.expires, billing.approval_valid) == (timedelta(hours=4), timedelta(minutes=30))
    assert rest.surfaces == tuple(Surface)
    assert (rest.permission, rest.expires, rest.approval_valid) == (
        "write",
        timedelta(days=1),
        None,
    )
    assert policy.freeze[0].from_ == datetime(2026, 12, 24, tzinfo=UTC)


def test_the_first_rule_that_matches_decides() -> None:
    policy = load(EXAMPLE)
    assert policy.rule_for("billing.refund") == (1, policy.rules[0])
    assert policy.rule_for("mail.send") == (2, policy.rules[1])
    assert policy.rule_for("Billing.refund") == (2, policy.rules[1]), "tool names have a case"


def test_a_tool_without_a_rule_has_none() -> None:
    policy = load(written("'*'", "'billing.*'"))
    assert policy.rule_for("mail.send") is None
    assert policy.rule_for("billing") is None
    assert policy.rule_for("x.billing.refund") is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("", "the file", id="empty"),
        pytest.param("# nothing yet\n", "the file", id="only a comment"),
        pytest.param("- version: 1\n", "the file", id="a list"),
        pytest.param("deny", "the file", id="a word"),
        pytest.param("version: 1\n", "rules", id="no rules at all"),
        pytest.param("version: 1\nrules: []\n", "rules", id="empty rules"),
        pytest.param("version: 1\nrules:\n", "'rules' has no value", id="blank rules"),
        pytest.param("rules: [{tools: ['*'], require: [{}]}]", "version", id="no version"),
        *(
            pytest.param(written("version: 1", f"version: {v}"), "version", id=f"version {v}")
            for v in ("2", "'1'", "true", "1.0", "on", "[1]", "01e0")
        ),
        pytest.param(PLAIN + "version: 1\n", "line 5", id="a key twice"),
        pytest.param(
            written("{approvals: 1}", "{approvals: 2, approvals: 1}"), "line 4", id="twice inside"
        ),
        pytest.param(PLAIN + "owners: [ann]\n", "owners", id="unknown key"),
        pytest.param(with_rule("approvers: 2"), "rules.0.approvers", id="unknown key of a rule"),
        pytest.param(
            written("{approvals: 1}", "{count: 2}"), "rules.0.require.0.count", id="of a group"
        ),
        pytest.param(
            written("{approvals: 1}", "{from_: ['user:ann']}"), "from_",
            id="Python's name",
        ),
        pytest.param(PLAIN + "1: 2\n", "1: Keys", id="a key that is a number"),
        pytest.param(written("tools", "Tools"), "tools", id="a key in upper case"),
        pytest.param(PLAIN + "freeze: []\n", "freeze", id="empty freeze"),
        pytest.param(written("['*']", "[]"), "rules.0.tools", id="empty tools"),
        pytest.param(written("['*']", "['']"), "rules.0.tools.0", id="empty name of a tool"),
        pytest.param(written("['*']", "'*'"), "rules.0.tools", id="a word where a list belongs"),
        pytest.param(written("['*']", "{a: b}"), "rules.0.tools", id="a mapping for a list"),
        pytest.param(
            written("['*']", "['b\u0456lling.*']"), "rules.0.tools.0",
            id="a Cyrillic letter in a tool",
        ),
        pytest.param(written("['*']", "['a b']"), "rules.0.tools.0", id="a blank in a tool"),
        pytest.param(written("['*']", "[1]"), "rules.0.tools.0", id="a number as a tool"),
        pytest.param(written("[{approvals: 1}]", "[]"), "rules.0.require", id="empty require"),
        pytest.param(written("[{approvals: 1}]", ""), "'require' has no value", id="blank require"),
        pytest.param(written("[{approvals: 1}]", "1"), "rules.0.require", id="require 1"),
        *(
            pytest.param(
                written("approvals: 1", f"approvals: {n}"), "rules.0.require.0.approvals",
                id=f"approvals {n}",
            )
            for n in ("0", "-1", "21", "1.0", "true", "yes", "'1'", ".inf", "1e0", "9" * 4000)
        ),
        pytest.param(
            written("approvals: 1", "approvals: "), "'approvals' has",
            id="approvals blank",
        ),
        pytest.param(written("approvals: 1", "approvals: ~"), "'approvals' has", id="approvals ~"),
        pytest.param(
            written("approvals: 1", "approvals: " + "9" * 5000), "the file",
            id="a huge int",
        ),
        pytest.param(asking("[]"), "rules.0.require.0.from", id="from nobody"),
        pytest.param(asking(""), "'from' has no value", id="from with every name commented out"),
        pytest.param(asking("null"), "'from' has no value", id="from null"),
        pytest.param(asking("user:ann"), "rules.0.require.0.from", id="from without a list"),
        pytest.param(asking("['user:ann', ~]"), "rules.0.require.0.from.1", id="a blank name"),
        pytest.param(with_rule("permission: none"), "rules.0.permission", id="permission none"),
        pytest.param(with_rule("permission: Write"), "rules.0.permission", id="permission Write"),
        pytest.param(with_rule("permission: owner"), "rules.0.permission", id="permission owner"),
        pytest.param(with_rule("permission:"), "'permission' has", id="permission blank"),
        pytest.param(with_rule("surfaces: []"), "rules.0.surfaces", id="no surface"),
        pytest.param(with_rule("surfaces: [email]"), "rules.0.surfaces.0", id="unknown surface"),
        pytest.param(with_rule("surfaces: [REVIEW]"), "rules.0.surfaces.0", id="upper case"),
        pytest.param(with_rule("approval_valid:"), "'approval_valid' has", id="valid for ever"),
        pytest.param(with_rule("message:"), "'message' has", id="message blank"),
        pytest.param(with_rule("message: " + "x" * 501), "rules.0.message", id="long message"),
        *(
            pytest.param(with_rule(f"expires: {d}"), "rules.0.expires", id=f"expires {d}")
            for d in (
                "4", "4.5h", "-4h", "0h", "04h", "4H", "4 h", "1w", "h", "'4h '", "٤h", "true",
                "4h30m", "91d", "2161h", "999999d", "9999999s", "PT4H", "1:30", "[4h]",
            )
        ),
        *(
            pytest.param(frozen(start=m), "freeze.0.from", id=f"freeze from {m}")
            for m in (
                "2026-12-24", "'2026-12-24'", "2026-12-24T00:00", "2026-12-24T00:00:00",
                "2026-12-24 00:00:00", "20261224", "1797897600", "24/12/2026", "2026-13-45T00:00Z",
                "2026-12-24T24:30Z", "2026-W52-4", "now", "0001-01-01T00:00+14:00",
                "'2026-12-24T00:00Z '", "2026-12-24t00:00z", "2026-12-24T00:00+1",
            )
        ),
        pytest.param(frozen(end="9999-12-31T23:59-14:00"), "freeze.0.until", id="after time's end"),
        pytest.param(frozen(end="2026-12-23T00:00Z"), "freeze.0", id="a freeze that ends first"),
        pytest.param(frozen(end="2026-12-24T00:00Z"), "freeze.0", id="a freeze of no length"),
        pytest.param(
            frozen("2026-12-24T00:00-05:00", "2026-12-24T01:00+00:00"), "freeze.0",
            id="a freeze that ends first in its zone",
        ),
        pytest.param(frozen().replace("holidays", "''"), "freeze.0.reason", id="no reason"),
        pytest.param(frozen().replace("holidays", "~"), "'reason' has no value", id="blank reason"),
        # What YAML itself allows, and what it is abused for
        pytest.param(PLAIN + "---\n" + PLAIN, "line 5", id="two documents"),
        pytest.param(written("['*']", "&all ['*']"), "line 3: anchors", id="an anchor"),
        pytest.param(written("['*']", "*all"), "line 3: anchors", id="an alias"),
        pytest.param(written("approvals: 1", "approvals: !!int 1"), "line 4: tags", id="a tag"),
        pytest.param(written("approvals: 1", "approvals: ! 1"), "line 4: tags", id="a bare tag"),
        pytest.param(written("['*']", "!!set {a, b}"), "line 3: tags", id="a set"),
        pytest.param(
            written("1}", "!!python/object/apply:os.system ['true']}"), "line 4: tags", id="Python"
        ),
        pytest.param("%YAML 1.1\n---\n" + PLAIN, "directives", id="YAML 1.1, where yes is true"),
        pytest.param("%TAG ! tag:x,2026:\n---\n" + PLAIN, "directives", id="tag handles"),
        pytest.param(
            written("{approvals: 1}", "{<<: {approvals: 1}}"), "line 4: merge keys", id="a merge"
        ),
        pytest.param(written("  - tools", "\t- tools"), "line 3", id="a tab"),
        pytest.param(
            written("require", "? [a]\n    : 1\n    require"), "rules.0",
            id="a key of lists",
        ),
        pytest.param("? {a: b}\n: 1\n", "line 1", id="a key that is a mapping"),
        pytest.param(PLAIN + "\x00", "the file", id="a NUL"),
        pytest.param(PLAIN + "# \ud800\n", "the file", id="a lone surrogate"),
        pytest.param("a: {", "line 1", id="unfinished"),
        pytest.param("a: b: c", "line 1", id="a mapping in a line"),
        pytest.param("[" * 10_000, "more than 16 levels", id="deep lists"),
        pytest.param("{a: " * 10_000, "more than 16 levels", id="deep mappings"),
        pytest.param("- " * 10_000, "more than 16 levels", id="deep in one line"),
        pytest.param(
            "a: &a [x, x]\n" + "".join(
                f"{b}: &{b} [{', '.join('*' + a for _ in range(9))}]\n"
                for a, b in zip("abcdefghijkl", "bcdefghijklm", strict=True)
            ),
            "line 1: anchors", id="a billion laughs",
        ),
        pytest.param("a: &a [*a]\n", "line 1: anchors", id="a list that holds itself"),
        pytest.param(PLAIN + "#" * MAX_SIZE, "larger than 64 kB", id="too large"),
        pytest.param(PLAIN + "# " + "ä" * (MAX_SIZE // 2), "larger than 64 kB", id="in UTF-8"),
    ],
)  # fmt: skip
def test_a_policy_is_refused_and_the_place_is_named(text: str, place: str) -> None:
    with pytest.raises(PolicyError) as refused:
        load(text)
    assert place in str(refused.value)
    assert len(str(refused.value)) < 600
    assert "Value error" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param("\ufeff" + PLAIN, id="with a byte order mark"),
        pytest.param(PLAIN.replace("\n", "\r\n"), id="with CRLF"),
        pytest.param(json.dumps(YAML(typ="safe").load(PLAIN)), id="as JSON"),
        pytest.param("---\n" + PLAIN, id="with a document start"),
        pytest.param(PLAIN + "#" * (MAX_SIZE - len(PLAIN)), id="as large as may be"),
        pytest.param(with_rule("expires: 90d"), id="the longest wait"),
        pytest.param(with_rule("message: grüße, 世界"), id="words are not names"),
        pytest.param(frozen("2026-12-24T00:00:00Z", "2026-12-24 01:00:59+00:00"), id="seconds"),
        pytest.param(frozen("'2026-12-24T00:00Z'"), id="a quoted moment"),
    ],
)
def test_a_policy_is_taken(text: str) -> None:
    assert load(text).rule_for("any.tool")


def test_yes_and_on_are_words() -> None:
    """In YAML 1.1 they would be true."""
    assert load(written("['*']", "[on, yes, no]")).rules[0].tools == ("on", "yes", "no")


def test_a_moment_is_kept_in_utc() -> None:
    freeze = load(frozen("2026-12-24T02:00+02:00")).freeze[0]
    assert f"{freeze.from_:%Y-%m-%d %H:%M}" == "2026-12-24 00:00"


@pytest.mark.parametrize(
    "who",
    [
        *("user:ann", "user:Ann-B", "user:a", "user:ann_acme", "user:" + "a" * 39, "user:0"),
        *("team:acme/finance", "team:Acme-Inc/data_eng-2", "team:a/b"),
    ],
)
def test_a_name_is_taken(who: str) -> None:
    [group] = load(asking(json.dumps([who]))).rules[0].require
    assert group.from_ == (who,)


@pytest.mark.parametrize(
    "who",
    [
        *(
            "ann",
            "@ann",
            "user:",
            "user:-ann",
            "user:ann b",
            "user: ann",
            "user:ann\n",
            "user:@ann",
        ),
        *("user:änn", "user:\u212aim", "user:" + "a" * 40, "User:ann", "user:*", "user:ann[bot]"),
        *("team:finance", "team:acme/", "team:/finance", "team:acme/Finance Team", "team:a/b/c"),
        *(
            "team:acme/fin\u0430nce",
            "team:acme/*",
            "org:acme",
            "user:ann,user:bob",
            "",
            "team:a/FINANCE",
        ),
    ],
)
def test_what_cannot_be_a_name_is_refused(who: str) -> None:
    with pytest.raises(PolicyError, match=r"rules\.0\.require\.0\.from\.0"):
        load(asking(json.dumps([who])))


@pytest.mark.parametrize(
    "asks",
    ["ann", "agent:", "agent:Cleanup", "agent:a b", "team:acme/data", "user:", "user:a/b", "*"],
)
def test_whoever_cannot_ask_is_refused(asks: str) -> None:
    with pytest.raises(PolicyError, match=r"requesters\.0: who may ask is named as agent:NAME"):
        load(with_rule(f"requesters: [{json.dumps(asks)}]"))


@pytest.mark.parametrize("nobody", ["[]", "", "null"])
def test_a_rule_that_takes_nobodys_requests_is_refused(nobody: str) -> None:
    with pytest.raises(PolicyError, match="requesters"):
        load(with_rule(f"requesters: {nobody}"))


def test_whose_account_a_login_means_is_asked_for_those_who_ask_too() -> None:
    rule = load(with_rule("requesters: [user:Dana, agent:cleanup-bot]")).rules[0]
    assert rule.logins() == {"dana"}
    assert rule.users() == set(), "nobody is asked to review for it"


def test_a_rule_knows_its_floor() -> None:
    for place, least in enumerate(PERMISSIONS):
        rule = load(with_rule(f"permission: {least}")).rules[0]
        assert [p for p in PERMISSIONS if p in rule.enough] == list(PERMISSIONS[place:])
        assert not rule.enough & {"none", "", "WRITE", "custom-role"}


def test_a_rule_knows_the_teams_to_ask_for() -> None:
    assert load(EXAMPLE).rules[0].teams() == {"acme/finance", "acme/security"}
    assert load(PLAIN).rules[0].teams() == set()


def test_the_servers_floor_is_about_every_tool() -> None:
    policy = floor(2, (Surface.BUTTON,))
    [rule] = policy.rules
    assert rule == Rule(tools=("*",), require=(Group(approvals=2),), surfaces=(Surface.BUTTON,))
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        floor(0)


pieces = st.sampled_from(
    [
        *("{}[],:?-&*!|>'\"%@#\n\t ~"),
        *("- ", ": ", "\n  ", "version: 1", "rules:", "tools", "require", "from", "approvals"),
        *("<<", "!!int ", "&a ", "*a", "1", "true", "2026-12-24T00:00Z", "user:ann", "---\n"),
        *("...\n", "\ufeff", "\x00", "é", "\u2028", "0x1f", ".inf", "1:30", "=", "\\x"),
    ]
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join)))
def test_whatever_the_file_holds_it_is_a_policy_or_refused(text: str) -> None:
    try:
        assert load(text).rules
    except PolicyError as refused:
        assert str(refused)  # noqa: PT017


@given(st.integers(0, len(EXAMPLE) - 1), pieces, st.integers(0, 8))
def test_an_example_with_a_slip_is_a_policy_or_refused(at: int, piece: str, cut: int) -> None:
    try:
        assert load(EXAMPLE[:at] + piece + EXAMPLE[at + cut :]).rules
    except PolicyError as refused:
        assert str(refused)  # noqa: PT017


def schema_accepts(text: str) -> bool:
    data: Any = YAML(typ="safe", pure=True).load(text)
    found = jsonschema.Draft202012Validator(Policy.model_json_schema()).iter_errors(data)
    return not list(found)


@pytest.mark.parametrize("text", [EXAMPLE, PLAIN])
def test_the_published_schema_takes_what_we_take(text: str) -> None:
    assert schema_accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN + "owners: [ann]\n", id="an unknown key"),
        pytest.param(with_rule("requesters: []"), id="nobody may ask"),
        pytest.param(with_rule("requesters: [dana]"), id="a requester of no kind"),
        pytest.param(asking("null"), id="blank names"),
        pytest.param(asking("[]"), id="no names"),
        pytest.param(asking("[ann]"), id="a name of nothing"),
        pytest.param(written("approvals: 1", "approvals: 0"), id="no approvals"),
        pytest.param(with_rule("approval_valid: null"), id="valid for ever"),
        pytest.param(with_rule("permission: owner"), id="no such permission"),
        pytest.param(with_rule("expires: 4"), id="a duration without a unit"),
        pytest.param(written("version: 1", "version: 2"), id="another version"),
    ],
)
def test_the_published_schema_refuses_what_we_refuse(text: str) -> None:
    assert not schema_accepts(text)
    with pytest.raises(PolicyError):
        load(text)


def test_the_schema_in_the_docs_is_generated(golden: Callable[..., None]) -> None:
    schema = json.dumps(Policy.model_json_schema(), indent=2) + "\n"
    golden(schema, "policy.schema.json", DOCS)


MOMENTS = "a moment has a time and a zone, such as 2026-12-24T00:00Z"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            PLAIN + "    expires: 4",
            'rules.0.expires: a duration is a number and one of s, m, h, d, such as "4h"',
            id="a-length-without-a-unit",
        ),
        pytest.param(frozen("2026-12-24", "2026-12-27"), f"freeze.0.from: {MOMENTS}", id="a-day"),
        pytest.param(
            frozen("0001-01-01T00:00+05:00", "2026-12-27T00:00Z"),
            "freeze.0.from: 0001-01-01T00:00+05:00 is outside the years 1 to 9999",
            id="before-the-first-year",
        ),
        pytest.param(written("1\n", "true\n"), "version: write: version: 1", id="true"),
        pytest.param(
            "%YAML 1.1\n---\n" + PLAIN,
            "line 2: directives are not allowed; write it out plainly",
            id="a-directive",
        ),
        pytest.param(
            "a: *b",
            "line 1: anchors and aliases are not allowed; write it out plainly",
            id="an-alias-of-nothing",
        ),
        pytest.param("a: \x00", "the file: special characters are not allowed", id="control"),
        pytest.param("a: " + "1" * 5000, "the file: it is not YAML", id="a-number-without-end"),
        pytest.param(
            "[]", "the file: Input should be a valid dictionary or instance of Policy", id="a-list"
        ),
    ],
)
def test_a_fault_is_told_in_whole_words(text: str, told: str) -> None:
    with pytest.raises(PolicyError) as fault:
        load(text)
    assert str(fault.value) == told


def test_a_moment_is_of_utc_itself_and_of_no_zone_that_is_like_it() -> None:
    moment = load(frozen("2026-12-24T05:00+05:00", "2026-12-27T00:00Z")).freeze[0].from_
    assert moment.tzinfo is UTC


def test_many_lists_beside_one_another_are_not_deep() -> None:
    assert document("[" + "[1], " * 40 + "[1]]") == [[1]] * 41


def test_as_many_levels_as_are_allowed_are_read_and_not_one_more() -> None:
    assert document("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(PolicyError, match=f"more than {MAX_DEPTH} levels"):
        document("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
