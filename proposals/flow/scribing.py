"""Scribing: statements are numbered, signed and written one at a time for each repository."""

from proposals.canonical import JSON
from proposals.plan import Proposal
from proposals.ports import Fence, ForgeError, Lost, Refused, Unavailable
from proposals.store import Numbered

from .ground import Ports
from .statements import file_of


async def fence(ports: Ports, started: Proposal, predicate: dict[str, JSON]) -> Fence:
    """Write start.json and say whose start stands there now; only OURS lets the tool run.

    A statement of the repository whose fate is not known comes first; while that cannot be found
    out, nothing is written: ABSENT.
    """
    async with ports.lines.of(started.repository):
        try:
            await settle_line(ports, started.repository)
        except ForgeError:
            return Fence.ABSENT
        statement = number(ports, started, "start", predicate)
        try:
            found = await ports.forge.start(started, statement.text.encode())
        except Lost:
            found = Fence.UNPROVEN
        except ForgeError:
            found = Fence.ABSENT
        settle_number(ports, statement, found)
    return found


async def write_end(ports: Ports, proposal: Proposal, predicate: dict[str, JSON]) -> None:
    """Write end.json, or find the same bytes there. Raises ForgeError; trying again is safe."""
    async with ports.lines.of(proposal.repository):
        if ports.store.statement(proposal.id, "end") is None:
            await settle_line(ports, proposal.repository)
        statement = number(ports, proposal, "end", predicate)
        if statement.written:
            return
        try:
            await ports.forge.write_end(proposal, statement.text.encode())
        except (Refused, Unavailable):
            settle_number(ports, statement, Fence.ABSENT)
            raise
        ports.store.landed(statement)


async def settle_line(ports: Ports, repository: int) -> None:
    """Find out what became of the statement in flight; ForgeError when nobody can tell yet."""
    waiting = ports.store.in_flight(repository)
    if waiting is None:
        return
    proposal = ports.store.proposal(waiting.proposal)
    if proposal is None:
        ports.store.dropped(waiting)
        return
    text = waiting.text.encode()
    settle_number(ports, waiting, await ports.forge.standing(proposal, waiting.kind, text))


def settle_number(ports: Ports, statement: Numbered, found: Fence) -> None:
    """Keep the number of a statement that stands, free that of one that certainly does not.

    Somebody else's statement in its place means that another server, or a hand, writes here: then
    nothing starts in this repository until an operator has looked.
    """
    if found in (Fence.OURS, Fence.TAMPERED):
        ports.store.landed(statement)
    elif found is not Fence.UNPROVEN:
        ports.store.dropped(statement)
    if found is Fence.FOREIGN:
        why = (
            f"a {statement.kind} statement of {statement.proposal} that this server did not write "
            "stands on the ledger; run `placet audit`, then `placet resume`"
        )
        ports.store.halt(why, ports.now(), statement.repository)


def number(ports: Ports, proposal: Proposal, kind: str, predicate: dict[str, JSON]) -> Numbered:
    """The statement with its number, made now or at an earlier try."""

    def make(seq: int, prev: str | None) -> tuple[str, str]:
        numbered: dict[str, JSON] = {**predicate, "seq": seq, "prev": prev}
        return file_of(kind, proposal, numbered, ports.signer)

    return ports.store.reserve(proposal.repository, proposal.id, kind, make)
