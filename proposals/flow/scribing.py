"""Scribing: statements are numbered, signed and written one at a time for each repository."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from proposals.canonical import JSON, NotCanonical, digest, loads
from proposals.plan import Proposal
from proposals.ports import Fence, ForgeError, Lost, Refused, Unavailable
from proposals.store import Last, Numbered

from .ground import Ports
from .statements import file_of

LATER = 300.0  # seconds


class _File(BaseModel):
    """A statement's file, as far as it is needed to go on after it."""

    statement: dict[str, Any]


class _Counted(BaseModel):
    seq: Annotated[int, Field(strict=True, gt=0, lt=2**52)]


async def fence(
    ports: Ports, started: Proposal, predicate: dict[str, JSON], until: datetime
) -> Fence:
    """Write start.json and say whose start stands there now; only OURS lets the tool run.

    A statement of the repository whose fate is not known comes first; while that cannot be found
    out, nothing is written: ABSENT. Nor is it when the yes did not outlive its wait in the line.
    """
    async with ports.lines.of(started.repository):
        if outlived(ports, started, until):
            return Fence.ABSENT
        try:
            await settle_line(ports, started.repository)
            last = await learned(ports, started.repository)
        except ForgeError:
            return Fence.ABSENT
        statement = number(ports, started, "start", predicate, last)
        try:
            found = await ports.forge.start(started, statement.text.encode())
        except Lost:
            found = Fence.UNPROVEN
        except ForgeError:
            found = Fence.ABSENT
        settle_number(ports, statement, found)
    return found


def outlived(ports: Ports, started: Proposal, until: datetime) -> bool:
    """Whether a start waited in line for too long: an end, a stop or new evidence came first."""
    now = ports.store.proposal(started.id) or started
    late = ports.now() >= min(now.expires, until)
    stopped = ports.store.halted(now.repository) is not None
    return late or stopped or now.moved or now.evidence_rev != started.evidence_rev


async def write_end(
    ports: Ports, proposal: Proposal, kind: str, predicate: dict[str, JSON]
) -> None:
    """Write the statement `end`, `end-2`, ..., or find the same bytes there.

    Raises ForgeError; trying again is safe.
    """
    async with ports.lines.of(proposal.repository):
        last = None
        if ports.store.statement(proposal.id, kind) is None:
            await settle_line(ports, proposal.repository)
            last = await learned(ports, proposal.repository)
            await _not_begun_elsewhere(ports, proposal, predicate)
        statement = number(ports, proposal, kind, predicate, last)
        if statement.written:
            return
        try:
            await ports.forge.write_end(proposal, kind, statement.text.encode())
        except (Refused, Unavailable):
            settle_number(ports, statement, Fence.ABSENT)
            raise
        ports.store.landed(statement)


async def _not_begun_elsewhere(
    ports: Ports, proposal: Proposal, predicate: dict[str, JSON]
) -> None:
    """Refuse to say that nothing was started, where another server's start stands."""
    if predicate.get("outcome") != "ended" or ports.store.statement(proposal.id, "start"):
        return
    if await ports.forge.standing(proposal, "start", b"") is Fence.FOREIGN:
        why = f"{proposal.id} was started by another server of this App"
        raise Refused(why, 409, "not_ours")


async def learned(ports: Ports, repository: int) -> Last | None:
    """Where the chain stands, when the ledger may know more than the store; else None.

    A store that is new, or whose halt an operator has lifted, takes the ledger's word for it. One
    that is older than the ledger raises the alarm before it writes anything. Raises ForgeError.
    """
    if repository not in ports.lines.looked:
        if not await ports.forge.intact(repository):
            raise Unavailable("the ledger knows more than the store", LATER)
        ports.lines.looked.add(repository)
    if ports.store.ledger_tip(repository) is not None:
        return None
    data = await ports.forge.newest(repository)
    return None if data is None else _place(ports, repository, data)


def _place(ports: Ports, repository: int, data: bytes) -> Last:
    """The number and digest of a statement's file; the alarm when it is none."""
    try:
        said = _File.model_validate(loads(data)).statement
        seq = _Counted.model_validate(said["predicate"]).seq
        return Last(seq, digest(said))
    except (NotCanonical, ValidationError, KeyError):
        why = (
            "the ledger's newest statement cannot be read as one, so nobody knows the next number; "
            "run `placet audit` and restore it, then `placet resume`"
        )
        ports.store.halt(why, ports.now(), repository)
        raise Unavailable(why, LATER) from None


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


def number(
    ports: Ports, proposal: Proposal, kind: str, predicate: dict[str, JSON], last: Last | None
) -> Numbered:
    """The statement with its number, made now or at an earlier try."""

    def make(seq: int, prev: str | None) -> tuple[str, str]:
        numbered: dict[str, JSON] = {**predicate, "seq": seq, "prev": prev}
        return file_of(kind, proposal, numbered, ports.signer)

    return ports.store.reserve(proposal.repository, proposal.id, kind, make, last)
