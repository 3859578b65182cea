"""Elsewhere: a proposal that another store of the same App has started; nothing runs here.

The store is an older backup, or a second server works on a copy of it. The start on the ledger says
so, and is the only one that ever runs the tool.
"""

import secrets

from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.ports import Fence, ForgeError

from .acquainting import caught_up
from .applying import outcome_of, read_back
from .ground import Ports

WHY = "Its start stands on the ledger, written from another store; this server ran nothing."


async def begun_elsewhere(ports: Ports, proposal: Proposal) -> bool:
    """Whether a start of a proposal that has not started here stands on the ledger; ForgeError."""
    return await ports.forge.standing(proposal, "start", b"") is Fence.FOREIGN


async def taken_over(ports: Ports, proposal: Proposal) -> Proposal:
    """Record a start of elsewhere as one whose outcome is unknown, and look at the world."""
    now, outcome = ports.now(), outcome_of(ports, "unknown", [], why=WHY)
    with ports.store.tx():
        current = ports.store.proposal(proposal.id) or proposal
        if current.state is State.OPEN:
            nonce = secrets.token_hex(16)
            current = ports.store.move(current.id, Event.GRANTED, now, nonce=nonce, why=WHY)
        ports.store.move(current.id, Event.START, now, why=WHY)
        lost = ports.store.move(
            current.id, Event.LOST, now, why=WHY, reason="unknown", outcome=outcome
        )
    return await read_back(ports, lost)


def suspected(ports: Ports, proposal: Proposal) -> None:
    """Halt the repository of a proposal that was begun elsewhere, until somebody has looked."""
    why = (
        f"{proposal.id} was started from another store: this one is an older backup, or a second "
        "server of this App is running; stop it, run `placet audit`, then `placet resume`"
    )
    ports.store.halt(why, ports.now(), proposal.repository)


def told_by_others(ports: Ports, proposal: Proposal) -> None:
    """Say nothing more of a proposal that ended here and started elsewhere; halt its repository."""
    with ports.store.tx():
        ports.store.silence(proposal.id, WHY)
        suspected(ports, proposal)


async def catch_up(ports: Ports, repository: int) -> list[Proposal]:
    """Take over all that was begun elsewhere, before an operator lets a repository go on.

    Signed statements first; then what only stands there. Raises ForgeError.
    """
    await caught_up(ports, repository)
    ports.lines.met.discard(repository)
    found = []
    for proposal in ports.store.alive():
        if proposal.repository != repository or proposal.state is not State.OPEN:
            continue
        try:
            if await begun_elsewhere(ports, proposal):
                found.append(await taken_over(ports, proposal))
        except ForgeError:
            continue  # the fence finds out when it is to start
    return found
