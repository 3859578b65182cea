"""Recovering: what a stopped process left behind, settled before anything new begins."""

from typing import Any

from proposals.lifecycle import Event, State, after_crash
from proposals.plan import Proposal

from .applying import read_back
from .ending import end
from .ground import Ports

_WHY = {
    State.CLAIMED: "the server stopped while this was decided",
    State.STARTED: "The server stopped while the tool was running.",
}


async def recover(ports: Ports) -> list[Proposal]:
    """Put every half-way proposal into an honest state; what had started is read back.

    The store's lock proves that the process which left them is gone.
    """
    found = [p for p in ports.store.alive() if after_crash(p.state)]
    moved = [_settle(ports, p) for p in found]
    for proposal in (p for p in ports.store.alive() if p.state is State.UNKNOWN):
        await read_back(ports, proposal)
    return moved


def _settle(ports: Ports, proposal: Proposal) -> Proposal:
    if proposal.state is State.PLANNING:
        why = "The server stopped while the tool was planning. Nothing was done; ask again."
        return end(ports, proposal, Event.CRASH, "interrupted", why)
    changes: dict[str, Any] = {"why": _WHY[proposal.state]}
    changes |= {"nonce": None} if proposal.state is State.CLAIMED else {"reason": "unknown"}
    return ports.store.move(proposal.id, Event.CRASH, ports.now(), **changes)
