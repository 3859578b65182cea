from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from checks.facts import Access, Facts, Form, Person, Stance, Standing, Surface, Voice
from checks.policy import Policy, Source, floor, load
from checks.reasons import REASONS, Reason, Weight
from checks.verdict import Decision, judge
from tests.checks.scene import (
    ANN,
    APP,
    BOB,
    BOSS,
    CAT,
    CI,
    DIGEST,
    FACTS,
    NOW,
    OPENED,
    PLAIN,
    POLICIES,
    YES,
    able,
    at,
    button,
    comment,
    dismissed,
    heard,
    judged,
    named,
    no,
    policy,
    reasons,
    said,
    there,
    under,
)

APPROVED, WAITING = Decision.APPROVED, Decision.WAITING
DOUBTFUL, ENDED = Decision.DOUBTFUL, Decision.ENDED
TWO = policy("require: [{approvals: 2}]")
FINANCE = policy("require: [{approvals: 1, from: [team:acme/finance]}]")
BOTH = policy(
    "require: [{approvals: 1, from: [team:acme/finance]}, {approvals: 1, from: [user:cat]}]"
)
NAMED = policy("require: [{approvals: 1, from: [user:ann]}]")
ASKING = load(
    "version: 1\nrules:\n"
    "  - {tools: ['*'], requesters: [agent:cleanup-bot, user:Boss], require: [{approvals: 1}]}\n"
    "  - {tools: ['*'], require: [{approvals: 1}]}\n"
)
BUTTONS = policy("require: [{approvals: 1}]", "surfaces: [button]")
SHORT = policy("require: [{approvals: 1}]", "approval_valid: 30m")
BILLING = load("version: 1\nrules: [{tools: ['billing.*'], require: [{approvals: 1}]}]")
SECOND = timedelta(seconds=1)


def freeze(start: str, end: str) -> Policy:
    return policy(
        "require: [{approvals: 1}]",
        freeze=f"freeze:\n  - {{from: {start}, until: {end}, reason: holidays}}\n",
    )


def seen(**change: Any) -> Facts:
    return replace(FACTS, **change)


def also(*voices: Voice) -> Facts:
    return heard(YES, *voices)


