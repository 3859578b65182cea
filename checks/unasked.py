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


def light_enough(matter: Matter) -> Iterator[Finding]:
    """What destroys, spends, contacts, starts or deletes is never done without asking people."""
    facts = matter.facts
    if facts.effect != LIGHT:
        yield Finding(Reason.TOO_GRAVE, f"its effect is {facts.effect!r}, not {LIGHT!r}")
    for touched in sorted(facts.touches):
        yield Finding(Reason.TOO_GRAVE, f"it touches {touched!r}")


UNASKED: tuple[Check, ...] = (
    light_enough,
    not_expired,
    readable,
    clocks_agree,
    policies_readable,
    not_halted,
    not_frozen,
)


def judge_unasked(facts: Facts, policies: Policies, now: datetime) -> Verdict:
    """The verdict at one moment; `policies` must hold the one in force now, for its freezes."""
    matter = matter_of(facts, policies, now)
    findings = [f for check in UNASKED for f in check(matter)]
    if not policies:
        findings.append(Finding(Reason.POLICY_UNREADABLE, "there is no policy at all"))
    return Verdict(decision(findings), tuple(findings), (), valid_until(matter))
