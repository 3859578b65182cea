"""Judging a start anew from what its statement says, never from the verdict it came with."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from checks.facts import Form
from checks.reasons import REASONS
from checks.verdict import Decision
from proposals.canonical import JSON
from proposals.evidence import BadEvidence, scene_of
from proposals.receipt import PlanFile

from .report import Finding
from .signed import Said

POLICIES = frozenset({"propose", "current"})
GAP = timedelta(minutes=1)
"""How long after the last moment of a yes its start may have been written down."""


def refusals(start: Said, plan: PlanFile | None) -> Iterator[Finding]:
    """Why this start should never have been, by the people and rules that it records."""
    given = start.predicate.get("approvals")
    approvals = given if isinstance(given, list) else []
    if not approvals:
        yield start.finding("no_approvals", "it started, and nobody's approval is recorded")
        return
    behind = _identities(start, plan)
    theirs = (a for a in approvals if isinstance(a, dict) and a.get("id") in [*behind])
    for login in (a.get("login") for a in theirs):
        why = f"@{login} approved it, and the agent that asked works for @{login}"
        yield start.finding("requester_approved", why)
    yield from _anew(start, behind)


def _anew(start: Said, behind: frozenset[int]) -> Iterator[Finding]:
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
    facts = replace(scene.facts, identities=scene.facts.identities | behind)
    verdict = replace(scene, facts=facts).verdict()
    if verdict.decision is not Decision.APPROVED:
        found = "; ".join(dict.fromkeys(f.because for f in verdict.findings))
        stances = dict.fromkeys(
            f"@{h.voice.person.login}: {REASONS[h.reason].means}"
            for h in verdict.heard
            if h.reason and h.reason.value != "requester"
        )
        why = f"judged anew it is not approved: {' '.join([found, *stances]):.600}"
        yield start.finding("not_approved", why)
    started = _moment(start.text("started"))
    if started is None or not scene.now <= started <= verdict.valid_until + GAP:
        yield start.finding("started_late", "it did not start while it was approved")


def _identities(start: Said, plan: PlanFile | None) -> frozenset[int]:
    """Everyone behind the request, by the start and by the plan that people were shown."""
    shown = plan.statement["predicate"] if plan else None
    lists: list[JSON] = [start.predicate.get("identities")]
    lists += [shown.get("identities")] if isinstance(shown, dict) else []
    return frozenset(
        i for found in lists if isinstance(found, list) for i in found if type(i) is int
    )


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None
