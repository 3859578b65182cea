import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.explain import ONLY_THOSE_HEARD, explain
from checks.facts import NOBODY, Access, Facts, Person, Stance, Standing, Voice
from checks.policy import Policy, Source, load
from checks.reasons import REASONS, Reason
from checks.telling import as_text
from checks.verdict import Decision, judge
from tests.checks.scene import (
    ANN,
    APP,
    BOB,
    BOSS,
    CAT,
    FACTS,
    NOW,
    PLAIN,
    YES,
    comment,
    dismissed,
    heard,
    no,
    policy,
    said,
    under,
)

FINANCE = "acme/finance"
BOTH = policy("require: [{from: [team:acme/finance]}, {approvals: 2, from: [user:ann, user:bob]}]")
SHORT = policy("require: [{approvals: 1}]", "approval_valid: 30m", "message: Ask <b>cat</b> first")
TEAM = {
    ANN.id: Access(ANN.id, "write", frozenset({FINANCE})),
    BOB.id: Access(BOB.id, "read"),
    CAT.id: Access(CAT.id, "write"),
}
BUSY = replace(
    FACTS,
    voices=(YES, said(BOB, 11), said(CAT, 12), comment(BOSS, 13), no(CAT, 14), said(APP, 15)),
    access=TEAM,
    people={"ann": ANN.id, "bob": BOB.id},
)
HOSTILE = Person(4, "eve\x1b[2J\u202e")
MISSING = Source("current", None, "line 3: anchors and aliases are not allowed", "b" * 40)


def laid_open(facts: Facts, *policies: Policy, more: tuple[Source, ...] = ()) -> dict[str, Any]:
    sources = [*under(*policies), *more]
    return explain(facts, sources, judge(facts, sources, NOW), NOW)


def seats(said: dict[str, Any], policy: int = 0) -> list[list[str] | None]:
    groups = said["policies"][policy]["rule"]["groups"]
    return [g["filled"] and [one["login"] for one in g["filled"]] for g in groups]


def test_it_says_who_fills_which_place_and_what_is_missing() -> None:
    facts = replace(BUSY, voices=(YES,))
    found = laid_open(facts, PLAIN, BOTH)
    assert found["decision"] == "waiting"
    assert seats(found, 0) == [["ann"]]
    assert seats(found, 1) == [["ann"], []], "one person fills one place"
    assert [p["missing"] for p in found["policies"]] == [None, "2 people of @ann or @bob"]
    assert [p["rule"]["place"] for p in found["policies"]] == [1, 1]


def test_each_stance_says_whether_it_counts_why_not_and_what_to_do() -> None:
    found = laid_open(BUSY, BOTH)
    reasons = {(s["login"], s["stance"]): s["reason"] for s in found["stances"]}
    assert reasons == {
        ("ann", "approve"): None,
        ("bob", "approve"): "permission_too_low",
        ("cat", "approve"): "superseded_stance",
        ("cat", "block"): "not_in_group",
        ("boss", "approve"): "requester",
        ("renovate[bot]", "approve"): "not_a_person",
    }
    for stance in found["stances"]:
        assert stance["counts"] is (stance["reason"] is None)
        if stance["reason"]:
            assert stance["remedy"] == REASONS[Reason(stance["reason"])].remedy


def test_a_lifted_request_for_changes_no_longer_holds() -> None:
    facts = heard(YES, dismissed(no(BOB, 20), CAT))
    [_, block] = laid_open(facts, PLAIN)["stances"]
    assert (block["counts"], block["reason"], block["means"]) == (
        False, None, "It no longer holds.",
    )  # fmt: skip
    [_, block] = laid_open(heard(YES, no(BOB, 20)), PLAIN)["stances"]
    assert (block["counts"], block["reason"]) == (True, None)


def test_a_lifted_block_is_lifted_whatever_else_its_author_said() -> None:
    facts = heard(YES, dismissed(no(BOB, 20), CAT), said(BOB, 21, standing=Standing.GONE))
    verdict = laid_open(facts, PLAIN)
    [block] = [s for s in verdict["stances"] if s["stance"] == "block"]
    assert (block["counts"], block["means"]) == (False, "It no longer holds.")
    assert [s["login"] for s in verdict["stances"] if s["reason"]] == ["bob"]


