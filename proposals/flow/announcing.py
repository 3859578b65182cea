"""Announcing: calls of mode `announce` are done at once, shown afterwards, and taken back at once.

No model takes part in taking back, and nobody's approval: only what restores exactly the state
before is done without one.
"""

from dataclasses import dataclass

from checks.facts import Person
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.unasked import restores

from .ending import end
from .ground import Ports
from .opening import SHOWN
from .statements import plan_bytes
from .unasked import NOT_STARTED, WAITING, start_now
from .undoing import undo


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a person's undo; `at_once`: it was to be done without asking people."""

    undo: Proposal
    at_once: bool


async def at_once(ports: Ports, proposal: Proposal) -> Proposal:
    """Start a planned call of mode `announce`; any other comes back as it is."""
    if proposal.mode != "announce" or proposal.state not in WAITING:
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

    When that would not restore exactly the state before, it is an ordinary undo, which asks
    people. Raises Refusal, as `undo`.
    """
    planned = await undo(ports, original, asked_by=person)
    fresh = planned.state is State.PINNED and planned.place is None
    if not fresh or not restores(planned.plan.plan, original.plan.plan):
        return Taken(planned, at_once=False)
    ports.store.note(planned.id, mode="announce")
    tried = await start_now(ports, ports.store.proposal(planned.id) or planned, None)
    if tried.state in WAITING:  # whoever asked can ask again; it must not start when nobody looks
        tried = end(ports, tried, Event.VOIDED, NOT_STARTED, tried.why)
    return Taken(tried, at_once=True)
