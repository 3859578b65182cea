"""Claiming: what is approved is taken in hand by one who plans it again, or given back with why."""

import secrets

from checks.verdict import Verdict
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.store import Step

from .ground import Ports
from .holding import VERDICT


def claim(ports: Ports, proposal: Proposal, verdict: Verdict) -> Proposal:
    """Take it in hand by a yes, which is kept: nothing of what held it up before does so now."""
    with ports.store.tx():
        keep(ports, proposal, verdict)
        nonce = secrets.token_hex(16)
        return ports.store.move(
            proposal.id, Event.GRANTED, ports.now(), nonce=nonce, reason=None, why=""
        )


def given_back(ports: Ports, before: Proposal) -> None:
    """Show on its page that a claim was given back, unless that is what the page says already."""
    now = ports.store.proposal(before.id)
    if now is None or now.state is not State.OPEN:
        return
    if (now.reason, now.why) != (before.reason, before.why):
        ports.store.post(now.id, [Step("show")], ports.now())


def keep(ports: Ports, proposal: Proposal, verdict: Verdict) -> None:
    """Remember the latest verdict, for everyone who asks why."""
    said = VERDICT.dump_python(verdict, mode="json") | {"at": ports.now().isoformat()}
    ports.store.note(proposal.id, verdict=said)


def release(ports: Ports, claimed: Proposal, why: str, reason: str | None = None) -> None:
    """Give a claim back, unless it ended meanwhile; a `reason` is told to its agent."""
    now = ports.store.proposal(claimed.id)
    if now is not None and now.state is State.CLAIMED:
        ports.store.move(
            claimed.id, Event.RELEASED, ports.now(), why=why[:300], reason=reason, nonce=None
        )
