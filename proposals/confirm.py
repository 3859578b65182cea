"""Tokens of mode `confirm`: each bound to one preview, good for ten minutes and one use. Pure.

A token proves that a preview was shown, never that a person said yes to it. The store keeps only
its SHA-256; whoever starts a call asks the store, and the store uses the token up in the start.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from .canonical import JSON, digest
from .words import stamp

LIVES = timedelta(minutes=10)
CHANCE = 32
"""Bytes of chance in a token: nobody guesses one."""


class Doubt(StrEnum):
    """Why a token starts nothing; each is told apart, for each has its own remedy."""

    MISSING = "confirm_missing"
    MISMATCH = "confirm_mismatch"
    CONSUMED = "confirm_consumed"
    EXPIRED = "confirm_expired"


@dataclass(frozen=True, slots=True)
class Bound:
    """What a token stands for: this agent, this call (digest of tool and arguments), this plan."""

    agent: str
    call: str
    plan: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A token as the store keeps it: the hex SHA-256 of it, and what it was given out for."""

    token: str
    bound: Bound
    proposal: str
    created: datetime
    expires: datetime
    used: datetime | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A token that starts nothing: the code, and for the agent what happened and what to do."""

    code: Doubt
    message: str
    hint: str


def bind(agent: str, tool: str, arguments: JSON, plan: str) -> Bound:
    """What a token for this call stands for; `plan` is the digest of the plan that was shown."""
    return Bound(agent, digest({"tool": tool, "arguments": arguments}), plan)


def mint(chance: bytes, bound: Bound, proposal: str, now: datetime) -> tuple[str, Confirmation]:
    """Make a token of fresh chance: what the agent gets, and what is kept. ValueError: too few."""
    if len(chance) < CHANCE:
        raise ValueError(f"a token needs {CHANCE} bytes of chance")
    token = "pc_" + chance.hex()
    return token, Confirmation(hashed(token), bound, proposal, now, now + LIVES)


def hashed(token: str) -> str:
    """The hex SHA-256 by which a token is kept and found; any text has one."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def refused(
    token: str | None, kept: Confirmation | None, bound: Bound, now: datetime
) -> Refused | None:
    """Say why this token does not start this call, or None when it does.

    `kept` is what the store has under the token's hash. A token that was given out for anything
    else, or never, tells nothing about itself.
    """
    if not token:
        return _MISSING
    if kept is None or kept.bound != bound:
        return _MISMATCH
    if kept.used is not None:
        return Refused(
            Doubt.CONSUMED,
            f"This token was used at {stamp(kept.used)}; it starts one call only.",
            f"Do not call it again. Ask placet_status what came of {kept.proposal}.",
        )
    if now >= kept.expires:
        return Refused(
            Doubt.EXPIRED,
            f"This token expired at {stamp(kept.expires)}. Nothing was done.",
            "Call it again without a token: that shows a new preview. Then ask the user again.",
        )
    return None


_MISSING = Refused(
    Doubt.MISSING,
    "This call needs a token of its own preview. Nothing was done.",
    "Call it without a token to get the preview, show that to the user, and send its confirm_token"
    " once the user has said yes.",
)
_MISMATCH = Refused(
    Doubt.MISMATCH,
    "This token belongs to no preview of exactly this call. Nothing was done.",
    "Send exactly what was previewed. For anything else call without a token: that shows a new"
    " preview, which the user must see.",
)