CASES = [
    # What is decided about the proposal
    pytest.param(FACTS, APPROVED, None, id="one writer is enough"),
    pytest.param(heard(), WAITING, Reason.APPROVALS_MISSING, id="approvals_missing: silence"),
    pytest.param(seen(expires=NOW), ENDED, Reason.EXPIRED, id="expired: to the instant"),
    pytest.param(seen(expires=NOW + SECOND), APPROVED, None, id="not yet over"),
    pytest.param(seen(is_open=False), ENDED, Reason.CLOSED, id="closed: without a merge"),
    pytest.param(seen(is_open=False, merged=True), APPROVED, None, id="merging is no end"),
    pytest.param(
        heard(is_open=False, merged=True), WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: merging is no approval",
    ),
    pytest.param(seen(head="bad5eed"), ENDED, Reason.HEAD_MOVED, id="head_moved: a push"),
    pytest.param(seen(moved=True), ENDED, Reason.HEAD_MOVED, id="head_moved: away and back again"),
    pytest.param(seen(base="main"), ENDED, Reason.BASE_CHANGED, id="base_changed: retargeted"),
    pytest.param(seen(draft=True), WAITING, Reason.DRAFT, id="draft: is not asking yet"),
    pytest.param(seen(view_intact=False), WAITING, Reason.VIEW_EDITED, id="view_edited: by anyone"),
    pytest.param(seen(edits=2), APPROVED, None, id="edited twice, restored, approved since"),
    pytest.param(
        seen(edits=3), ENDED, Reason.EDITED_TOO_OFTEN, id="edited_too_often: three times"
    ),
    pytest.param(seen(halted="stop"), WAITING, Reason.HALTED, id="halted: by the operator"),
    pytest.param(seen(halted=""), WAITING, Reason.HALTED, id="halted: without a word of why"),
    pytest.param(
        seen(ahead="p_2"), WAITING, Reason.WAITS_IN_LINE,
        id="waits_in_line: for what changes the same thing",
    ),
    pytest.param(
        seen(unreadable=("the reviews",)), DOUBTFUL, Reason.UNREADABLE, id="unreadable: reviews"
    ),
    pytest.param(
        also(comment(BOB, 20, standing=Standing.UNREAD)), DOUBTFUL, Reason.UNREADABLE,
        id="unreadable: what someone who may decide said",
    ),
    pytest.param(
        also(comment(ANN, 20, standing=Standing.UNREAD)), DOUBTFUL, Reason.UNREADABLE,
        id="unreadable: the approver's last word may be gone",
    ),
    pytest.param(
        also(comment(CI, 20, standing=Standing.UNREAD)), APPROVED, Reason.MACHINE_ACCOUNT,
        id="machine_account: what it said need not be read",
    ),
    pytest.param(seen(skew=30 * SECOND), APPROVED, None, id="clocks 30 seconds apart"),
    pytest.param(seen(skew=-30 * SECOND), APPROVED, None, id="clocks 30 seconds apart, behind"),
    pytest.param(
        seen(skew=timedelta(seconds=30, microseconds=1)), DOUBTFUL, Reason.CLOCK_SKEW,
        id="clock_skew: ahead",
    ),
    pytest.param(
        seen(skew=-timedelta(seconds=30, microseconds=1)), DOUBTFUL, Reason.CLOCK_SKEW,
        id="clock_skew: behind",
    ),
    # No: requested changes, rejected, withdrawn
    pytest.param(also(no(BOB, 20)), WAITING, Reason.BLOCKED, id="blocked: changes requested"),
    pytest.param(
        also(no(BOB, 5, standing=Standing.UNDELIVERED)), WAITING, Reason.BLOCKED,
        id="blocked: by a review that was never delivered",
    ),
    pytest.param(
        also(no(BOB, 5, standing=Standing.UNREAD)), DOUBTFUL, Reason.BLOCKED,
        id="blocked: by a review that cannot be read now",
    ),
    pytest.param(also(no(BOSS, 20)), APPROVED, Reason.REQUESTER, id="requester: cannot block"),
    pytest.param(
        able(BOB, "read"), APPROVED, None, id="a reader who says nothing changes nothing"
    ),
    pytest.param(
        replace(able(BOB, "read"), voices=(YES, no(BOB, 20))), APPROVED, Reason.PERMISSION_TOO_LOW,
        id="permission_too_low: a reader cannot block",
    ),
    pytest.param(also(no(BOB, 5), said(BOB, 20)), APPROVED, None, id="who blocked approves later"),
    pytest.param(
        also(no(BOB, 20), said(BOB, 5)), WAITING, Reason.SUPERSEDED_STANCE,
        id="superseded_stance: who approved blocks later",
    ),
    pytest.param(
        heard(no(ANN, 10), button(ANN, 10)), WAITING, Reason.SUPERSEDED_STANCE,
        id="superseded_stance: yes and no at one moment is no",
    ),
    pytest.param(
        heard(no(ANN, 10), button(ANN, 10)), WAITING, Reason.BLOCKED, id="blocked: on a tie"
    ),
    pytest.param(
        also(no(BOB, 5), comment(BOB, 20, via_app=True)), WAITING, Reason.BLOCKED,
        id="blocked: a yes through an App lifts nothing",
    ),
    pytest.param(
        also(no(BOB, 5), comment(BOB, 20, digest="0" * 12)), WAITING, Reason.BLOCKED,
        id="blocked: a yes to another plan lifts nothing",
    ),
    pytest.param(
        also(no(BOB, 5), said(BOB, 20, head="bad5eed")), WAITING, Reason.BLOCKED,
        id="blocked: a yes to another commit lifts nothing",
    ),
    pytest.param(
        also(no(BOB, 5), said(BOB, 20, standing=Standing.UNDELIVERED)), WAITING, Reason.BLOCKED,
        id="blocked: a yes that was not delivered lifts nothing",
    ),
    pytest.param(
        also(said(ANN, 20, standing=Standing.UNDELIVERED)), APPROVED,
        Reason.NOT_DELIVERED, id="not_delivered: a second yes takes the first one from nobody",
    ),
    pytest.param(
        also(no(BOB, 5), dismissed(said(BOB, 20), CAT)), WAITING, Reason.BLOCKED,
        id="blocked: again, once the yes that lifted it is taken back",
    ),
    pytest.param(
        also(dismissed(no(BOB, 20), CAT)), APPROVED, None, id="a peer's dismissal lifts a block"
    ),
    pytest.param(
        also(dismissed(no(BOB, 20), BOB)), APPROVED, None, id="the author's own dismissal lifts it"
    ),
    *(
        pytest.param(also(dismissed(no(BOB, 20), by)), WAITING, Reason.BLOCKED,
        id=f"blocked: {why}")
        for by, why in (
            (BOSS, "the requester's dismissal lifts nothing"),
            (CI, "a machine's dismissal lifts nothing"),
            (APP, "an App's dismissal lifts nothing"),
            (None, "a dismissal that was not delivered lifts nothing"),
        )
    ),
    pytest.param(
        replace(able(CAT, "read"), voices=(YES, dismissed(no(BOB, 20), CAT))),
        WAITING, Reason.BLOCKED, id="blocked: a reader's dismissal lifts nothing",
    ),
    pytest.param(
        replace(able(CAT, None), voices=(YES, dismissed(no(BOB, 20), CAT))),
        DOUBTFUL, Reason.ACCESS_UNKNOWN, id="access_unknown: of who dismissed a block",
    ),
    pytest.param(
        also(no(BOB, 20, stance=Stance.REJECT)), ENDED, Reason.REJECTED, id="rejected: by a peer"
    ),
    pytest.param(
        also(said(BOB, 30), comment(BOB, 20, stance=Stance.REJECT)), ENDED, Reason.REJECTED,
        id="rejected: a later yes does not bring it back",
    ),
    pytest.param(
        also(no(BOSS, 20, stance=Stance.REJECT)), ENDED, Reason.WITHDRAWN, id="withdrawn: by boss"
    ),
    pytest.param(
        replace(able(BOB, "read"), voices=(YES, no(BOB, 20, stance=Stance.REJECT))),
        APPROVED, Reason.PERMISSION_TOO_LOW, id="permission_too_low: a reader cannot reject",
    ),
    # Who may approve
    pytest.param(heard(said(BOSS, 10)), WAITING, Reason.REQUESTER, id="requester: own people"),
    pytest.param(
        replace(FACTS, identities=frozenset({ANN.id})), WAITING, Reason.REQUESTER,
        id="requester: became one of them since",
    ),
    pytest.param(
        heard(said(replace(BOSS, login="Not-Boss"), 10)), WAITING, Reason.REQUESTER,
        id="requester: under another login",
    ),
    pytest.param(
        seen(askers=frozenset({ANN.id})), WAITING, Reason.ASKED_FOR_IT,
        id="asked_for_it: nobody decides about what they asked for",
    ),
    pytest.param(
        replace(also(no(BOB, 20)), askers=frozenset({BOB.id})), APPROVED, Reason.ASKED_FOR_IT,
        id="asked_for_it: cannot block either",
    ),
    pytest.param(
        replace(also(no(BOB, 20, stance=Stance.REJECT)), askers=frozenset({BOB.id})),
        ENDED, Reason.WITHDRAWN, id="withdrawn: by whoever asked for it",
    ),
    pytest.param(
        heard(said(CI, 10)), WAITING, Reason.MACHINE_ACCOUNT,
        id="machine_account: said yes",
    ),
    pytest.param(heard(said(APP, 10)), WAITING, Reason.NOT_A_PERSON, id="not_a_person: an App"),
    *(
        pytest.param(
            heard(said(replace(ANN, kind=kind), 10)), WAITING, Reason.NOT_A_PERSON,
            id=f"not_a_person: kind {kind!r}",
        )
        for kind in ("Bot", "Organization", "Mannequin", "user", "unknown", "")
    ),
    *(
        pytest.param(
            heard(said(Person(1, login), 10)), WAITING, Reason.NOT_A_PERSON,
            id=f"not_a_person: {login} says it is a User",
        )
        for login in ("ann[bot]", "ann[BOT]")
    ),
    pytest.param(
        seen(contributors=frozenset({ANN.id})), WAITING, Reason.CONTRIBUTOR,
        id="contributor: pushed to the branch",
    ),
    *(
        pytest.param(able(ANN, role), APPROVED, None, id=f"permission {role} is enough")
        for role in ("write", "maintain", "admin")
    ),
    *(
        pytest.param(
            able(ANN, role), WAITING, Reason.PERMISSION_TOO_LOW,
            id=f"permission_too_low: {role!r} is not enough",
        )
        for role in ("read", "triage", "none", "", "Write", "owner", "security-lead")
    ),
    pytest.param(able(ANN, None), DOUBTFUL, Reason.ACCESS_UNKNOWN, id="access_unknown: no answer"),
    pytest.param(
        seen(access={}), DOUBTFUL, Reason.ACCESS_UNKNOWN, id="access_unknown: never asked"
    ),
    pytest.param(
        replace(able(BOB, None), voices=(YES, said(BOB, 20))), APPROVED,
        Reason.ACCESS_UNKNOWN, id="access_unknown: of a yes too many does not matter",
    ),
    pytest.param(
        replace(able(BOB, None), voices=(YES, no(BOB, 20))), DOUBTFUL, Reason.ACCESS_UNKNOWN,
        id="access_unknown: of someone who said no",
    ),
    pytest.param(
        replace(able(BOB, None), voices=(comment(BOB, 20, via_app=True),)), WAITING, Reason.VIA_APP,
        id="via_app: what cannot count need not be looked up",
    ),
    pytest.param(
        able(ANN, id=77), WAITING, Reason.IDENTITY_CHANGED, id="identity_changed: login taken over"
    ),
    # Which approvals count
    pytest.param(
        heard(comment(ANN, 10, via_app=True)), WAITING, Reason.VIA_APP, id="via_app: by its token"
    ),
    *(
        pytest.param(heard(replace(YES, standing=standing)), decision, reason,
        id=f"{reason}: a yes")
        for standing, decision, reason in (
            (Standing.UNDELIVERED, WAITING, Reason.NOT_DELIVERED),
            (Standing.GONE, WAITING, Reason.GONE),
            (Standing.DISMISSED, WAITING, Reason.DISMISSED),
            (Standing.UNREAD, DOUBTFUL, Reason.UNREADABLE),
        )
    ),
    pytest.param(
        seen(valid_from=at(10) + SECOND), WAITING, Reason.BEFORE_OPENING,
        id="before_opening: older than the page as it was restored",
    ),
    pytest.param(seen(valid_from=at(10)), APPROVED, None, id="said at the moment of the opening"),
    pytest.param(
        heard(said(ANN, 10, head="bad5eed")), WAITING, Reason.OTHER_HEAD, id="other_head: a review"
    ),
    pytest.param(
        heard(said(ANN, 10, head=None)), WAITING, Reason.OTHER_HEAD, id="other_head: of none at all"
    ),
    pytest.param(
        heard(button(ANN, 10, head="bad5eed")), WAITING, Reason.OTHER_HEAD,
        id="other_head: a button"
    ),
    pytest.param(heard(comment(ANN, 10)), APPROVED, None, id="a bare comment"),
    pytest.param(heard(button(ANN, 10)), APPROVED, None, id="a button"),
    *(
        pytest.param(heard(comment(ANN, 10, digest=named)), APPROVED, None, id=f"digest: {why}")
        for named, why in (
            ("3f9a1c0de4b2", "twelve digits"),
            ("3F9A1C0DE4B2", "upper case"),
            (DIGEST.removeprefix("sha256:"), "all of it"),
        )
    ),
    *(
        pytest.param(
            heard(comment(ANN, 10, digest=named)), WAITING, Reason.OTHER_DIGEST,
            id=f"other_digest: {why}",
        )
        for named, why in (
            ("3f9a1c0de4b", "eleven digits are too few"),
            ("", "empty"),
            ("0" * 12, "another plan"),
            ("3f9a1c0de4b3", "the last digit differs"),
            (DIGEST.removeprefix("sha256:") + "0", "longer than a digest"),
            ("sha256:3f9a1c0de4b2", "with the algorithm's name"),
        )
    ),
    pytest.param(
        heard(said(ANN, 5), dismissed(said(ANN, 20), BOB)), WAITING, Reason.SUPERSEDED_STANCE,
        id="superseded_stance: a dismissal revives no earlier yes",
    ),
    pytest.param(
        heard(said(ANN, 5), comment(ANN, 20, standing=Standing.GONE)), WAITING,
        Reason.SUPERSEDED_STANCE, id="superseded_stance: a deleted comment revives no review",
    ),
    pytest.param(
        heard(dismissed(said(ANN, 5), BOB), comment(ANN, 20)), APPROVED, Reason.DISMISSED,
        id="dismissed: then said again",
    ),
    pytest.param(
        heard(dismissed(said(ANN, 5), BOSS)), WAITING, Reason.DISMISSED,
        id="dismissed: even by the requester",
    ),
    # The check-run form: somebody's page, which may hold several plans
    pytest.param(there(named(ANN, 10)), APPROVED, None, id="there: a comment with the digest"),
    pytest.param(there(button(ANN, 10)), APPROVED, None, id="there: the button"),
    pytest.param(
        there(said(ANN, 10)), WAITING, Reason.REVIEW_IS_ABOUT_THE_CODE,
        id="review_is_about_the_code: it approves no plan",
    ),
    pytest.param(
        there(button(ANN, 10), no(BOB, 20)), APPROVED, Reason.REVIEW_IS_ABOUT_THE_CODE,
        id="review_is_about_the_code: it blocks no plan",
    ),
    pytest.param(
        there(button(ANN, 10), no(ANN, 20)), APPROVED, Reason.REVIEW_IS_ABOUT_THE_CODE,
        id="review_is_about_the_code: it takes nothing back either",
    ),
    pytest.param(
        there(button(ANN, 10), no(BOB, 20, standing=Standing.UNREAD)), APPROVED,
        Reason.REVIEW_IS_ABOUT_THE_CODE, id="review_is_about_the_code: it need not be read",
    ),
    pytest.param(
        there(button(ANN, 10), no(Person(77, "eve"), 20)), APPROVED,
        Reason.REVIEW_IS_ABOUT_THE_CODE, id="review_is_about_the_code: nor its author known",
    ),
    pytest.param(
        there(comment(ANN, 10)), WAITING, Reason.DIGEST_REQUIRED,
        id="digest_required: a bare approval names no plan",
    ),
    pytest.param(
        there(button(ANN, 10), comment(BOB, 20, stance=Stance.REJECT)), APPROVED,
        Reason.DIGEST_REQUIRED, id="digest_required: a bare rejection names no plan",
    ),
    pytest.param(
        there(named(ANN, 10, digest="9" * 12)), WAITING, Reason.OTHER_DIGEST,
        id="other_digest: an approval of another plan of the page",
    ),
    pytest.param(
        there(button(ANN, 10), named(BOB, 20, digest="9" * 12, stance=Stance.REJECT)), APPROVED,
        Reason.OTHER_DIGEST, id="other_digest: a rejection of another plan of the page",
    ),
    pytest.param(
        there(named(ANN, 10), named(BOB, 20, stance=Stance.REJECT)), ENDED, Reason.REJECTED,
        id="rejected: by a comment with the digest",
    ),
    pytest.param(
        there(named(ANN, 10), named(BOSS, 20, stance=Stance.REJECT)), ENDED, Reason.WITHDRAWN,
        id="withdrawn: by a comment with the digest",
    ),
    pytest.param(
        there(named(ANN, 10, order=60)), WAITING, Reason.BEFORE_OPENING,
        id="before_opening: not later than the announcement",
    ),
    pytest.param(
        there(named(ANN, 10, order=61)), APPROVED, None, id="there: the comment right after it"
    ),
    pytest.param(
        there(named(ANN, -1, order=61)), WAITING, Reason.BEFORE_OPENING,
        id="before_opening: by GitHub's date on somebody's page",
    ),
    pytest.param(
        there(button(ANN, -1)), WAITING, Reason.BEFORE_OPENING,
        id="before_opening: a button pressed too soon on somebody's page",
    ),
    pytest.param(
        there(named(ANN, 10), announced=None), WAITING, Reason.BEFORE_OPENING,
        id="before_opening: nothing announces a plan on a bare commit",
    ),
    pytest.param(
        there(button(ANN, 10), announced=None), APPROVED, None, id="there: a button on a commit"
    ),
    pytest.param(
        there(button(ANN, 10), is_open=False), ENDED, Reason.CLOSED,
        id="closed: somebody's pull request",
    ),
    pytest.param(
        there(button(ANN, 10), is_open=False, merged=True), ENDED, Reason.CLOSED,
        id="closed: somebody's pull request was merged",
    ),
    pytest.param(
        there(button(ANN, 10), head="bad5eed"), ENDED, Reason.HEAD_MOVED,
        id="head_moved: somebody's pull request",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "decision", "reason"), CASES)
