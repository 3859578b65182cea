"""What keeps an agent from wearing people out: a no that lasts, and caps on what waits."""

from datetime import timedelta
from decimal import Decimal, InvalidOperation

from checks.reasons import REASONS, Reason
from proposals.lifecycle import Event, State
from proposals.plan import Proposal

from .ending import end
from .ground import Ports, Refusal
from .veiling import things

COOL_DOWN = timedelta(hours=1)
DIGITS = 24
"""A cost with more digits before its point is no amount of anything, and cannot be added up."""


def turned_down(ports: Ports, fresh: Proposal) -> Proposal | None:
    """The proposal that people rejected a while ago when this is the same call or plan again.

    What a person asks for anew (`/replan`) is asked.
    """
    if fresh.parent or fresh.undoes:
        return None
    return ports.store.rejected(fresh, ports.now() - COOL_DOWN)


def earlier(ports: Ports, fresh: Proposal) -> Proposal | None:
    """A start of the same call, or on the same thing, of which nobody knows what came."""
    return next((p for p in ports.store.unknown(fresh) if alike(ports, p, fresh)), None)


def alike(ports: Ports, one: Proposal, other: Proposal) -> bool:
    """Whether two are the same call, or change the same thing as far as they are planned."""
    if (one.tool, one.arguments) == (other.tool, other.arguments):
        return True
    if one.pinned is None or other.pinned is None:
        return False
    return not things(ports, one).isdisjoint(things(ports, other))


def unsettled(ports: Ports, fresh: Proposal) -> str:
    """Where `earlier` stands; "" when there is none."""
    found = earlier(ports, fresh)
    return _place(found) if found else ""


def undone(ports: Ports, fresh: Proposal) -> str:
    """The undo by which a person took the same call or plan back a while ago; "" for none."""
    found = ports.store.taken_back(fresh, ports.now() - COOL_DOWN)
    return _place(found) if found else ""


def refuse_again(ports: Ports, fresh: Proposal) -> None:
    """Refuse a call that asks nobody and that a person took back, or that may be done; Refusal.

    People who are asked can decide about that themselves, and their page says so.
    """
    if fresh.asks:
        return
    if undo := undone(ports, fresh):
        message = f"A person took exactly this back with {undo}. It was not done again."
        raise Refusal(Reason.UNDONE_BEFORE, message, REASONS[Reason.UNDONE_BEFORE].remedy, 409)
    if start := unsettled(ports, fresh):
        message = f"Nobody knows what came of an earlier start of it ({start}). It was not done."
        raise Refusal(Reason.UNSETTLED, message, REASONS[Reason.UNSETTLED].remedy, 409)


def _place(found: Proposal) -> str:
    return found.place.url if found.place else found.id


def room(ports: Ports, fresh: Proposal) -> None:
    """Refuse a call of an agent that has too much waiting already; Refusal.

    What it is to take the place of makes room for it.
    """
    most = ports.caps.waiting
    waiting = [p for p in ports.store.undecided(fresh.agent) if p.id != fresh.parent]
    if most is not None and len(waiting) >= most:
        raise Refusal(
            "too_many_waiting",
            f"{most} proposals of yours wait for people already, which is the most there may be.",
            "Wait until some are decided, or withdraw what is no longer wanted.",
            429,
        )


def restrained(ports: Ports, proposal: Proposal) -> Proposal:
    """End a proposal that was just planned when its plan was rejected, or costs too much."""
    if proposal.state is not State.PINNED or proposal.undoes:
        return proposal
    if rejected := turned_down(ports, proposal):
        why = f"Exactly this was rejected as {rejected.id}. {rejected.why}".strip()
        return end(ports, proposal, Event.VOIDED, "rejected_before", why)
    if why := _too_costly(ports, proposal):
        return end(ports, proposal, Event.VOIDED, "too_costly", why)
    return proposal


def _too_costly(ports: Ports, proposal: Proposal) -> str:
    """Why what waits for this agent would cost too much with this; empty when it would not."""
    unit, amount = _cost(proposal)
    most = ports.caps.cost.get(unit)
    if most is None:
        return ""
    if amount is None:
        return f"Its cost in {unit} is no number, so the cap of {most} {unit} cannot be kept."
    others = [_cost(p) for p in ports.store.undecided(proposal.agent) if p.id != proposal.id]
    together = amount + sum(a for u, a in others if u == unit and a is not None)
    if together <= most:
        return ""
    return f"With this, {together} {unit} of this agent would wait; the most there may is {most}."


def _cost(proposal: Proposal) -> tuple[str, Decimal | None]:
    cost = proposal.pinned.plan.get("cost") if proposal.pinned else None
    if not isinstance(cost, dict):
        return "", None
    try:
        amount = Decimal(str(cost["amount"]))
    except InvalidOperation:
        amount = None
    usable = amount is not None and amount.is_finite() and amount >= 0 and amount < 10**DIGITS
    return str(cost["unit"]), amount if usable else None
