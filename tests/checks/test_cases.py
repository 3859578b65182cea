from typing import Any

import pytest

from checks.cases import DIGITS, load_cases, run
from checks.policy import PolicyError, load
from checks.reasons import Reason

POLICY = load("""\
version: 1
rules:
  - tools: ["billing.*"]
    require: [{from: [team:acme/finance]}]
    surfaces: [review, comment]
    approval_valid: 30m
    expires: 2h
freeze:
  - {from: 2026-12-24T00:00Z, until: 2026-12-27T00:00Z, reason: holidays}
""")
ANN = "people: {ann: {permission: write, teams: [acme/finance]}}"
PEERS = (
    "people: {ann: {permission: write, teams: [acme/finance]},"
    " bob: {permission: write, teams: [acme/finance]}, cid: write}"
)
BLOCKED = (
    "said: [{{who: bob, review: approve, after: 50m}},"
    " {{who: ann, review: request-changes, after: 51m, dismissed_by: {}}}]"
)
YES = "said: [{who: ann, review: approve, after: 50m}]"


def one(*lines: str, expect: str = "waiting") -> str:
    body = "".join(f"    {line}\n" for line in (*lines, f"expect: {expect}"))
    return f"version: 1\ncases:\n  - case: the one\n    tool: billing.refund\n{body}"


def judged(*lines: str) -> tuple[str, set[str]]:
    [case] = load_cases(one(*lines, "reasons: []"))
    result = run(case, POLICY)
    return result.verdict.decision.value, set(result.surplus)