def test_verdict(facts: Facts, decision: Decision, reason: Reason | None) -> None:
    verdict = judged(facts)
    assert verdict.decision is decision
    assert reason in reasons(verdict) if reason else not reasons(verdict)


BROKEN = Source("propose", None, "line 3: found duplicate key")
POLICY_CASES = [
    pytest.param(
        FACTS, [], DOUBTFUL, Reason.POLICY_UNREADABLE,
        id="policy_unreadable: none at all",
    ),
    pytest.param(
        FACTS, [*under(PLAIN), BROKEN, Source("current", PLAIN)], DOUBTFUL,
        Reason.POLICY_UNREADABLE, id="policy_unreadable: one of three cannot be read",
    ),
    pytest.param(
        FACTS, [*under(PLAIN, PLAIN), Source("current", None)], DOUBTFUL, Reason.POLICY_UNREADABLE,
        id="policy_unreadable: the current one is missing",
    ),
    pytest.param(
        replace(FACTS, tool="mail.send"),
        under(PLAIN, BILLING),
        WAITING, Reason.NO_RULE, id="no_rule: one policy has none for the tool",
    ),
    pytest.param(
        also(said(BOB, 20)), under(TWO, PLAIN), APPROVED, None, id="two people for a floor of two"
    ),
    pytest.param(
        FACTS, under(TWO, PLAIN), WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: the floor wants two, the policy one",
    ),
    pytest.param(
        FACTS, under(PLAIN, PLAIN, TWO), WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: the policy became stricter",
    ),
    pytest.param(
        FACTS, under(PLAIN, TWO, PLAIN), WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: a policy that became looser loosens nothing",
    ),
    pytest.param(
        also(said(replace(ANN, login="ANN"), 20)), under(TWO), WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: two reviews by one person count once",
    ),
    pytest.param(
        heard(said(ANN, 10), comment(ANN, 20), button(ANN, 30)), under(TWO), WAITING,
        Reason.APPROVALS_MISSING, id="approvals_missing: one person on three surfaces",
    ),
    pytest.param(
        FACTS, under(BUTTONS), WAITING, Reason.SURFACE_NOT_ALLOWED,
        id="surface_not_allowed: a review"
    ),
    pytest.param(heard(button(ANN, 10)), under(BUTTONS), APPROVED, None, id="the button it wants"),
    pytest.param(
        heard(button(ANN, 10), no(BOB, 5), comment(BOB, 20)), under(BUTTONS), WAITING,
        Reason.BLOCKED, id="blocked: a yes where no yes is taken lifts nothing",
    ),
    pytest.param(
        FACTS, under(FINANCE), WAITING, Reason.NOT_IN_GROUP, id="not_in_group: of another team"
    ),
    pytest.param(
        able(ANN, "write", "acme/finance"), under(FINANCE), APPROVED, None, id="of the team"
    ),
    pytest.param(
        able(ANN, "write", "evil/finance"), under(FINANCE), WAITING, Reason.NOT_IN_GROUP,
        id="not_in_group: the team of another organisation",
    ),
    pytest.param(
        able(ANN, unread=frozenset({"acme/finance"})), under(FINANCE), DOUBTFUL,
        Reason.ACCESS_UNKNOWN, id="access_unknown: a team nobody could read",
    ),
    pytest.param(
        able(ANN, unread=frozenset({"acme/cooks"})), under(FINANCE), WAITING, Reason.NOT_IN_GROUP,
        id="not_in_group: an unread team that nobody asks for",
    ),
    pytest.param(
        heard(said(CAT, 10), access={3: Access(3, "write", unread=frozenset({"acme/finance"}))}),
        under(BOTH), DOUBTFUL, Reason.ACCESS_UNKNOWN, id="access_unknown: in half of the groups",
    ),
    pytest.param(
        heard(said(CAT, 10), access={3: Access(3, "write", frozenset({"acme/finance"}))}),
        under(BOTH), WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: one person in both groups fills one place",
    ),
    pytest.param(
        heard(no(BOB, 20), YES), under(FINANCE, PLAIN), WAITING, Reason.BLOCKED,
        id="blocked: by someone who may decide under one of the policies",
    ),
    pytest.param(
        replace(
            able(ANN, "write", "acme/finance"), voices=(YES, dismissed(no(BOB, 5), CAT))
        ),
        under(FINANCE, PLAIN), WAITING, Reason.BLOCKED,
        id="blocked: a dismissal by someone who may decide under one policy only",
    ),
    pytest.param(
        seen(expires=NOW + SECOND, voices=(said(ANN, 30),)), under(SHORT), WAITING,
        Reason.APPROVAL_LAPSED, id="approval_lapsed: to the instant",
    ),
    pytest.param(heard(said(ANN, 30 + 1 / 60)), under(SHORT), APPROVED, None, id="not yet lapsed"),
    pytest.param(
        heard(said(ANN, 29), said(ANN, 31)), under(SHORT), APPROVED, Reason.APPROVAL_LAPSED,
        id="approval_lapsed: the earlier of two",
    ),
    pytest.param(
        seen(agent="cleanup-bot"), under(ASKING), APPROVED, None, id="a rule for this very agent"
    ),
    pytest.param(
        seen(agent="other-bot"), under(ASKING), WAITING, Reason.REQUESTER_NOT_ALLOWED,
        id="requester_not_allowed: a rule for another agent, and no other rule stands in",
    ),
    pytest.param(
        seen(agent="cleanup-bot"), under(PLAIN, ASKING.model_copy(update={"rules": (
            ASKING.rules[0].model_copy(update={"requesters": ("agent:other-bot",)}),
        )})), WAITING, Reason.REQUESTER_NOT_ALLOWED,
        id="requester_not_allowed: by one of the policies",
    ),
    pytest.param(
        seen(agent="other-bot", people={"boss": BOSS.id}), under(ASKING), APPROVED, None,
        id="a rule for whoever works for boss",
    ),
    pytest.param(
        seen(agent="other-bot", people={"boss": ANN.id}), under(ASKING), WAITING,
        Reason.REQUESTER_NOT_ALLOWED, id="requester_not_allowed: boss is somebody else",
    ),
    pytest.param(
        seen(agent="other-bot", people={"boss": 0}, identities=frozenset({0, BOSS.id})),
        under(ASKING), WAITING, Reason.REQUESTER_NOT_ALLOWED,
        id="requester_not_allowed: there was nobody called boss",
    ),
    pytest.param(
        seen(people={"ann": ANN.id}), under(NAMED), APPROVED, None, id="the very person named"
    ),
    pytest.param(
        seen(people={"ann": 7}), under(NAMED), WAITING, Reason.IDENTITY_CHANGED,
        id="identity_changed: who took a login that the policy names is not who was meant",
    ),
    pytest.param(
        seen(people={"ann": 7}, voices=(replace(YES, person=replace(ANN, login="Ann")),)),
        under(NAMED), WAITING, Reason.IDENTITY_CHANGED, id="identity_changed: in another case",
    ),
    pytest.param(
        seen(people={"ann": 7}), under(PLAIN), APPROVED, None, id="a rule that names nobody"
    ),
    pytest.param(
        replace(able(ANN, "write", "acme/finance"), people={"ann": 7}),
        under(policy("require: [{approvals: 1, from: [user:ann, team:acme/finance]}]")),
        APPROVED, None, id="who took a login but is in the team too",
    ),
    pytest.param(
        seen(
            voices=(YES, said(BOB, 20)), people={"ann": 7},
            access={p.id: Access(p.id, "write", frozenset({"acme/finance"})) for p in (ANN, BOB)},
        ),
        under(policy(
            "require: [{approvals: 1, from: [user:ann]}, {approvals: 1, from: [team:acme/finance]}]"
        )),
        WAITING, Reason.APPROVALS_MISSING,
        id="approvals_missing: who took a login sits in the team's place, never in the other",
    ),
    pytest.param(
        seen(people={"ann": 7}, voices=(YES, no(ANN, 20))), under(NAMED), WAITING,
        Reason.IDENTITY_CHANGED, id="identity_changed: nor can they block",
    ),
    pytest.param(
        heard(people={"ann": 0}), under(NAMED), WAITING, Reason.NO_SUCH_USER,
        id="no_such_user: named by the policy",
    ),
    pytest.param(
        seen(people={"ann": 0}), under(NAMED), WAITING, Reason.IDENTITY_CHANGED,
        id="identity_changed: who takes a login that nobody had fills nobody's place",
    ),
    pytest.param(
        FACTS, under(freeze("2026-12-01T10:00Z", "2026-12-01T10:01Z")), WAITING, Reason.FROZEN,
        id="frozen: from its first instant",
    ),
    pytest.param(
        FACTS, under(freeze("2026-12-01T09:00Z", "2026-12-01T10:00Z")), APPROVED, None,
        id="no longer frozen at its end",
    ),
    pytest.param(
        FACTS, under(PLAIN, freeze("2026-11-30T23:00-10:00", "2026-12-01T23:00+12:00"), PLAIN),
        WAITING, Reason.FROZEN, id="frozen: by one policy, in its own zone",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "policies", "decision", "reason"), POLICY_CASES)
