"""Judging a start anew from what its statement says, never from the verdict it came with."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from checks.facts import Form
from checks.reasons import REASONS, Reason
from checks.verdict import Decision
from proposals.canonical import JSON
from proposals.evidence import BadEvidence, moment, scene_of
from proposals.receipt import PlanFile

from .report import Finding
from .signed import Said
from .unasked import asks_nobody, unasked

POLICIES = frozenset({"propose", "current"})
GAP = timedelta(minutes=1)
"""How long after the last moment of a yes its start may have been written down."""


def refusals(start: Said, plan: PlanFile | None) -> Iterator[Finding]:
    """Why this start should never have been, by the people and rules that it records."""
    if asks_nobody(start):
        yield from unasked(start, plan)
        return
    given = start.predicate.get("approvals")
    approvals = given if isinstance(given, list) else []
    if not approvals:
        yield start.finding("no_approvals", "it started, and nobody's approval is recorded")
        return
    behind = _identities(start, plan)
    for login in _among(approvals, behind):
        why = f"@{login} approved it, and the agent that asked works for @{login}"
        yield start.finding("requester_approved", why)
    askers = _askers(start, plan)
    for login in _among(approvals, askers):
        yield start.finding("asker_approved", f"@{login} approved it, and @{login} asked for it")
    yield from _anew(start, behind, askers)


def _among(approvals: list[JSON], ids: frozenset[int]) -> Iterator[JSON]:
    """The logins of those who approved and have one of these ids; both may be nonsense."""
    said = (a for a in approvals if isinstance(a, dict))
    return (a.get("login") for a in said if a.get("id") in [*ids])


def _anew(start: Said, behind: frozenset[int], askers: frozenset[int]) -> Iterator[Finding]:
    try:
        scene = scene_of(start.predicate)
    except BadEvidence as bad:
        why = f"it does not say whole what it was judged by ({bad})"
        yield start.finding("no_evidence", why)
        return
    if (scene.facts.form is Form.CHECK_RUN) != bool(start.predicate.get("target")):
        yield start.finding("no_evidence", "it does not say on whose page it was approved")
    missing = POLICIES - {s.name for s in scene.sources}
    if missing:
        why = f"it was not judged by every policy: {' and '.join(sorted(missing))} is not recorded"
        yield start.finding("no_policy", why)
    facts = replace(
        scene.facts,
        identities=scene.facts.identities | behind,
        askers=scene.facts.askers | askers,
    )
    verdict = replace(scene, facts=facts).verdict()
    if verdict.decision is not Decision.APPROVED:
        found = "; ".join(dict.fromkeys(f.because for f in verdict.findings))
        stances = dict.fromkeys(
            f"@{h.voice.person.login}: {REASONS[h.reason].means}"
            for h in verdict.heard
            if h.reason and h.reason not in (Reason.REQUESTER, Reason.ASKED_FOR_IT)
        )
        why = f"judged anew it is not approved: {' '.join([found, *stances]):.600}"
        yield start.finding("not_approved", why)
    started = moment(start.text("started"))
    if started is None or not scene.now <= started <= verdict.valid_until + GAP:
        yield start.finding("started_late", "it did not start while it was approved")


def _identities(start: Said, plan: PlanFile | None) -> frozenset[int]:
    """Everyone behind the request, by the start and by the plan that people were shown."""
    lists = [p.get("identities") for p in _predicates(start, plan)]
    return frozenset(
        i for found in lists if isinstance(found, list) for i in found if type(i) is int
    )


def _askers(start: Said, plan: PlanFile | None) -> frozenset[int]:
    """Who asked in the agent's stead, by the same two."""
    asked = [p.get("asked_by") for p in _predicates(start, plan)]
    ids = (one.get("id") for one in asked if isinstance(one, dict))
    return frozenset(i for i in ids if type(i) is int)


def _predicates(start: Said, plan: PlanFile | None) -> Iterator[dict[str, JSON]]:
    """What the start says, and what the plan's file said to people before it."""
    yield start.predicate
    shown = plan.statement["predicate"] if plan else None
    if isinstance(shown, dict):
        yield shown