def test_an_approval_says_when_it_lapses_and_the_yes_until_when_it_holds() -> None:
    facts = heard(said(ANN, 40))
    found = laid_open(facts, PLAIN, SHORT)
    assert found["decision"] == "approved"
    assert found["stances"][0]["lapses"] == "2026-12-01T10:10:00Z"
    assert found["valid_until"] == "2026-12-01T10:10:00Z"
    assert found["expires"] == "2026-12-01T13:00:00Z"


def test_a_finding_has_its_weight_meaning_and_remedy() -> None:
    [finding] = laid_open(replace(FACTS, draft=True), PLAIN)["findings"]
    meaning = REASONS[Reason.DRAFT]
    assert finding == {
        "code": "draft",
        "weight": "waits",
        "means": meaning.means,
        "because": "the pull request is a draft",
        "remedy": meaning.remedy,
        "policy": None,
        "who": None,
    }


def test_what_is_said_of_a_stance_is_not_said_twice() -> None:
    found = laid_open(heard(YES, said(BOSS, 20)), PLAIN)
    assert found["findings"] == []


def test_a_policy_that_cannot_be_used_says_why() -> None:
    found = laid_open(FACTS, PLAIN, more=(MISSING,))
    assert found["policies"][1]["problem"] == MISSING.problem
    assert found["policies"][1]["rule"] is None
    assert found["could_approve"]["note"] == "Nobody, until the policy is mended."


def test_a_tool_without_a_rule_lets_nobody_approve() -> None:
    found = explain(replace(FACTS, tool="other.tool"), under(BILLING), verdict_of(), NOW)
    assert found["policies"][0]["rule"] is None
    assert found["could_approve"]["named"] == []


BILLING = policy("require: [{approvals: 1}]").model_copy(
    update={"rules": (PLAIN.rules[0].model_copy(update={"tools": ("billing.*",)}),)}
)


def verdict_of() -> Any:
    return judge(replace(FACTS, tool="other.tool"), under(BILLING), NOW)


def test_nobody_else_is_needed_when_it_is_approved() -> None:
    assert laid_open(FACTS, PLAIN)["could_approve"]["note"] == "Nobody else is needed."


def test_nobody_could_approve_what_is_over() -> None:
    could = laid_open(replace(FACTS, moved=True), PLAIN)["could_approve"]
    assert could == {"heard": [], "named": [], "anyone": None, "note": "Nobody: it is over."}


@pytest.mark.parametrize(
    ("facts", "rule", "heard", "named", "anyone"),
    [
        pytest.param(heard(), PLAIN, [], [], "write", id="anyone-with-access"),
        pytest.param(
            heard(YES, no(BOB, 20)), PLAIN, ["bob"], [], None, id="no-place-is-free-but-one-objects"
        ),
        pytest.param(
            replace(BUSY, voices=()), BOTH, [], ["team:acme/finance", "user:ann", "user:bob"], None,
            id="those-whom-the-policy-names",
        ),
        pytest.param(
            replace(BUSY, voices=(), people={"ann": NOBODY, "bob": BOSS.id}), BOTH, [],
            ["team:acme/finance"], None, id="but-not-who-is-nobody-or-works-with-the-agent",
        ),
        pytest.param(
            replace(BUSY, voices=(), people={}), BOTH, [],
            ["team:acme/finance", "user:ann", "user:bob"], None, id="and-who-was-not-looked-up",
        ),
        *(
            pytest.param(
                replace(BUSY, voices=(), **{out: frozenset({ANN.id})}), BOTH, [],
                ["team:acme/finance", "user:bob"], None, id=f"but-none-of-the-{out}",
            )
            for out in ("identities", "askers", "machines", "contributors")
        ),
        pytest.param(
            heard(said(ANN, 5, standing=Standing.GONE)), PLAIN, ["ann"], [], "write",
            id="who-took-it-back-may-say-it-again",
        ),
        pytest.param(heard(said(BOSS, 5)), PLAIN, [], [], "write", id="never-the-agents-people"),
    ],
)  # fmt: skip
def test_who_could_still_approve_is_what_the_facts_know(
    facts: Facts, rule: Policy, heard: list[str], named: list[str], anyone: str | None
) -> None:
    could = laid_open(facts, rule)["could_approve"]
    assert [p["login"] for p in could["heard"]] == heard
    assert (could["named"], could["anyone"], could["note"]) == (named, anyone, ONLY_THOSE_HEARD)


