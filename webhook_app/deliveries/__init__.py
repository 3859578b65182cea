"""What one webhook delivery says, read with small models of our own. Pure: no clock, no I/O.

Only what a decision needs is read, and whatever is not as expected counts as absent: a shape of
GitHub's that we have never seen says nothing, but it can neither be refused nor break anything.
"""

from .evidence import Asked, Dismissed, Gone, Nearly, Said, Touch, Touched, voice
from .payload import NotADelivery
from .routing import (
    account,
    ledger_additions,
    ledger_push,
    policy_push,
    proposal_named,
    read,
    read_owned,
    taken_from_us,
)

__all__ = [
    "Asked",
    "Dismissed",
    "Gone",
    "Nearly",
    "NotADelivery",
    "Said",
    "Touch",
    "Touched",
    "account",
    "ledger_additions",
    "ledger_push",
    "policy_push",
    "proposal_named",
    "read",
    "read_owned",
    "taken_from_us",
    "voice",
]