def test_verdict_by_policy(
    facts: Facts, policies: list[Source], decision: Decision, reason: Reason | None
) -> None:
    verdict = judge(facts, policies, NOW)
    assert verdict.decision is decision
    assert reason in reasons(verdict) if reason else not reasons(verdict)


def test_what_is_approved_has_no_finding_but_notes() -> None:
    verdict = judged(also(said(BOSS, 20), said(APP, 20)))
    assert verdict.decision is APPROVED
    assert {f.weight for f in verdict.findings} == {Weight.NOTES}


def test_the_heaviest_reason_decides() -> None:
    everything = seen(draft=True, skew=timedelta(hours=1))
    assert judged(everything).decision is DOUBTFUL
    assert judged(replace(everything, moved=True)).decision is ENDED


def test_a_verdict_says_which_rules_were_used_and_what_is_needed() -> None:
    verdict = judged(FACTS, PLAIN, BOTH)
    assert verdict.rules == (("floor", 1), ("propose", 1))
    assert verdict.needed == "1 person of acme/finance and 1 person of @cat still needed"


def test_a_yes_that_no_policy_can_count_is_not_shown_as_counting() -> None:
    assert not any(h.counts for h in judge(FACTS, [], NOW).heard)
    assert not any(h.counts for h in judge(FACTS, [*POLICIES, BROKEN], NOW).heard)


