"""The verdict on a call that asks nobody, of mode `confirm` or `announce`: whether it may start.

No rule of a policy asks people about it; freezes, stops, expiry and the clock hold for it as well.
What is too grave for that is refused here too, whatever placet.toml said.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from .counting import Matter, Policies, matter_of, valid_until
from .facts import Facts
from .reasons import Finding, Reason
from .rules import (
    Check,
    clocks_agree,
    not_expired,
    not_frozen,
    not_halted,
    policies_readable,
    readable,
)
from .verdict import Verdict, decision

LIGHT: Final = "write"
"""The one effect that may be had without asking people."""
ANNOUNCED: Final = "announce"


def light_enough(matter: Matter) -> Iterator[Finding]:
    """What destroys, spends, contacts, starts or deletes is never done without asking people."""
    facts = matter.facts
    if facts.effect != LIGHT:
        yield Finding(Reason.TOO_GRAVE, f"its effect is {facts.effect!r}, not {LIGHT!r}")
    for touched in sorted(facts.touches):
        yield Finding(Reason.TOO_GRAVE, f"it touches {touched!r}")


def of_the_same_mode(matter: Matter) -> Iterator[Finding]:
    """What was planned in one mode is not done once the operator's file says another one."""
    said = matter.facts.unasked
    if said.declared != said.mode:
        why = f"it was planned in mode {said.mode}, and its operator has changed that"
        now = f"to {said.declared}" if said.declared else "so that this is for others to decide"
        yield Finding(Reason.MODE_CHANGED, f"{why} {now}")


def free_of_charge(matter: Matter) -> Iterator[Finding]:
    """What is shown only afterwards costs nothing; a preview shows the cost before."""
    said = matter.facts.unasked
    if said.mode == ANNOUNCED and said.cost:
        yield Finding(Reason.COSTS, f"its plan says that it costs {said.cost}")


def not_undone(matter: Matter) -> Iterator[Finding]:
    """What a person took back is not done again at once."""
    if undo := matter.facts.unasked.undone:
        yield Finding(Reason.UNDONE_BEFORE, f"a person took exactly this back with {undo}")


def settled_before(matter: Matter) -> Iterator[Finding]:
    """While nobody knows what came of a start, the same call is not started again."""
    if where := matter.facts.unasked.unsettled:
        yield Finding(Reason.UNSETTLED, f"nobody knows what came of a start before: {where}")


UNASKED: tuple[Check, ...] = (
    light_enough,
    of_the_same_mode,
    free_of_charge,
    not_undone,
    not_expired,
    readable,
    clocks_agree,
    policies_readable,
    not_halted,
    settled_before,
    not_frozen,
)


def judge_unasked(facts: Facts, policies: Policies, now: datetime) -> Verdict:
    """The verdict at one moment; `policies` must hold the one in force now, for its freezes."""
    matter = matter_of(facts, policies, now)
    findings = [f for check in UNASKED for f in check(matter)]
    if not policies:
        findings.append(Finding(Reason.POLICY_UNREADABLE, "there is no policy at all"))
    return Verdict(decision(findings), tuple(findings), (), valid_until(matter))