def test_without_anybodys_access_it_does_not_guess_who_fills_a_place() -> None:
    verdict = judge(FACTS, under(PLAIN), NOW)
    found = explain(replace(FACTS, access={}), under(PLAIN), verdict, NOW)
    assert seats(found) == [None]
    assert found["stances"][0]["counts"] is True


def test_of_those_who_can_never_decide_nothing_need_be_known() -> None:
    facts = replace(heard(said(BOSS, 5)), access={})
    assert seats(laid_open(facts, PLAIN)) == [[]]


voices_ = st.lists(
    st.builds(
        said,
        st.sampled_from([ANN, BOB, CAT, BOSS, APP]),
        st.sampled_from([-5, 10, 20, 45]),
        stance=st.sampled_from([Stance.APPROVE, Stance.APPROVE, Stance.BLOCK, Stance.REJECT]),
        standing=st.sampled_from([Standing.STANDS, Standing.STANDS, *Standing]),
    ),
    max_size=5,
)
policies_ = st.lists(st.sampled_from([PLAIN, BOTH, SHORT, BILLING]), min_size=1, max_size=3)


@given(voices_, policies_)
def test_the_tree_says_what_the_judge_says(voices: list[Voice], policies: list[Policy]) -> None:
    facts = replace(FACTS, voices=tuple(voices), access=TEAM)
    sources = under(*policies)
    verdict = judge(facts, sources, NOW)
    found = explain(facts, sources, verdict, NOW)
    assert found["decision"] == verdict.decision
    for one in found["policies"]:
        free = sum(g["approvals"] - len(g["filled"]) for g in one["rule"]["groups"])
        assert (free > 0) is (one["missing"] is not None)
    if verdict.decision is Decision.APPROVED:
        assert all(p["missing"] is None for p in found["policies"])
    assert len(found["stances"]) == len(facts.voices)
    assert json.loads(json.dumps(found)) == found
    assert found == explain(facts, sources, verdict, NOW)
    assert as_text(found).endswith(".\n") or verdict.decision is Decision.ENDED


@pytest.mark.parametrize(
    ("name", "facts", "sources"),
    [
        pytest.param("silence", heard(), under(PLAIN, PLAIN), id="silence"),
        pytest.param("busy", BUSY, under(PLAIN, BOTH, SHORT), id="busy"),
        pytest.param("approved", heard(said(ANN, 40)), under(PLAIN, SHORT), id="approved"),
        pytest.param("mended", FACTS, [*under(PLAIN), MISSING], id="policy-cannot-be-used"),
        pytest.param("ended", replace(FACTS, moved=True), under(PLAIN), id="ended"),
        pytest.param(
            "nobody", replace(BUSY, voices=(YES,), people={"ann": 7, "bob": NOBODY}), under(BOTH),
            id="people-who-are-not-who-they-were",
        ),
    ],
)  # fmt: skip
def test_an_explanation_reads(
    golden: Callable[..., None], name: str, facts: Facts, sources: list[Source]
) -> None:
    found = explain(facts, sources, judge(facts, sources, NOW), NOW)
    golden(as_text(found), f"explain-{name}.txt")


def test_the_stored_half_reads(golden: Callable[..., None]) -> None:
    verdict = judge(FACTS, under(BOTH), NOW)
    found = explain(replace(FACTS, access={}), under(BOTH), verdict, NOW)
    golden(as_text(found), "explain-stored.txt")


def test_no_login_or_message_reaches_a_terminal_raw() -> None:
    rule = policy("require: [{approvals: 1}]", 'message: "\\e[31mgo\\u202e"')
    facts = heard(said(HOSTILE, 5), tool="billing.refund")
    text = as_text(laid_open(facts, rule))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"@eve\u001b[2J\u202e" in text
    assert r"\u001b[31mgo\u202e" in text


def test_an_explanation_says_times_as_people_do() -> None:
    text = as_text(laid_open(heard(said(ANN, 40)), SHORT))
    assert "1 Dec 2026 09:40 UTC" in text
    assert "an approval lasts 30 min" in text


