"""Confirming: a call of mode `confirm` shows its preview first, and is started by its token.

The token proves that exactly this was previewed for this agent. It proves nobody's consent.
"""

import secrets
from dataclasses import replace

from proposals.confirm import CHANCE, Bound, Doubt, bind, hashed, mint, refused
from proposals.confirm import Refused as Doubted
from proposals.lifecycle import State
from proposals.plan import Proposal

from .ground import WAITING, Ports, Refusal
from .unasked import start_now

_CONFLICTS = frozenset({Doubt.CONSUMED, Doubt.EXPIRED})


def token_for(ports: Ports, proposal: Proposal) -> str | None:
    """A fresh token for a preview that waits for one; it lives as long as the preview does."""
    now = ports.now()
    waits = proposal.mode == "confirm" and proposal.state in WAITING
    if not waits or now >= proposal.expires:
        return None
    chance = secrets.token_bytes(CHANCE)
    token, kept = mint(chance, _bound(proposal), proposal.id, now)
    ports.store.keep_confirmation(replace(kept, expires=min(kept.expires, proposal.expires)))
    return token


async def confirmed(ports: Ports, fresh: Proposal, token: str) -> Proposal:
    """Start what this token was shown with, when `fresh` is that very call; Refusal says why not.

    It comes back applied, failed or unknown; ended when it has changed; or still waiting.
    """
    kept = ports.store.confirmation(hashed(token)) if token else None
    shown = ports.store.proposal(kept.proposal) if kept else None
    plan = shown.pinned.digest if shown and shown.pinned else ""
    bound = bind(fresh.agent, fresh.tool, fresh.arguments, plan)
    if doubt := refused(token, kept, bound, ports.now()):
        raise _refusal(doubt)
    if kept is None or shown is None:
        raise LookupError("a token was taken that is not kept")
    if shown.state in (State.CLAIMED, State.STARTED):
        raise Refusal(
            Doubt.CONSUMED,
            "This call is being started right now, and starts once only.",
            f"Do not call it again. Ask placet_status what came of {shown.id}.",
            409,
        )
    return await start_now(ports, shown, kept) if shown.state in WAITING else shown


def _bound(proposal: Proposal) -> Bound:
    return bind(proposal.agent, proposal.tool, proposal.arguments, proposal.plan.digest)


def _refusal(doubt: Doubted) -> Refusal:
    status = 409 if doubt.code in _CONFLICTS else 422
    return Refusal(doubt.code, doubt.message, doubt.hint, status)
