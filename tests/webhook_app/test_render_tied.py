"""What people read on somebody's page: the announcement, the check, the answers."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.facts import Surface
from checks.reasons import Reason
from checks.verdict import Decision, Verdict
from checks.voices import Heard
from proposals.lifecycle import State
from proposals.plan import Place, Planned, Proposal, Target
from tests.reading import alive, read
from tests.webhook_app.test_render import (
    AT,
    HOSTILE,
    NOW,
    PLANS,
    POLICY,
    P,
    drawn,
    few,
    huge,
    planned,
    voice,
)
from webhook_app.render import (
    Links,
    ambiguous,
    announcement,
    check,
    check_name,
    outcome_comment,
    reply,
    unnamed,
)

Golden = Callable[..., None]
LEDGER = Links("https://github.com", "acme/approvals", "placet/ledger")
URL = "https://github.com/acme/shop/pull/12"
PULL = Target(8, "acme/shop", 12, "a" * 40, "main", URL)
COMMIT = Target(8, "acme/shop", 0, "a" * 40)
PLACE = Place("", "main", "a" * 40, 12, URL, 81, NOW, announced=60, home="acme/approvals")
THERE = replace(P, target=PULL, place=PLACE)
BARE = replace(P, target=COMMIT, place=replace(PLACE, number=0, base="", announced=None))
DIGEST = P.plan.digest.removeprefix("sha256:")[:12]
WAITING = Verdict(
    Decision.WAITING,
    (),
    (
        Heard(voice("sam", Surface.REVIEW, 1), Reason.REVIEW_IS_ABOUT_THE_CODE),
        Heard(voice("noor", Surface.COMMENT, 2), Reason.DIGEST_REQUIRED),
    ),
    P.expires,
    (("propose", 1),),
    "1 person of acme/data or @lee still needed",
)
OVER = {
    "closed": {"reason": "closed", "why": "the pull request, or the announcement, is closed"},
    "head-moved": {"reason": "head_moved", "why": "the branch moved"},
    "drifted": {"reason": "drifted", "why": "What would happen now differs."},
}


def ended(name: str) -> Proposal:
    outcome = AT | OVER[name]
    return replace(THERE, state=State.ENDED, reason=OVER[name]["reason"], outcome=outcome)


def test_the_announcement(golden: Golden) -> None:
    golden(announcement(THERE, LEDGER), "there-announcement.md")


@pytest.mark.parametrize(("name", "proposal"), [("pull", THERE), ("commit", BARE)])
def test_the_check(golden: Golden, name: str, proposal: Proposal) -> None:
    golden(drawn(check(proposal, LEDGER, WAITING, NOW)), f"there-check-{name}.md")


@pytest.mark.parametrize("name", OVER)
def test_the_outcome(golden: Golden, name: str) -> None:
    golden(outcome_comment(ended(name), LEDGER), f"there-comment-{name}.md")


def test_the_answers(golden: Golden) -> None:
    other = replace(planned(Planned()), id="p_2", target=PULL, place=PLACE)
    answers = [
        unnamed([THERE, other], "lee", "approve"),
        unnamed([THERE], "lee", "resolve"),
        ambiguous("lee"),
        reply(replace(THERE, state=State.ENDED), "late", who="lee"),
    ]
    golden("\n---\n\n".join(answers), "there-answers.md")


def test_every_command_that_is_offered_there_names_the_plan() -> None:
    undo = replace(
        THERE, state=State.APPLIED, outcome=AT | {"outcome": "applied", "basis": "verified"}
    )
    failed = replace(THERE, state=State.FAILED, outcome=AT | {"outcome": "failed"})
    unknown = replace(THERE, state=State.UNKNOWN, outcome=AT | {"outcome": "unknown"})
    texts = [announcement(THERE, LEDGER), check(THERE, LEDGER, WAITING, NOW).summary]
    texts += [outcome_comment(p, LEDGER) for p in (undo, failed, unknown, *map(ended, OVER))]
    texts.append(reply(failed, "late", who="lee"))
    said = [c for text in texts for c in read(text).codes if c.startswith("/")]
    assert said
    assert [c for c in said if f" {DIGEST}" not in c] == []


def test_a_check_there_is_always_neutral() -> None:
    outcome: dict[str, Any] = AT | {"outcome": "x"}
    states = [replace(THERE, state=state, outcome=outcome) for state in State]
    assert {check(p, LEDGER, None, NOW).conclusion for p in states} == {"neutral"}


def test_each_proposal_has_a_check_of_its_own_name() -> None:
    assert check_name(THERE) != check_name(replace(THERE, id="p_2222222222"))


def test_on_a_bare_commit_no_comment_is_offered() -> None:
    view = check(BARE, LEDGER, None, NOW)
    assert [c for c in read(view.summary).codes if c.startswith("/")] == []
    assert "press *Approve* above" in view.summary


def test_a_plan_that_does_not_fit_gets_no_button_there() -> None:
    proposal = replace(huge(), target=PULL, place=PLACE)
    view = check(proposal, LEDGER, None, NOW)
    assert [b.identifier for b in view.actions] == ["reject", "replan"]
    assert "press *Approve*" not in view.summary + announcement(proposal, LEDGER)
    assert "https://github.com/acme/approvals/blob/placet/ledger/proposals/" in view.text
    assert "in the ledger branch" in view.text


def test_a_policy_of_reviews_alone_leaves_no_way_there() -> None:
    policy = POLICY.replace("expires: 4h", "surfaces: [review]")
    proposal = replace(THERE, policy=policy)
    assert "not possible as it stands" in announcement(proposal, LEDGER)
    view = check(proposal, LEDGER, None, NOW)
    assert [b.identifier for b in view.actions] == ["reject", "replan"]


@few
@given(PLANS, HOSTILE, HOSTILE, HOSTILE)
def test_no_text_of_others_comes_alive_there(
    plan: Planned, said: str, agent: str, summary: str
) -> None:
    proposal = replace(
        planned(plan, said=said, agent=agent, summary=summary), target=PULL, place=PLACE
    )
    view = check(proposal, LEDGER, None, NOW)
    answer = unnamed([proposal], "lee", "approve").replace("@lee", "", 1)
    told = announcement(proposal, LEDGER)
    assert read(told).links == ["https://github.com/acme/shop/runs/81"]
    assert alive(told, "https://github.com/acme/shop/runs/81") == []
    for text in (view.summary, view.text, answer):
        assert alive(text) == []
    assert re.fullmatch(r"placet: [^\n]+ \(p_1f0c\)", check_name(proposal))


@given(st.sampled_from([THERE, BARE]))
def test_the_announcement_never_changes(proposal: Proposal) -> None:
    later = replace(proposal, state=State.APPLIED, outcome={"outcome": "applied"}, evidence_rev=9)
    assert announcement(later, LEDGER) == announcement(proposal, LEDGER)