MANY = load("""\
version: 1
rules:
  - tools: ["billing.*", "crm.*"]
    requesters: [agent:refund-bot, user:boss]
    require: [{approvals: 3, from: [user:ann, user:bob, user:cat]}]
freeze:
  - {from: 2099-01-01T00:00Z, until: 2099-01-02T00:00Z, reason: holidays}
""")
OF_BOSS = replace(
    FACTS, tool="billing.refund", agent="refund-bot",
    access={**TEAM, BOB.id: Access(BOB.id, "write")},
    people={"ann": ANN.id, "bob": BOB.id, "cat": CAT.id, "boss": BOSS.id},
)  # fmt: skip


def text_of(facts: Facts, *sources: Source) -> str:
    return as_text(explain(facts, sources, judge(facts, sources, NOW), NOW))


def test_what_there_are_several_of_is_listed_with_commas() -> None:
    told = text_of(
        replace(OF_BOSS, voices=(YES, said(BOB, 11))), Source("other", MANY, blob="c0ffee")
    )
    assert "  other (blob c0ffee): rule 1, for billing.*, crm.*\n" in told
    assert "    For requests of agent:refund-bot, user:boss\n" in told
    assert "[2/3]" in told
    assert "(review), @" in told
    assert " still needed (other).\n" in told
    gone = (said(ANN, 5, standing=Standing.GONE), said(BOB, 6, standing=Standing.GONE))
    told = text_of(replace(OF_BOSS, voices=gone), *under(MANY))
    assert "  Heard, may decide, does not count now: @ann, @bob\n" in told
    assert "This yes holds" not in told


def test_the_first_line_says_what_is_needed_only_where_something_is() -> None:
    over = text_of(replace(FACTS, voices=(), moved=True), *under(PLAIN))
    assert over.startswith("Ended: nothing will be changed.\n")
    stopped = text_of(replace(FACTS, halted="an operator stopped it"), *under(PLAIN))
    assert stopped.startswith("Waiting: not approved yet.\n")


def test_a_lifted_block_has_no_reason_in_brackets() -> None:
    told = text_of(heard(YES, dismissed(no(BOB, 20), CAT)), *under(PLAIN))
    [line] = [line for line in told.splitlines() if "@bob requested changes" in line]
    assert ": does not count. [" in line


def test_an_agent_that_may_not_ask_is_told_that_nobody_can_help() -> None:
    rule = policy("require: [{approvals: 1}]", "requesters: [agent:somebody-else]")
    could = laid_open(replace(OF_BOSS, voices=()), rule)["could_approve"]
    assert could["note"] == "Nobody: the rule takes no requests of this agent."
    moved = laid_open(replace(OF_BOSS, voices=(), moved=True), rule)["could_approve"]
    assert moved["note"] == "Nobody: it is over.", "what ends it is said first"


def test_each_of_three_groups_has_its_own_people() -> None:
    rule = policy("require: [{from: [user:ann]}, {from: [user:bob]}, {from: [user:cat]}]")
    facts = replace(OF_BOSS, voices=(YES, said(BOB, 11), said(CAT, 12)))
    found = laid_open(facts, rule)
    assert seats(found) == [["ann"], ["bob"], ["cat"]]
    groups = found["policies"][0]["rule"]["groups"]
    assert [g["from"] for g in groups] == [["user:ann"], ["user:bob"], ["user:cat"]]
    assert [g["filled"][0]["id"] for g in groups] == [ANN.id, BOB.id, CAT.id]


def test_a_place_for_anyone_names_nobody() -> None:
    [group] = laid_open(FACTS, PLAIN)["policies"][0]["rule"]["groups"]
    assert group["from"] is None


def test_a_policy_that_is_not_there_is_missing() -> None:
    found = laid_open(FACTS, PLAIN, more=(Source("current", None),))
    assert found["policies"][1]["problem"] == "the policy is missing"


def test_until_when_a_yes_holds_is_said_only_where_it_ends_before_the_wait() -> None:
    assert "This yes holds" not in text_of(FACTS, *under(PLAIN)), "as long as the wait"
    waiting = text_of(heard(said(ANN, 40)), *under(SHORT, policy("require: [{approvals: 2}]")))
    assert waiting.startswith("Waiting")
    assert "This yes holds" not in waiting, "there is none yet"
