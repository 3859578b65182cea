"""What each rule of checks/rules.py says, word for word: the reason, why, whose policy and who."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from checks.facts import Access, Facts, Person, Stance, Standing
from checks.policy import Source, load
from checks.reasons import Finding, Reason, Weight
from checks.verdict import Decision, judge
from tests.checks.scene import (
    ANN,
    BOB,
    BOSS,
    CAT,
    FACTS,
    NOW,
    PLAIN,
    POLICIES,
    YES,
    able,
    button,
    comment,
    dismissed,
    heard,
    judged,
    no,
    policy,
    there,
    under,
)

TWO = policy("require: [{approvals: 2}]")
FINANCE = policy("require: [{approvals: 1, from: [team:acme/finance]}]")
BILLING = load("version: 1\nrules: [{tools: ['billing.*'], require: [{approvals: 1}]}]")
OTHER_BOTS = policy("requesters: [agent:other-bot]", "require: [{approvals: 1}]")
NAMED = policy("require: [{approvals: 1, from: [user:ann, user:eve]}]")
BOTH = policy(
    "require: [{approvals: 1, from: [team:acme/finance]}, {approvals: 1, from: [user:cat]}]"
)
FROZEN = policy(
    freeze="freeze: [{from: 2026-12-01T09:00Z, until: 2026-12-24T18:30+02:00, reason: holidays}]"
)


def seen(**change: Any) -> Facts:
    return replace(FACTS, **change)


def rejected(person: Person, **change: Any) -> Facts:
    """Ann approved, and then this person rejected it in a comment."""
    return heard(YES, comment(person, 20, stance=Stance.REJECT, **change))


def undelivered(person: Person) -> Facts:
    """The same, but GitHub never delivered the rejection."""
    return rejected(person, standing=Standing.UNDELIVERED)


def told(facts: Facts, sources: list[Source], reason: Reason) -> list[Finding]:
    return [f for f in judge(facts, sources, NOW).findings if f.reason is reason]


BY_FACTS = [
    pytest.param(seen(expires=NOW), Reason.EXPIRED, "it expired at 2026-12-01 10:00 UTC", "",
        id="expired"),
    pytest.param(seen(is_open=False), Reason.CLOSED, "the pull request was closed", "",
        id="closed"),
    pytest.param(there(button(ANN, 10), is_open=False, merged=True), Reason.CLOSED,
        "the pull request, or the announcement on it, is closed", "", id="closed-there"),
    pytest.param(seen(moved=True), Reason.HEAD_MOVED, "the branch moved after the plan was shown",
        "", id="head-moved"),
    pytest.param(seen(base="main"), Reason.BASE_CHANGED, "it now aims at 'main'", "",
        id="base-changed"),
    pytest.param(seen(edits=4), Reason.EDITED_TOO_OFTEN, "the page was edited 4 times", "",
        id="edited-too-often"),
    pytest.param(rejected(BOB), Reason.REJECTED, "@bob rejected it", "bob", id="rejected"),
    pytest.param(rejected(BOSS), Reason.WITHDRAWN, "@boss took it back", "boss", id="withdrawn"),
    pytest.param(replace(rejected(BOB), askers=frozenset({BOB.id})), Reason.WITHDRAWN,
        "@bob took it back", "bob", id="withdrawn-by-who-asked"),
    pytest.param(seen(unreadable=("the reviews",)), Reason.UNREADABLE,
        "the reviews could not be read from GitHub", "", id="unreadable"),
    pytest.param(heard(YES, comment(BOB, 20, standing=Standing.UNREAD)), Reason.UNREADABLE,
        "what @bob said could not be read from GitHub", "bob", id="unreadable-words"),
    pytest.param(seen(skew=timedelta(seconds=31.4)), Reason.CLOCK_SKEW,
        "the server's clock is +31 s off GitHub's", "", id="clock-ahead"),
    pytest.param(seen(skew=timedelta(minutes=-2)), Reason.CLOCK_SKEW,
        "the server's clock is -120 s off GitHub's", "", id="clock-behind"),
    pytest.param(able(ANN, None), Reason.ACCESS_UNKNOWN,
        "GitHub did not say what @ann may do", "ann", id="access-unknown"),
    pytest.param(replace(able(CAT, None), voices=(YES, dismissed(no(BOB, 20), CAT))),
        Reason.ACCESS_UNKNOWN, "GitHub did not say what @cat may do", "cat",
        id="access-unknown-of-who-dismissed"),
    pytest.param(seen(halted="the auditors are here"), Reason.HALTED, "the auditors are here", "",
        id="halted"),
    pytest.param(seen(ahead="p_2"), Reason.WAITS_IN_LINE,
        "p_2, which changes the same thing just now, must be done first", "", id="in-line"),
    pytest.param(seen(draft=True), Reason.DRAFT, "the pull request is a draft", "", id="draft"),
    pytest.param(seen(view_intact=False), Reason.VIEW_EDITED,
        "the title or text of the pull request was edited", "", id="view-edited"),
    pytest.param(heard(YES, no(BOB, 20)), Reason.BLOCKED, "@bob requested changes", "bob",
        id="blocked"),
    pytest.param(undelivered(BOB), Reason.BLOCKED,
        "@bob rejected it, but GitHub did not deliver that", "bob", id="undelivered-rejection"),
    pytest.param(undelivered(BOSS), Reason.BLOCKED,
        "@boss rejected it, but GitHub did not deliver that", "boss",
        id="undelivered-rejection-of-the-requesters-own"),
    pytest.param(replace(undelivered(BOB), askers=frozenset({BOB.id})), Reason.BLOCKED,
        "@bob rejected it, but GitHub did not deliver that", "bob",
        id="undelivered-rejection-of-who-asked"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "reason", "because", "who"), BY_FACTS)
def test_what_is_wrong_with_a_proposal_is_told_once_in_words(
    facts: Facts, reason: Reason, because: str, who: str
) -> None:
    assert told(facts, POLICIES, reason) == [Finding(reason, because, who=who)]


BY_POLICY = [
    pytest.param(FACTS, [*under(PLAIN), Source("propose", None, "line 3: found duplicate key")],
        Finding(Reason.POLICY_UNREADABLE, "line 3: found duplicate key", "propose"),
        id="policy-with-a-problem"),
    pytest.param(FACTS, [*under(PLAIN), Source("current", None)],
        Finding(Reason.POLICY_UNREADABLE, "the policy is missing", "current"), id="policy-missing"),
    pytest.param(FACTS, [], Finding(Reason.POLICY_UNREADABLE, "there is no policy at all"),
        id="no-policy"),
    pytest.param(seen(tool="mail.send"), under(PLAIN, BILLING),
        Finding(Reason.NO_RULE, "no rule is about mail.send", "propose"), id="no-rule"),
    pytest.param(seen(agent="cleanup-bot"), under(PLAIN, OTHER_BOTS),
        Finding(Reason.REQUESTER_NOT_ALLOWED,
            "rule 1 takes no requests of the agent cleanup-bot", "propose"),
        id="requester-not-allowed"),
    pytest.param(FACTS, under(PLAIN, FROZEN),
        Finding(Reason.FROZEN, "frozen until 2026-12-24 16:30 UTC: holidays", "propose",
            until=datetime(2026, 12, 24, 16, 30, tzinfo=UTC)),
        id="frozen"),
    pytest.param(FACTS, under(PLAIN, TWO),
        Finding(Reason.APPROVALS_MISSING, "1 person still needed", "propose"),
        id="approvals-missing"),
    pytest.param(seen(people={"eve": 0}), under(PLAIN, NAMED),
        Finding(Reason.NO_SUCH_USER,
            "there was no person @eve on GitHub when this was proposed", "propose", "eve"),
        id="no-such-user"),
    pytest.param(
        heard(comment(CAT, 10), access={3: Access(3, "write", unread=frozenset({"acme/finance"}))}),
        under(BOTH),
        Finding(Reason.ACCESS_UNKNOWN, "GitHub did not say what @cat may do", who="cat"),
        id="team-unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "sources", "finding"), BY_POLICY)
def test_what_a_policy_is_short_of_is_told_once_with_its_name(
    facts: Facts, sources: list[Source], finding: Finding
) -> None:
    assert told(facts, sources, finding.reason) == [finding]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(rejected(BOB), id="a-delivered-rejection-ends-it-instead"),
        pytest.param(rejected(BOSS), id="and-a-delivered-withdrawal"),
        pytest.param(
            replace(able(BOB, "read"), voices=undelivered(BOB).voices),
            id="an-undelivered-one-of-somebody-who-may-not-decide",
        ),
        pytest.param(
            rejected(BOB, standing=Standing.GONE), id="one-that-was-taken-back-still-ends-it"
        ),
    ],
)
def test_nothing_is_blocked_by(facts: Facts) -> None:
    assert told(facts, POLICIES, Reason.BLOCKED) == []


def test_an_undelivered_rejection_hides_no_request_for_changes() -> None:
    facts = replace(undelivered(CAT), voices=(*undelivered(CAT).voices, no(BOB, 30)))
    assert [f.who for f in told(facts, POLICIES, Reason.BLOCKED)] == ["cat", "bob"]


@pytest.mark.parametrize(
    ("facts", "sources", "reason"),
    [
        pytest.param(seen(tool="mail.send"), under(BILLING), Reason.NO_RULE, id="a-yes"),
        pytest.param(
            seen(tool="mail.send"), under(PLAIN, BILLING), Reason.NO_RULE, id="a-yes-under-one"
        ),
        pytest.param(
            heard(no(BOB, 20), tool="mail.send"), under(BILLING), Reason.NOT_IN_GROUP, id="a-no"
        ),
    ],
)
def test_where_no_rule_is_about_the_tool_nobody_counts(
    facts: Facts, sources: list[Source], reason: Reason
) -> None:
    verdict = judge(facts, sources, NOW)
    assert verdict.decision is Decision.WAITING
    assert [h.reason for h in verdict.heard] == [reason]


def test_a_login_that_only_another_rule_means_otherwise_is_just_not_in_the_group() -> None:
    verdict = judged(seen(people={"ann": 7}), FINANCE)
    assert [h.reason for h in verdict.heard] == [Reason.NOT_IN_GROUP]


def test_nothing_is_needed_of_what_is_approved() -> None:
    assert judged(FACTS).needed == ""


def test_the_moments_of_a_freeze_are_read_as_utc_wherever_the_server_stands() -> None:
    [freeze] = FROZEN.freeze
    assert freeze.until == datetime(2026, 12, 24, 16, 30, tzinfo=UTC)
    assert freeze.until.tzinfo is UTC  # not the server's own zone, even where that equals UTC now


def test_a_verdict_gives_its_first_finding_of_a_weight() -> None:
    verdict = judged(seen(draft=True, view_intact=False, expires=NOW))
    ends, waits = verdict.why(Weight.ENDS), verdict.why(Weight.WAITS)
    assert ends is not None
    assert waits is not None
    assert (ends.reason, waits.reason) == (Reason.EXPIRED, Reason.DRAFT)
    assert verdict.why(Weight.DOUBTS) is None


def test_a_login_that_was_never_pinned_means_whoever_has_it() -> None:
    assert judged(seen(people={}), NAMED).decision is Decision.APPROVED
