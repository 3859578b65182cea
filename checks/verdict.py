"""Run every rule over the facts and say approved, waiting, doubtful or ended, with all reasons.

This is the only place that decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .counting import Policies, eligible, matched, valid_until
from .facts import Facts, Stance, Voice
from .reasons import REASONS, Finding, Reason, Weight
from .rules import CHECKS
from .voices import Heard, cuts, discount, discount_by, excluded, ineligible, misaddressed


class Decision(StrEnum):
    """What may happen next; only APPROVED lets a tool run."""

    APPROVED = "approved"
    WAITING = "waiting"
    DOUBTFUL = "doubtful"
    ENDED = "ended"


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
    findings = [f for check in CHECKS for f in check(facts, policies, now)]
    if not policies:
        findings.append(Finding(Reason.POLICY_UNREADABLE, "there is no policy at all"))
    last = cuts(facts)
    heard = tuple(hear(v, facts, policies, now, last) for v in facts.voices)
    findings += [
        Finding(h.reason, REASONS[h.reason].means, who=h.voice.person.login)
        for h in heard
        if h.reason and REASONS[h.reason].weight is Weight.NOTES
    ]
    rules = matched(facts, policies)
    return Verdict(
        decision(findings),
        tuple(findings),
        heard,
        valid_until(facts, policies, now),
        tuple((source.name, place) for source, place, _ in rules),
        next((f.because for f in findings if f.reason is Reason.APPROVALS_MISSING), ""),
    )


def decision(findings: Sequence[Finding]) -> Decision:
    """The heaviest weight decides."""
    weights = {f.weight for f in findings}
    for weight, outcome in (
        (Weight.ENDS, Decision.ENDED),
        (Weight.DOUBTS, Decision.DOUBTFUL),
        (Weight.WAITS, Decision.WAITING),
    ):
        if weight in weights:
            return outcome
    return Decision.APPROVED


def hear(
    voice: Voice, facts: Facts, policies: Policies, now: datetime, last: Mapping[int, datetime]
) -> Heard:
    """Whether one stance counts, by the first policy that says no."""
    if voice.stance is not Stance.APPROVE:
        reason = misaddressed(voice, facts) or excluded(voice.person, facts)
        if reason is None and not eligible(voice.person, facts, policies):
            rules = matched(facts, policies)
            reasons = (ineligible(voice.person, facts, rule) for _, _, rule in rules)
            reason = next((r for r in reasons if r), Reason.NOT_IN_GROUP)
        return Heard(voice, reason)
    reasons = (discount_by(voice, facts, rule, now) for _, _, rule in matched(facts, policies))
    found = discount(voice, facts, last) or next((r for r in reasons if r), None)
    return Heard(voice, found or unruled(facts, policies))


def unruled(facts: Facts, policies: Policies) -> Reason | None:
    """Why nobody's approval can count: a policy is missing or has no rule for the tool."""
    if not policies or any(source.policy is None for source in policies):
        return Reason.POLICY_UNREADABLE
    return None if len(matched(facts, policies)) == len(policies) else Reason.NO_RULE
