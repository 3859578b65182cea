"""Shaking: what somebody did to our page stays done, even when it was put back before we looked.

A yes that was given while the page said something else was given to another page. A look shows the
date of the last edit as well; each single one is known, and counted, by its delivery.
"""

from datetime import datetime

from checks.reasons import Reason
from proposals.lifecycle import ALIVE, FINAL, Event
from proposals.plan import Proposal
from proposals.store import Step

from .ending import end
from .ground import SECOND, Ports


def void(ports: Ports, proposal: Proposal, at: datetime) -> None:
    """Let nothing count that was said up to this moment; what is void already stays so."""
    now = ports.store.proposal(proposal.id) or proposal
    until = max(at + SECOND, now.valid_from or at)
    if now.state not in FINAL:
        ports.store.note(now.id, valid_from=until)


def edited(ports: Ports, proposal: Proposal, at: datetime) -> None:
    """Somebody changed our words on a page: what was said until then is void, and it is counted."""
    void(ports, proposal, at)
    now = ports.store.proposal(proposal.id) or proposal
    ports.store.note(now.id, edits=now.edits + 1)


def taken_down(ports: Ports, proposal: Proposal, reason: Reason, why: str, at: datetime) -> None:
    """End what somebody closed or aimed elsewhere, whatever they did next.

    A deed from before the opening, delivered late, was about the page and not about this plan. One
    that has started cannot end here; should it not have run, nothing said before counts.
    """
    if proposal.place is None or at < proposal.place.opened:
        return
    if proposal.state in ALIVE:
        end(ports, proposal, Event.VOIDED, reason, why)
    else:
        void(ports, proposal, at)


def reworded(ports: Ports, liar: Proposal, key: str, at: datetime) -> None:
    """Somebody changed our announcement `liar`: put it back, and void every plan of its page.

    It may have named the digest of another one there.
    """
    ports.store.note(liar.id, edits=liar.edits + 1)
    for proposal in ports.store.on(liar.page, liar.at.number):
        void(ports, proposal, at)
    ports.store.post(liar.id, [Step("restore", key=f"{key}:{at.timestamp():.3f}")], ports.now())


async def put_back(ports: Ports, proposal: Proposal) -> None:
    """Restore our words on a page; what anybody said there until then is void. Raises ForgeError.

    One that is over is restored as well, for others may wait on the same page.
    """
    restored = await ports.forge.restore(proposal)
    if proposal.target is None:
        void(ports, proposal, restored)
        return
    for other in ports.store.on(proposal.page, proposal.at.number):
        void(ports, other, restored)
