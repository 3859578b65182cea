"""Announcing: calls of mode `announce` are done at once, shown afterwards, and taken back at once.

No model takes part in taking back, and nobody's approval: only what restores exactly the state
before is done without one.
"""

from dataclasses import dataclass

from checks.facts import Person
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.unasked import priced, restores

from .applying import NOT_STARTED
from .declared import mode_now
from .ending import end
from .ground import WAITING, Ports
from .opening import SHOWN
from .recovering import pick_up
from .statements import plan_bytes
from .unasked import start_now
from .undoing import possible, undo

_BEGUN = frozenset({State.STARTED, State.UNKNOWN, State.APPLIED})


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a person's undo; `at_once`: it was to be done without asking people."""

    undo: Proposal
    at_once: bool


async def at_once(ports: Ports, proposal: Proposal) -> Proposal:
    """Start a planned call that neither people nor a token must start; any other as it is."""
    if proposal.asks or proposal.state not in WAITING or ports.store.bound(proposal.id):
        return proposal
    return await start_now(ports, proposal, None)


async def publish(ports: Ports, proposal: Proposal) -> Proposal:
    """Show people what was done without asking them; safe to repeat. Raises ForgeError."""
    if not proposal.behind:
        ids = sorted(proposal.identities)[:SHOWN]
        behind = await ports.forge.called(proposal.repository, ids)
        proposal = ports.store.note(proposal.id, behind=behind)
    place = await ports.forge.publish(proposal, plan_bytes(proposal, ports.signer))
    return ports.store.note(proposal.id, place=place, valid_from=place.opened)


async def take_back(ports: Ports, original: Proposal, person: Person) -> Taken:
    """Take an announced call back at once for somebody who may decide about it (`barred`).

    An ordinary undo that has not begun makes room for it. When it would not restore exactly the
    state before, costs something, or the tool is announced no longer, it is an ordinary undo,
    which asks people. Raises Refusal, as `undo`.
    """
    async with ports.lines.taking_back(original.id):
        kept = ports.store.undo_of(original.id)
        if kept is not None and not kept.asks:  # an earlier try; whoever made it is gone
            await pick_up(ports, kept)
        _make_room(ports, original, person)
        return await _taken(ports, original, person)


async def _taken(ports: Ports, original: Proposal, person: Person) -> Taken:
    planned = await undo(ports, original, asked_by=person)
    if planned.place or not _exact(ports, planned, original):
        begun = planned.mode == original.mode and planned.state in _BEGUN
        return Taken(planned, at_once=begun)
    ports.store.note(planned.id, mode="announce")
    tried = await start_now(ports, ports.store.proposal(planned.id) or planned, None)
    if tried.state in WAITING:  # whoever asked can ask again; it must not start when nobody looks
        tried = end(ports, tried, Event.VOIDED, NOT_STARTED, tried.why)
    return Taken(tried, at_once=True)


def _make_room(ports: Ports, original: Proposal, person: Person) -> None:
    """End an undo that waits for people, or broke off, when the same can be done without them.

    One that they have approved is about to be done anyway.
    """
    kept = ports.store.undo_of(original.id)
    if kept is None or kept.state not in (State.PLANNING, *WAITING):
        return
    if kept.pinned and not _restoring(ports, kept, original):
        return
    possible(ports, original)
    why = f"@{person.login} asked for it to be taken back at once."
    end(ports, kept, Event.SUPERSEDED, "superseded", why)


def _exact(ports: Ports, planned: Proposal, original: Proposal) -> bool:
    """Whether an undo was planned just now that may be done without asking people."""
    return planned.state is State.PINNED and _restoring(ports, planned, original)


def _restoring(ports: Ports, undo: Proposal, original: Proposal) -> bool:
    same = restores(undo.plan.plan, original.plan.plan)
    free = not priced(undo.plan.plan.get("cost"))
    return same and free and mode_now(ports, original) == original.mode
