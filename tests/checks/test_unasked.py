"""What may start without asking anybody: light, in time, not stopped, not frozen. Nothing else."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from checks.facts import Facts, Unasked
from checks.policy import Policy, Source, load
from checks.reasons import Reason
from checks.unasked import judge_unasked
from checks.verdict import Decision
from tests.checks.scene import FACTS, NOW, PLAIN, at, policy

OTHERS = "version: 1\nrules: [{tools: [x.y], require: [{approvals: 1}]}]"
LIGHT = replace(FACTS, voices=())
APPROVED, WAITING = Decision.APPROVED, Decision.WAITING
DOUBTFUL, ENDED = Decision.DOUBTFUL, Decision.ENDED


def frozen(start: str, end: str) -> Policy:
    return policy(
        "require: [{approvals: 1}]",
        freeze=f"freeze:\n  - {{from: {start}, until: {end}, reason: holidays}}\n",
    )


def light(**change: Any) -> Facts:
    return replace(LIGHT, **change)


def said(**change: str) -> Facts:
    return light(unasked=Unasked(**change))


CASES = [
    pytest.param(LIGHT, APPROVED, None, id="a light write needs nobody"),
    pytest.param(light(effect="destructive"), ENDED, Reason.TOO_GRAVE, id="too_grave: it destroys"),
    pytest.param(light(effect="read"), ENDED, Reason.TOO_GRAVE, id="too_grave: all but a write"),
    *(
        pytest.param(
            light(touches=frozenset({what})), ENDED, Reason.TOO_GRAVE, id=f"too_grave: {what}"
        )
        for what in ("spend", "contact", "start", "delete")
    ),
    pytest.param(light(expires=NOW), ENDED, Reason.EXPIRED, id="expired: to the instant"),
    pytest.param(light(halted="stop"), WAITING, Reason.HALTED, id="halted: by the operator"),
    pytest.param(
        light(skew=timedelta(seconds=31)),
        DOUBTFUL,
        Reason.CLOCK_SKEW,
        id="clock_skew: a wrong clock",
    ),
    pytest.param(
        light(unreadable=("the time",)),
        DOUBTFUL,
        Reason.UNREADABLE,
        id="unreadable: a silent GitHub",
    ),
    pytest.param(
        said(mode="announce", declared="approve"),
        ENDED,
        Reason.MODE_CHANGED,
        id="mode_changed: people are asked now",
    ),
    pytest.param(
        said(mode="confirm", declared=""),
        ENDED,
        Reason.MODE_CHANGED,
        id="mode_changed: others decide now",
    ),
    pytest.param(
        said(mode="announce", declared="announce", cost="100 EUR"),
        ENDED,
        Reason.COSTS,
        id="costs: and is shown only afterwards",
    ),
    pytest.param(
        said(mode="confirm", declared="confirm", cost="100 EUR"),
        APPROVED,
        None,
        id="a cost that the preview shows",
    ),
    pytest.param(said(undone="p_2"), ENDED, Reason.UNDONE_BEFORE, id="undone_before: by a person"),
    pytest.param(said(unsettled="p_2"), WAITING, Reason.UNSETTLED, id="unsettled: by nobody yet"),
]


@pytest.mark.parametrize(("facts", "decision", "reason"), CASES)
def test_what_may_start_unasked(facts: Facts, decision: Decision, reason: Reason | None) -> None:
    verdict = judge_unasked(facts, [Source("current", PLAIN)], NOW)
    assert verdict.decision is decision
    assert [f.reason for f in verdict.findings] == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("source", "decision"),
    [
        pytest.param(
            Source("current", frozen("2026-12-01T09:00Z", "2026-12-02T00:00Z")), WAITING,
            id="inside-a-freeze",
        ),
        pytest.param(
            Source("current", frozen("2026-12-02T00:00Z", "2026-12-03T00:00Z")), APPROVED,
            id="before-a-freeze",
        ),
        pytest.param(Source("current", None, "it is missing"), DOUBTFUL, id="no-policy-to-read"),
        pytest.param(
            Source("current", load(OTHERS)), APPROVED, id="no-rule-for-it-is-needed"
        ),
    ],
)  # fmt: skip
def test_the_policy_of_now_holds_for_what_asks_nobody(source: Source, decision: Decision) -> None:
    assert judge_unasked(LIGHT, [source], NOW).decision is decision


@pytest.mark.parametrize(
    ("facts", "because"),
    [
        pytest.param(
            light(effect="destructive"), "its effect is 'destructive', not 'write'", id="effect"
        ),
        pytest.param(light(touches=frozenset({"spend"})), "it touches 'spend'", id="touches"),
        pytest.param(
            said(mode="announce", declared="approve"),
            "it was planned in mode announce, and its operator has changed that to approve",
            id="another-mode",
        ),
        pytest.param(
            said(mode="confirm", declared=""),
            "it was planned in mode confirm, and its operator has changed that so that this is for"
            " others to decide",
            id="other-people",
        ),
        pytest.param(
            said(mode="announce", declared="announce", cost="100 EUR"),
            "its plan says that it costs 100 EUR",
            id="cost",
        ),
        pytest.param(
            said(undone="p_2"), "a person took exactly this back with p_2", id="undone-before"
        ),
        pytest.param(
            said(unsettled="p_2"),
            "nobody knows what came of a start before: p_2",
            id="unsettled",
        ),
    ],
)
def test_why_it_may_not_is_said_with_what_stands_in_the_way(facts: Facts, because: str) -> None:
    [finding] = judge_unasked(facts, [Source("current", PLAIN)], NOW).findings
    assert finding.because == because


def test_without_any_policy_nothing_starts() -> None:
    verdict = judge_unasked(LIGHT, [], NOW)
    assert verdict.decision is DOUBTFUL
    assert [f.because for f in verdict.findings] == ["there is no policy at all"]


def test_nobody_is_heard_about_what_asks_nobody() -> None:
    assert judge_unasked(LIGHT, [Source("current", PLAIN)], NOW).heard == ()


def test_a_yes_lasts_until_the_next_freeze_or_the_end() -> None:
    coming = Source("current", frozen("2026-12-01T11:00Z", "2026-12-02T00:00Z"))
    assert judge_unasked(LIGHT, [coming], NOW).valid_until == at(120)
    assert judge_unasked(LIGHT, [Source("current", PLAIN)], NOW).valid_until == LIGHT.expires
