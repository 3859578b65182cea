"""A start that asked nobody is judged anew from its own statement; nothing grave gets by."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.unasked import judge_unasked
from checks.verdict import Decision
from proposals.audit import Keys, Report, audit
from proposals.confirm import bind, mint
from proposals.evidence import BadEvidence, stamp
from proposals.flow.restoring import proposal_of
from proposals.flow.statements import end_of, start_unasked
from proposals.lifecycle import State
from proposals.plan import Planned, Proposal, pin
from proposals.unasked import evidence_of_unasked, unasked_of
from tests.books import NOW, SIGNER, SOURCES, Book, Said, proposal
from tests.checks.scene import FACTS

APPROVED = Decision.APPROVED
CURRENT = SOURCES[1:]
Object = dict[str, Any]


def confirmed(n: int, **tool: Any) -> Proposal:
    """Proposal number n, as one of mode `confirm`."""
    made = proposal(n)
    identity = {**made.plan.plan["tool"], "undo": False, **tool}  # type: ignore[dict-item]
    pinned = pin(identity, {"n": n}, Planned([{"what": "v", "before": 1, "after": 1 + n}]))
    return replace(
        made, mode="confirm", place=None, pinned=pinned, expires=NOW + timedelta(minutes=5)
    )


def start_of(of: Proposal) -> Object:
    bound = bind(of.agent, of.tool, of.arguments, of.plan.digest)
    token = mint(of.id.encode().ljust(32), bound, of.id, NOW - timedelta(minutes=5))[1]
    facts = replace(FACTS, voices=(), expires=of.expires)
    verdict = judge_unasked(facts, CURRENT, NOW)
    return start_unasked(of, evidence_of_unasked(CURRENT, verdict, NOW, token), NOW)


def ran(made: Book, of: Proposal) -> Object:
    said = start_of(of)
    made.said.append(Said(of, "start", said))
    outcome = {"outcome": "applied", "basis": "verified", "at": stamp(NOW), "approved_by": []}
    made.said.append(Said(of, "end", end_of(of, outcome)))
    return said


def audited(made: Book) -> Report:
    ledger = made.ledger()
    return audit(ledger, Keys.of([SIGNER.keyid], [], ledger.files))


def test_a_confirmed_call_is_clean_and_the_table_says_who_did_not_say_yes() -> None:
    made = Book()
    ran(made, confirmed(1))
    ran(made, confirmed(2))
    report = audited(made)
    assert (report.findings, report.notes) == ((), ())
    assert report.rows[0].approved_by == ("nobody: cleanup-bot confirmed its own preview",)


def put(*path: str, to: Any) -> Callable[[Object], None]:
    def change(start: Object) -> None:
        inside = start
        for step in path[:-1]:
            inside[step] = dict(inside[step])
            inside = inside[step]
        inside[path[-1]] = to

    return change


LATER, EARLIER = stamp(NOW + timedelta(hours=1)), stamp(NOW - timedelta(hours=1))
FREEZE = [{"from": "2026-11-30T00:00Z", "until": "2026-12-01T00:00Z", "reason": "a holiday"}]


def freeze(start: Object) -> None:
    start["policies"] = [{**start["policies"][0], "freeze": FREEZE}]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(put("mode", to="approve"), "no_approvals", id="a-mode-that-asks-people"),
        pytest.param(put("mode", to="yolo"), "no_approvals", id="an-unheard-of-mode-asks-people"),
        pytest.param(put("approvals", to=[{}]), "other_mode", id="approvals-where-nobody-is-asked"),
        pytest.param(put("confirmed", to=None), "no_token", id="no-token"),
        pytest.param(put("confirmed", "agent", to="eve"), "no_token", id="the-token-of-another"),
        pytest.param(
            put("confirmed", "plan", to="sha256:" + "0" * 64), "no_token", id="of-another-plan"
        ),
        pytest.param(put("confirmed", "expires", to=EARLIER), "started_late", id="a-dead-token"),
        pytest.param(put("confirmed", "expires", to=LATER), "started_late", id="a-long-lived-one"),
        pytest.param(put("started", to=LATER), "started_late", id="started-too-late"),
        pytest.param(put("policies", to=[]), "no_evidence", id="no-policy-at-all"),
        pytest.param(freeze, "not_approved", id="frozen"),
        pytest.param(
            lambda start: start["policies"][0].update(policy="propose"), "no_policy",
            id="an-old-policy",
        ),
    ],
)  # fmt: skip
def test_a_start_that_should_not_have_been_is_found(
    change: Callable[[Object], None], code: str
) -> None:
    made = Book()
    change(ran(made, confirmed(1)))
    assert code in {finding.code for finding in audited(made).findings}


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param({"touches": ["spend"]}, id="it-spends"),
        pytest.param({"touches": ["delete", "start"]}, id="it-deletes-and-starts"),
        pytest.param({"effect": "destructive"}, id="it-destroys"),
    ],
)
def test_what_is_grave_is_never_clean_without_approvals(tool: Object) -> None:
    made = Book()
    ran(made, confirmed(1, **tool))
    assert {finding.code for finding in audited(made).findings} == {"not_approved"}


def test_an_announced_start_that_costs_something_is_never_clean() -> None:
    cost: Object = {"amount": 100, "unit": "EUR"}
    identity: Any = confirmed(1).plan.plan["tool"]
    pinned = pin(identity, {"n": 1}, Planned([{"what": "v", "before": 1, "after": 2}], cost=cost))
    of = replace(confirmed(1), mode="announce", pinned=pinned)
    assert unasked_of(start_of(of)).verdict().decision is Decision.ENDED
    assert unasked_of(start_of(replace(of, mode="confirm"))).verdict().decision is APPROVED


def test_one_token_for_two_starts_is_found() -> None:
    made = Book()
    first, second = ran(made, confirmed(1)), ran(made, confirmed(2))
    second["confirmed"] = {**second["confirmed"], "token": first["confirmed"]["token"]}
    [found] = audited(made).findings
    assert (found.code, found.proposal) == ("token_twice", confirmed(2).id)


def test_a_plan_that_people_were_to_approve_is_not_confirmed_by_an_agent() -> None:
    made = Book()
    asked = replace(confirmed(1), mode="approve", place=proposal(1).place)
    ran(made, confirmed(1))
    made.plans[asked.id] = asked
    assert "other_mode" in {finding.code for finding in audited(made).findings}


def test_a_lost_store_learns_of_it_from_its_start_alone() -> None:
    said = {**start_of(confirmed(1)), "seq": 1, "prev": None}
    kept = proposal_of(said, None)
    assert kept is not None
    assert (kept.mode, kept.place, kept.state, kept.nonce) == (
        "confirm",
        None,
        State.UNKNOWN,
        confirmed(1).nonce,
    )


def announced(n: int, *, undoes: str | None = None, back: bool = False) -> Proposal:
    """Proposal number n, done at once; or one that puts number 1 back."""
    was, now = (2, 1) if back else (1, 2)
    made = confirmed(n, undo=undoes is None, **({"verb": "undo"} if undoes else {}))
    effects: list[Object] = [{"what": "v", "before": was, "after": now}]
    pinned = pin(made.plan.plan["tool"], {"n": n}, Planned(effects))  # type: ignore[arg-type]
    return replace(made, mode="announce", pinned=pinned, undoes=undoes)


def test_what_was_done_at_once_and_put_back_at_once_is_clean() -> None:
    made = Book()
    first = announced(1)
    ran(made, first)
    ran(made, announced(2, undoes=first.id, back=True))
    report = audited(made)
    assert report.findings == ()
    assert report.rows[0].approved_by == ("nobody: done at once, announced",)


def test_an_undo_that_restores_something_else_needs_approvals() -> None:
    made = Book()
    first = announced(1)
    ran(made, first)
    ran(made, announced(2, undoes=first.id, back=False))
    assert {finding.code for finding in audited(made).findings} == {"not_approved"}


def test_an_undo_of_what_people_approved_needs_approvals() -> None:
    made = Book()
    made.ran(proposal(1))
    ran(made, announced(2, undoes=proposal(1).id, back=True))
    assert {finding.code for finding in audited(made).findings} == {"not_approved"}


def test_what_cannot_be_undone_is_not_done_at_once() -> None:
    made = Book()
    of = replace(confirmed(1, undo=False), mode="announce")
    ran(made, of)
    assert {finding.code for finding in audited(made).findings} == {"not_approved"}


@given(st.dictionaries(st.sampled_from(sorted(start_of(confirmed(1)))), st.none() | st.integers()))
def test_nonsense_is_refused_in_words_or_judged(change: Object) -> None:
    with suppress(BadEvidence):
        unasked_of({**start_of(confirmed(1)), **change}).verdict()