@pytest.mark.parametrize(
    ("facts", "policies", "until"),
    [
        pytest.param(FACTS, POLICIES, FACTS.expires, id="until the proposal's end"),
        pytest.param(heard(said(ANN, 40)), under(PLAIN, SHORT), at(70), id="until the lapse"),
        pytest.param(
            heard(said(ANN, 40), said(BOB, 35)), under(SHORT), at(65), id="until the first lapse"
        ),
        pytest.param(
            FACTS, under(freeze("2026-12-01T11:30Z", "2026-12-02T00:00Z")), at(150),
            id="until the next freeze",
        ),
        pytest.param(
            FACTS, under(freeze("2026-11-01T00:00Z", "2026-11-02T00:00Z")), FACTS.expires,
            id="a freeze that is over shortens nothing",
        ),
        pytest.param(
            heard(said(ANN, 40)), under(SHORT, freeze("2026-12-01T10:05Z", "2026-12-02T00:00Z")),
            at(65), id="until the earliest of them",
        ),
    ],
)  # fmt: skip
def test_a_yes_is_valid(facts: Facts, policies: list[Source], until: datetime) -> None:
    verdict = judge(facts, policies, NOW)
    assert verdict.decision is APPROVED
    assert verdict.valid_until == until


def test_an_unanswered_look_up_gives_no_place_away() -> None:
    facts = replace(able(BOB, None), voices=(YES, said(BOB, 20)))
    assert judged(facts, floor(2)).decision is DOUBTFUL


