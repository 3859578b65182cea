"""Ends: whatever ends a proposal is decided once, written down, and then told."""

import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from checks.reasons import REASONS, Reason, Weight
from proposals.evidence import stamp
from proposals.lifecycle import Event, State, can
from proposals.plan import Proposal, undo_standing
from proposals.store import Step, Store

from .ground import Ports
from .statements import end_of

_EVENTS = {
    Reason.REJECTED: Event.REJECTED,
    Reason.WITHDRAWN: Event.WITHDRAWN,
    Reason.EXPIRED: Event.EXPIRED,
}

_LATE = "Nobody who could approve it did so in time."
_LATE_UNASKED = "It was not started in time: what was previewed is no longer good."
_HINDERED = "It was not started in time. What stood in the way: {what}"
_UNKNOWN_HINDRANCE = "Placet did not come to it."
_HELD_UP = "held_up"
WORTH_A_WARNING = timedelta(hours=1)


def event_of(reason: Reason) -> Event:
    """The event by which a reason ends a proposal."""
    return _EVENTS.get(reason, Event.VOIDED)


def end(
    ports: Ports, proposal: Proposal, event: Event, reason: str, why: str, **more: Any
) -> Proposal:
    """End a proposal that never started, with its reason, and queue what must be told of it.

    Raises lifecycle.IllegalMoveError when it has started or ended meanwhile.
    """
    return ended(ports.store, proposal, event, reason, why, ports.now(), **more)


def ended(
    store: Store,
    proposal: Proposal,
    event: Event,
    reason: str,
    why: str,
    now: datetime,
    **more: Any,
) -> Proposal:
    """The same for whoever has no more than the store."""
    outcome = {"outcome": "ended", "reason": reason, "why": why, "at": stamp(now), **more}
    steps = told(store, proposal, outcome)
    changes = {"reason": reason, "why": why, "outcome": outcome}
    over = store.move(proposal.id, event, now, steps, **changes)
    if over.undoes and undo_standing(over):
        store.post(over.undoes, [Step("show")], now)
    return over


def told(store: Store, proposal: Proposal, outcome: dict[str, Any]) -> list[Step]:
    """What GitHub must be told at an end: the receipt first, then what people see."""
    if proposal.place is None:  # then only what started without a page is worth a statement
        unshown = not proposal.asks and outcome["outcome"] != "ended"
        return [receipt(store, proposal, outcome), *announced(proposal)] if unshown else []
    return [receipt(store, proposal, outcome), Step("settle"), Step("show"), Step("tell")]


def announced(proposal: Proposal) -> list[Step]:
    """What opens the page of a call that was done first and is announced to people afterwards."""
    steps = [Step("publish"), Step("settle"), Step("show"), Step("tell")]
    return steps if proposal.mode == "announce" and proposal.place is None else []


def receipt(store: Store, proposal: Proposal, said: dict[str, Any]) -> Step:
    """The next statement of what came of a published proposal: end.json, then end-2.json, ...

    It gets its number in the chain and its signature when it is written, in the ledger's order.
    """
    kind = store.next_end(proposal.id)
    return Step("end", key=kind, text=json.dumps(end_of(proposal, said)))


def expire(ports: Ports, unsure: Collection[int]) -> list[Proposal]:
    """End what waited too long; part of the sweep, so that people are told in time.

    `unsure`: repositories whose ledger may say that it was decided elsewhere.
    """
    now = ports.now()
    waiting = (State.PINNED, State.OPEN)
    late = [p for p in ports.store.alive() if p.state in waiting and p.expires <= now]
    return [
        run_out(ports, p)
        for p in late
        if can(p.state, Event.EXPIRED) and p.repository not in unsure
    ]


def run_out(ports: Ports, proposal: Proposal) -> Proposal:
    """End what waited too long, and say for what: for people, or for what held it up.

    The last verdict kept says which; what is judged after the end could only count who came late.
    """
    if not proposal.asks:
        return end(ports, proposal, Event.EXPIRED, Reason.EXPIRED, _LATE_UNASKED)
    what = _hindrance(proposal)
    if what is None:
        return end(ports, proposal, Event.EXPIRED, Reason.EXPIRED, _LATE)
    why = _HINDERED.format(what=what or _UNKNOWN_HINDRANCE)[:300]
    return end(ports, proposal, Event.EXPIRED, Reason.EXPIRED, why, cause=_HELD_UP)


def _hindrance(proposal: Proposal) -> str | None:
    """What kept a proposal from being shown or started, "" unsaid; None: approvals were missing."""
    if proposal.place is None:
        return proposal.why
    findings = (proposal.verdict or {}).get("findings")
    if findings is None or any(f["reason"] == Reason.APPROVALS_MISSING for f in findings):
        return None
    stops = [f for f in findings if REASONS[Reason(f["reason"])].weight is not Weight.NOTES]
    held = proposal.why if proposal.reason else ""
    return held or next((str(f["because"]) for f in stops), proposal.why)


def expiring(ports: Ports) -> list[Proposal]:
    """What is open and in the last quarter of its time, or its last hour, if it waits that long."""
    now = ports.now()
    waiting = [p for p in ports.store.alive() if p.state is State.OPEN and p.expires > now]
    long = [(p, p.expires - p.created) for p in waiting if p.expires - p.created >= WORTH_A_WARNING]
    return [p for p, wait in long if p.expires - now <= min(wait / 4, WORTH_A_WARNING)]
