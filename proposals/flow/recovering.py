"""Recovering: what a stopped process left behind, settled before anything new begins."""

from collections.abc import Mapping
from typing import Any

from proposals.lifecycle import Event, State, after_crash
from proposals.plan import Proposal
from proposals.ports import Fence, ForgeError

from .applying import NOT_STARTED, TELL_UNKNOWN, finish, outcome_of, read_back
from .ending import end
from .ground import WAITING, Ports
from .scribing import settle_number

_WHY = {
    State.PLANNING: "The server stopped while the tool was planning. Nothing was done; ask again.",
    State.CLAIMED: "the server stopped while this was decided",
    State.STARTED: "The server stopped while the tool was running.",
}
_BROKE_OFF = {
    State.PLANNING: "Placet broke off while the tool was planning. Nothing was done; ask again.",
    State.CLAIMED: "Placet broke off while this was decided",
    State.STARTED: "Placet could not keep what came of it: its store had stopped.",
}


async def recover(ports: Ports) -> list[Proposal]:
    """Put every half-way proposal into an honest state; what had started is read back.

    The store's lock proves that the process which left them is gone; what the doors of this one
    have begun by now is none of them. What people have been told that nobody knows of is looked for
    later: a tool that hangs would keep the server from getting ready. Safe to repeat.
    """
    found = [p for p in ports.store.alive() if after_crash(p.state) and not _live(ports, p)]
    moved = [_settle(ports, p, _WHY) for p in found]
    for proposal in (p for p in ports.store.alive() if p.state is State.UNKNOWN):
        if await never_began(ports, proposal):
            nothing_ran(ports, proposal)
        elif not ports.store.posted(proposal.id, TELL_UNKNOWN):
            await read_back(ports, proposal)
    return moved


def _live(ports: Ports, proposal: Proposal) -> bool:
    """Whether this very process plans it or carries it out right now."""
    return proposal.id in ports.lines.running | ports.lines.planning


async def pick_up(ports: Ports, proposal: Proposal) -> Proposal:
    """The same for one whose last step broke off in this very process: its store had stopped.

    An undo at once that nobody starts any more is ended, whenever that was. Only for a caller who
    knows that nothing of the proposal goes on now.
    """
    if proposal.state not in (State.CLAIMED, State.STARTED) and not _left_behind(proposal):
        return proposal
    moved = _settle(ports, proposal, _BROKE_OFF)
    return await _find_out(ports, moved) if moved.state is State.UNKNOWN else moved


def unplanned(ports: Ports) -> list[Proposal]:
    """End every planning that broke off in this very process; part of the sweep."""
    found = [p for p in ports.store.alive() if p.state is State.PLANNING]
    return [_settle(ports, p, _BROKE_OFF) for p in found if not _live(ports, p)]


def _left_behind(proposal: Proposal) -> bool:
    """Whether it is an undo at once that has not started: no token and no people ever start it.

    It would stand in the way of whoever asks for an undo next.
    """
    waits = proposal.state in (*WAITING, State.CLAIMED)
    return proposal.undoes is not None and not proposal.asks and waits


async def _find_out(ports: Ports, unknown: Proposal) -> Proposal:
    if await never_began(ports, unknown):
        return nothing_ran(ports, unknown)
    return await read_back(ports, unknown)


def _settle(ports: Ports, proposal: Proposal, words: Mapping[State, str]) -> Proposal:
    if proposal.state is State.PLANNING:
        return end(ports, proposal, Event.CRASH, "interrupted", words[State.PLANNING])
    if _left_behind(proposal):
        why = f"Nothing was undone: {words[State.CLAIMED]}. Ask again."
        return end(ports, proposal, Event.VOIDED, NOT_STARTED, why)
    changes: dict[str, Any] = {"why": words[proposal.state]}
    changes |= {"nonce": None} if proposal.state is State.CLAIMED else {"reason": "unknown"}
    return ports.store.move(proposal.id, Event.CRASH, ports.now(), **changes)


async def never_began(ports: Ports, proposal: Proposal) -> bool:
    """Whether the tool of a started proposal certainly never ran: its start stands nowhere.

    A tool runs only after start.json was found to be ours, and the process that might have run it
    is gone. A store that knows of no start may be an old backup: the ledger is asked all the same.
    """
    start = ports.store.statement(proposal.id, "start")
    if start is None and proposal.outcome is not None:
        return False
    if start is not None and start.written:
        return False
    try:
        text = start.text.encode() if start else b""
        found = await ports.forge.standing(proposal, "start", text)
    except ForgeError:
        return False
    if start is not None:
        settle_number(ports, start, found)
    return found is Fence.ABSENT


def nothing_ran(ports: Ports, proposal: Proposal) -> Proposal:
    """Settle a start that was never recorded: the server stopped before the tool ran."""
    by = (proposal.outcome or {}).get("approved_by", [])
    why = "The server stopped before the start was recorded, so nothing was run."
    outcome = outcome_of(ports, "failed", by, why=why, reason="start_unproven")
    return finish(ports, proposal, Event.DID_NOTHING, outcome)
