"""Ends: whatever ends a proposal is decided once, written down, and then told."""

import json
from typing import Any

from checks.reasons import Reason
from proposals.evidence import stamp
from proposals.lifecycle import Event, State, can
from proposals.plan import Proposal
from proposals.store import Step

from .ground import Ports
from .statements import end_of

_EVENTS = {
    Reason.REJECTED: Event.REJECTED,
    Reason.WITHDRAWN: Event.WITHDRAWN,
    Reason.EXPIRED: Event.EXPIRED,
}


def event_of(reason: Reason) -> Event:
    """The event by which a reason ends a proposal."""
    return _EVENTS.get(reason, Event.VOIDED)


def end(
    ports: Ports, proposal: Proposal, event: Event, reason: str, why: str, **more: Any
) -> Proposal:
    """End a proposal that never started, with its reason, and queue what must be told of it.

    Raises lifecycle.IllegalMoveError when it has started or ended meanwhile.
    """
    outcome = {
        "outcome": "ended",
        "reason": reason,
        "why": why,
        "at": stamp(ports.now()),
        **more,
    }
    steps = told(proposal, outcome)
    changes = {"reason": reason, "why": why, "outcome": outcome}
    return ports.store.move(proposal.id, event, ports.now(), steps, **changes)


def told(proposal: Proposal, outcome: dict[str, Any]) -> list[Step]:
    """What GitHub must be told at an end: the receipt first, then what people see.

    The receipt gets its number and signature when it is written, in the order of the ledger.
    """
    if proposal.place is None:
        return []
    said = json.dumps(end_of(proposal, outcome))
    return [Step("end", text=said), Step("settle"), Step("show"), Step("tell")]


def expire(ports: Ports) -> list[Proposal]:
    """End what waited too long; part of the sweep, so that people are told in time."""
    now = ports.now()
    waiting = (State.PINNED, State.OPEN)
    late = [p for p in ports.store.alive() if p.state in waiting and p.expires <= now]
    why = "Nobody who could approve it did so in time."
    return [
        end(ports, p, Event.EXPIRED, Reason.EXPIRED, why)
        for p in late
        if can(p.state, Event.EXPIRED)
    ]