# Laws: whatever is said, by whomever, read or unread.

PEOPLE = [ANN, BOB, CAT, BOSS, CI, APP, Person(4, "dan"), Person(2, "BOB"), Person(5, "eve", "Bot")]
KNOWN_POLICIES = [
    *(PLAIN, PLAIN, TWO, FINANCE, BOTH, BUTTONS, SHORT),
    freeze("2026-12-01T11:00Z", "2027-01-01T00:00Z"),
    policy("require: [{approvals: 2}, {approvals: 1, from: [user:ANN, team:acme/security]}]"),
    policy("require: [{approvals: 1, from: [team:acme/finance, user:bob]}]", "permission: admin"),
    policy("require: [{approvals: 1}]", "permission: read", "surfaces: [comment, button]"),
]  # fmt: skip
yeses_ = st.builds(
    said,
    st.sampled_from([ANN, BOB, CAT]),
    st.sampled_from([10, 20, 31, 45]),
    surface=st.sampled_from(Surface),
)
voices_ = yeses_ | st.builds(
    Voice,
    key=st.sampled_from(["review:1", "comment:2", "button:3"]),
    person=st.sampled_from(PEOPLE),
    surface=st.sampled_from(Surface),
    stance=st.sampled_from([*[Stance.APPROVE] * 6, Stance.BLOCK, Stance.BLOCK, Stance.REJECT]),
    at=st.sampled_from([at(m) for m in (-5, 0, 10, 20, 31, 45)]),
    order=st.integers(0, 3),
    head=st.sampled_from([*["c0ffee1"] * 6, "bad5eed", None]),
    digest=st.sampled_from([*[None] * 6, "3f9a1c0de4b2", "3F9A1C0DE4B2", "0" * 12, "3f9", ""]),
    via_app=st.sampled_from([*[False] * 6, True]),
    standing=st.sampled_from([*[Standing.STANDS] * 6, *Standing]),
    dismisser=st.sampled_from([None, *PEOPLE]),
)
QUICK = settings(phases=[Phase.generate], database=None, max_examples=5000)
teams_ = st.frozensets(st.sampled_from(["acme/finance", "acme/security"]))
roles_ = st.sampled_from(["admin", "maintain", "read", "triage", "none", "custom", None])
odd_access_ = st.builds(Access, st.integers(1, 5), roles_, teams_, teams_)


