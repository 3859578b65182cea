"""Run every rule over the facts and say approved, waiting, doubtful or ended, with all reasons.

This is the only place that decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .counting import Matter, Policies, Weighed, matter_of, valid_until
from .facts import Facts, Stance
from .reasons import REASONS, Finding, Reason, Weight
from .rules import CHECKS
from .voices import Heard, excluded

_YES = Stance.APPROVE  # members of an enumeration are slow to find


class Decision(StrEnum):
    """What may happen next; only APPROVED lets a tool run."""

    APPROVED = "approved"
    WAITING = "waiting"
    DOUBTFUL = "doubtful"
    ENDED = "ended"


_APPROVED = Decision.APPROVED
_OUTCOMES = (
    (Weight.ENDS, Decision.ENDED),
    (Weight.DOUBTS, Decision.DOUBTFUL),
    (Weight.WAITS, Decision.WAITING),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision as data: every reason, every stance heard, and how long a yes stays one.

    `rules` says which rule of which policy was used; `needed` what the first unmet one asks for.
    """

    decision: Decision
    findings: tuple[Finding, ...]
    heard: tuple[Heard, ...]
    valid_until: datetime
    rules: tuple[tuple[str, int], ...] = ()
    needed: str = ""

    def why(self, weight: Weight) -> Finding | None:
        """The first finding of this weight."""
        return next((f for f in self.findings if f.weight is weight), None)


def judge(facts: Facts, policies: Policies, now: datetime) -> Verdict:
    """The verdict on one proposal at one moment; `policies` must hold at least one source.

    Ended beats doubtful beats waiting beats approved; an approved verdict has no findings but
    notes on the stances that did not count.
    """
    matter = matter_of(facts, policies, now)
    findings = [f for check in CHECKS for f in check(matter)]
    if not policies:
        findings.append(Finding(Reason.POLICY_UNREADABLE, "there is no policy at all"))
    bar = unruled(matter)
    heard = tuple(hear(weighed, matter, bar) for weighed in matter.weighed)
    findings += [
        Finding(h.reason, REASONS[h.reason].means, who=h.voice.person.login)
        for h in heard
        if h.reason and REASONS[h.reason].weight is Weight.NOTES
    ]
    return Verdict(
        decision(findings),
        tuple(findings),
        heard,
        valid_until(matter),
        tuple((source.name, place) for source, place, _ in matter.matched),
        next((f.because for f in findings if f.reason is Reason.APPROVALS_MISSING), ""),
    )


def decision(findings: Sequence[Finding]) -> Decision:
    """The heaviest weight decides."""
    weights = {f.weight for f in findings}
    return next((outcome for weight, outcome in _OUTCOMES if weight in weights), _APPROVED)


def hear(weighed: Weighed, matter: Matter, bar: Reason | None) -> Heard:
    """Whether one stance counts, by the first policy that says no. `bar` is `unruled`."""
    voice, unheard, by = weighed
    if voice.stance is _YES:
        return Heard(voice, unheard or next(filter(None, by), bar))
    reason = unheard or excluded(voice.person, matter.facts)
    if reason is None and not matter.eligible(voice.person):
        reason = next(filter(None, matter.barred(voice.person)), Reason.NOT_IN_GROUP)
    return Heard(voice, reason)


def unruled(matter: Matter) -> Reason | None:
    """Why nobody's approval can count: a policy is missing or has no rule for the tool."""
    policies = matter.policies
    if not policies or any(source.policy is None for source in policies):
        return Reason.POLICY_UNREADABLE
    return None if len(matter.matched) == len(policies) else Reason.NO_RULE