@pytest.mark.parametrize(
    ("lines", "decision", "codes"),
    [
        pytest.param([ANN, YES], "approved", set(), id="a-member-approves"),
        pytest.param(
            ["people: {ann: write}", YES], "waiting", {"approvals_missing", "not_in_group"},
            id="a-writer-who-is-no-member",
        ),
        pytest.param(
            [ANN, "said: [{who: ANN, comment: /approve, after: 50m}]"], "approved", set(),
            id="a-login-in-another-case",
        ),
        pytest.param(
            [ANN, "said: [{who: ann, press: approve, after: 50m}]"], "waiting",
            {"approvals_missing", "surface_not_allowed"}, id="a-button-that-is-not-accepted",
        ),
        pytest.param(
            [ANN, "said: [{who: ann, comment: looks fine}]"], "waiting", {"approvals_missing"},
            id="talk",
        ),
        pytest.param(
            [ANN, "said: [{who: ann, review: approve}]"], "waiting",
            {"approvals_missing", "approval_lapsed"}, id="an-approval-of-an-hour-ago",
        ),
        pytest.param([ANN, YES, "judged_after: 2h"], "ended",
            {"expired", "approvals_missing", "approval_lapsed"}, id="after-the-rules-own-end"),
        pytest.param([ANN, YES, "opened: 2026-12-24T09:00Z"], "waiting", {"frozen"}, id="frozen"),
        pytest.param([ANN, YES, "works_for: [ann]"], "waiting",
            {"approvals_missing", "requester"}, id="the-agents-person"),
        pytest.param([ANN, YES, "machines: [ANN]"], "waiting",
            {"approvals_missing", "machine_account"}, id="a-machine"),
        pytest.param([ANN, YES, "pushed: [ann]"], "waiting",
            {"approvals_missing", "contributor"}, id="who-pushed"),
        pytest.param(["people: {ann: {permission: write, kind: Bot}}", YES], "waiting",
            {"approvals_missing", "not_a_person"}, id="a-bot"),
        pytest.param(["people: {ann: none}", YES], "waiting",
            {"approvals_missing", "permission_too_low"}, id="no-access"),
        pytest.param([ANN, YES, "head_moved: true"], "ended", {"head_moved"}, id="a-push"),
        pytest.param(
            [PEERS, "said: [{who: ann, review: approve, after: 50m, dismissed_by: cid}]"],
            "waiting", {"approvals_missing", "dismissed"}, id="an-approval-dismissed"),
        pytest.param(
            [PEERS, BLOCKED.format("bob")], "approved", set(), id="a-block-lifted-by-a-peer"),
        pytest.param(
            [PEERS, BLOCKED.format("cid")], "waiting", {"blocked"}, id="lifted-by-no-peer"),
    ],
)  # fmt: skip
def test_a_case_is_judged(lines: list[str], decision: str, codes: set[str]) -> None:
    assert judged(*lines) == (decision, codes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("", "Input should be a valid dictionary", id="nothing"),
        pytest.param("version: 1\ncases: []", "cases", id="no-cases"),
        pytest.param("version: 2\ncases: [{}]", "version", id="another-version"),
        pytest.param("version: true\ncases: [{}]", "version", id="a-version-that-is-none"),
        pytest.param("version: 1\ncases: [5]", "case 1: ", id="a-case-that-is-none"),
        pytest.param("version: 1\ncases: [{case: x}]", "case 'x': tool: ", id="no-tool"),
        pytest.param("version: 1\ncases: [{case: [x]}]", "case 1: case: ", id="no-name"),
        pytest.param(one("perple: {}"), "case 'the one': perple: ", id="unknown-key"),
        pytest.param(one(ANN, ANN), "found duplicate key", id="key-twice"),
        pytest.param(one(expect="maybe"), "case 'the one': expect: ", id="no-decision"),
        pytest.param(one("reasons: [tired]"), "case 'the one': reasons.0: ", id="no-reason"),
        pytest.param(one(YES), "say what ann may do", id="who-is-that"),
        pytest.param(
            one(ANN, "said: [{who: ann, review: request-changes, dismissed_by: bob}]"),
            "say what bob may do", id="who-dismisses",
        ),
        pytest.param(
            one("people: {ann: write, Ann: read}"), "a login stands there twice", id="login-twice"
        ),
        pytest.param(
            one(ANN, "said: [{who: ann, review: approve, press: approve}]"),
            "said.0: say one of review, comment and press", id="two-things-at-once",
        ),
        pytest.param(one(ANN, "said: [{who: ann}]"), "say one of review", id="nothing-said"),
        pytest.param(
            one(ANN, "said: [{who: ann, press: approve, dismissed_by: ann}]"),
            "only a review can be dismissed", id="a-dismissed-button",
        ),
        pytest.param(one("people: {ann: owner}"), "people.ann.permission: ", id="no-permission"),
        pytest.param(one("tool: other.tool"), "found duplicate key", id="tool-twice"),
        pytest.param(
            "version: 1\ncases:\n"
            + "  - {case: x, tool: a.b, expect: waiting}\n" * 2, "two cases have this name",
            id="name-twice",
        ),
        pytest.param("version: 1\ncases: &a [*a]", "line 2: anchors", id="anchors"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_case_is_an_error_that_names_it(text: str, told: str) -> None:
    with pytest.raises(PolicyError) as error:
        load_cases(text)
    assert told in str(error.value)


def test_a_command_that_is_no_yes_or_no_names_its_case() -> None:
    [case] = load_cases(one(ANN, "said: [{who: ann, comment: /replan}]"))
    with pytest.raises(PolicyError, match="case 'the one': /replan is no yes or no"):
        run(case, POLICY)


def lines(*lines: str, **more: Any) -> list[str]:
    [case] = load_cases(one(*lines, **more))
    return list(run(case, POLICY).lines())


def test_what_differs_is_told_line_by_line() -> None:
    assert lines(ANN, YES, "reasons: [frozen]") == [
        "expected waiting, but it is approved",
        "- frozen: expected, but not given",
    ]
    assert lines("reasons: []") == [
        "+ approvals_missing: given, but not expected (1 person of acme/finance still needed)"
    ]


def test_without_reasons_the_decision_alone_is_held() -> None:
    assert lines() == []
    assert lines(expect="approved") == ["expected approved, but it is waiting"]


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_can_be_expected(reason: Reason) -> None:
    [case] = load_cases(one(f"reasons: [{reason}]"))
    assert case.reasons == (reason,)


def test_a_surplus_code_of_a_stance_is_named() -> None:
    [case] = load_cases(one(ANN, YES, "works_for: [ann]", "reasons: [approvals_missing]"))
    [line] = run(case, POLICY).lines()
    assert line == (
        "+ requester: given, but not expected (The agent that asks works for this person.)"
    )


def test_a_fault_of_the_file_as_a_whole_names_no_place() -> None:
    with pytest.raises(PolicyError) as fault:
        load_cases("version: 2\ncases: [{}]")
    assert str(fault.value).startswith("version: ")


def test_who_asked_for_it_may_be_somebody_nobody_else_speaks_of() -> None:
    [case] = load_cases(one(ANN, YES, "asked_by: zoe", "reasons: []"))
    assert run(case, POLICY).verdict.decision.value == "approved"


def test_a_tool_without_a_rule_waits_for_a_day_and_nobody_can_approve() -> None:
    text = one(ANN, YES, "judged_after: 23h", "reasons: [no_rule]").replace("billing.", "crm.")
    [case] = load_cases(text)
    assert run(case, POLICY).passed


NAMED = load("""\
version: 1
rules:
  - tools: ["billing.*"]
    requesters: [agent:refund-bot, user:boss]
    require: [{from: [user:ann]}]
""")
HERE = "people: {ann: write}"
SAYS = "said: [{who: ann, review: approve}]"
TIED = "form: check_run"


@pytest.mark.parametrize(
    ("lines", "decision", "codes"),
    [
        pytest.param(["agent: refund-bot", SAYS], "approved", set(), id="an-agent-that-may-ask"),
        pytest.param(["works_for: [Boss]", SAYS], "approved", set(), id="whoever-works-for-boss"),
        pytest.param([SAYS], "waiting", {"requester_not_allowed"}, id="another-agent"),
        pytest.param(
            ["works_for: [boss]", "taken_over: [boss]", SAYS], "waiting",
            {"requester_not_allowed"}, id="boss-was-somebody-else"),
        pytest.param(
            ["agent: refund-bot", "taken_over: [ANN]", SAYS], "waiting",
            {"approvals_missing", "identity_changed"}, id="a-login-taken-over"),
        pytest.param(
            ["agent: refund-bot", "nobody: [ann]", SAYS], "waiting",
            {"approvals_missing", "identity_changed", "no_such_user"}, id="a-login-of-nobody"),
        pytest.param(
            ["agent: refund-bot", "asked_by: ann", SAYS], "waiting",
            {"approvals_missing", "asked_for_it"}, id="who-asked-for-it"),
        pytest.param(
            ["agent: refund-bot", TIED, SAYS], "waiting",
            {"approvals_missing", "review_is_about_the_code"}, id="a-review-of-the-code"),
        pytest.param(
            ["agent: refund-bot", TIED, "said: [{who: ann, comment: /approve}]"], "waiting",
            {"approvals_missing", "digest_required"}, id="a-comment-that-names-no-plan"),
        pytest.param(
            ["agent: refund-bot", TIED, f"said: [{{who: ann, comment: /approve {DIGITS}}}]"],
            "approved", set(), id="a-comment-that-names-the-plan"),
        pytest.param(
            ["agent: refund-bot", TIED, "said: [{who: ann, press: approve}]"], "approved", set(),
            id="a-button-there"),
    ],
)  # fmt: skip
def test_who_asks_who_is_meant_and_where_it_is_shown(
    lines: list[str], decision: str, codes: set[str]
) -> None:
    [case] = load_cases(one(HERE, *lines, "reasons: []"))
    result = run(case, NAMED)
    assert (result.verdict.decision.value, set(result.surplus)) == (decision, codes)