def rarely(odd: Any, usual: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([*[usual] * 15, odd])


@st.composite
def scenes(draw: st.DrawFn) -> Facts:
    """A day on which approval is near, and something or other is odd."""
    access = {p.id: Access(p.id, "write", draw(teams_)) for p in PEOPLE}
    for person in draw(st.lists(st.integers(1, 5), max_size=2)):
        access[person] = draw(odd_access_)
        if draw(st.booleans()):
            access[person] = replace(access[person], id=person)
    return replace(
        FACTS,
        voices=tuple(draw(st.lists(voices_, max_size=6))),
        access=access,
        contributors=draw(rarely(frozenset({3}), frozenset())),
        identities=draw(rarely(frozenset({80, 1}), frozenset({80}))),
        valid_from=draw(rarely(at(15), OPENED)),
        is_open=draw(rarely(odd=False, usual=True)),
        draft=draw(rarely(odd=True, usual=False)),
        unreadable=draw(rarely(("reviews",), ())),
    )


sources_ = st.lists(st.sampled_from(KNOWN_POLICIES), min_size=1, max_size=3).map(
    lambda some: under(*some)
)


def approves(facts: Facts, policies: list[Source]) -> bool:
    return judge(facts, policies, NOW).decision is APPROVED


def outsider(person: Person, facts: Facts) -> bool:
    """Said here once more in other words than the rules': no person who may ever decide."""
    access = facts.access.get(person.id)
    return (
        person.kind != "User"
        or person.id in facts.identities | facts.machines | facts.contributors
        or access is None
        or access.id != person.id
        or access.permission not in {"read", "triage", "write", "maintain", "admin"}
    )


def test_the_days_above_are_often_approved() -> None:
    """Or the laws below would say nothing."""
    for policies in (under(TWO), under(BOTH), under(BUTTONS), under(SHORT, FINANCE)):
        found = find(scenes(), lambda facts, p=policies: approves(facts, p), settings=QUICK)
        assert approves(found, policies)


@given(scenes(), sources_)
def test_the_judge_never_raises_and_explains_every_no(facts: Facts, policies: list[Source]) -> None:
    verdict = judge(facts, policies, NOW)
    assert verdict.valid_until <= facts.expires
    assert len(verdict.heard) == len(facts.voices)
    if verdict.decision is not APPROVED:
        assert any(f.weight is not Weight.NOTES for f in verdict.findings)
    assert all(f.because and REASONS[f.reason].remedy for f in verdict.findings)


@given(scenes(), sources_)
def test_nothing_is_approved_without_a_person_for_every_policy(
    facts: Facts, policies: list[Source]
) -> None:
    verdict = judge(facts, policies, NOW)
    if verdict.decision is APPROVED:
        for source in policies:
            assert source.policy is not None
            counting = {h.voice.person.id for h in verdict.heard if h.counts}
            ours = {
                v.person.id
                for v in facts.voices
                if v.stance is Stance.APPROVE and v.standing is Standing.STANDS and not v.via_app
                if v.at >= facts.valid_from and not outsider(v.person, facts)
            }
            [rule] = source.policy.rules
            assert len(ours) >= sum(group.approvals for group in rule.require)
            assert counting <= ours


@given(scenes(), sources_, voices_)
def test_only_an_eligible_yes_can_turn_a_no_into_a_yes(
    facts: Facts, policies: list[Source], voice: Voice
) -> None:
    more = replace(facts, voices=(*facts.voices, voice))
    if not approves(facts, policies) and approves(more, policies):
        assert voice.stance is Stance.APPROVE
        assert voice.standing is Standing.STANDS
        assert not voice.via_app
        assert voice.at >= facts.valid_from
        assert not outsider(voice.person, facts)


@given(scenes(), sources_, st.data())
def test_taking_an_approval_away_approves_nothing(
    facts: Facts, policies: list[Source], data: st.DataObject
) -> None:
    standing = {Standing.STANDS, Standing.UNDELIVERED}
    yeses = [v for v in facts.voices if v.stance is Stance.APPROVE and v.standing in standing]
    if not yeses:
        return
    gone = data.draw(st.sampled_from(yeses))
    how = data.draw(st.sampled_from([None, Standing.GONE, Standing.DISMISSED, Standing.UNREAD]))
    rest = [v for v in facts.voices if v is not gone]
    taken = replace(facts, voices=(*rest, *([replace(gone, standing=how)] if how else [])))
    if approves(taken, policies):
        assert approves(facts, policies)


@given(scenes(), sources_)
def test_a_yes_stays_one_for_as_long_as_it_says(facts: Facts, policies: list[Source]) -> None:
    verdict = judge(facts, policies, NOW)
    if verdict.decision is APPROVED:
        last = verdict.valid_until - timedelta(microseconds=1)
        assert judge(facts, policies, last).decision is APPROVED
        assert verdict.valid_until > NOW


@given(scenes(), sources_, st.data())
def test_the_order_of_hearing_is_irrelevant(
    facts: Facts, policies: list[Source], data: st.DataObject
) -> None:
    shuffled = replace(facts, voices=tuple(data.draw(st.permutations(facts.voices))))
    one, other = judge(facts, policies, NOW), judge(shuffled, policies, NOW)
    assert (one.decision, one.valid_until) == (other.decision, other.valid_until)
    assert reasons(one) == reasons(other)


@given(scenes(), sources_)
def test_the_case_of_a_login_is_irrelevant(facts: Facts, policies: list[Source]) -> None:
    loud = tuple(
        replace(v, person=replace(v.person, login=v.person.login.upper())) for v in facts.voices
    )
    other = replace(facts, voices=loud)
    assert judge(facts, policies, NOW).decision is judge(other, policies, NOW).decision


@given(scenes(), sources_, sources_)
def test_a_further_policy_never_loosens(
    facts: Facts, policies: list[Source], more: list[Source]
) -> None:
    if approves(facts, [*policies, *more]):
        assert approves(facts, policies)


@given(scenes(), sources_)
def test_on_somebodys_page_no_review_changes_the_decision(
    facts: Facts, policies: list[Source]
) -> None:
    there_ = replace(facts, form=Form.CHECK_RUN, announced=1)
    about_it = tuple(v for v in facts.voices if v.surface is not Surface.REVIEW)
    alone = judge(replace(there_, voices=about_it), policies, NOW)
    assert judge(there_, policies, NOW).decision is alone.decision


@given(scenes(), sources_)
def test_on_somebodys_page_only_what_names_the_plan_counts(
    facts: Facts, policies: list[Source]
) -> None:
    verdict = judge(replace(facts, form=Form.CHECK_RUN, announced=1), policies, NOW)
    for voice in (h.voice for h in verdict.heard if h.counts):
        named_ = voice.surface is Surface.COMMENT and voice.digest and voice.order > 1
        assert named_ or voice.surface is Surface.BUTTON
