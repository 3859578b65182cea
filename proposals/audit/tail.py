"""The ledger against the server's own store: what a clone alone cannot show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .report import Finding
from .signed import Said


@dataclass(frozen=True, slots=True)
class Kept:
    """One statement as the store keeps it; `written`: it certainly stood on the ledger."""

    seq: int
    digest: str
    proposal: str
    kind: str
    written: bool


def against_store(chain: Sequence[Said], kept: Sequence[Kept]) -> Iterator[Finding]:
    """Statements that one of the two has and the other has not, or has otherwise."""
    here = {said.digest: said for said in chain}
    last = max((said.seq for said in chain), default=0)
    known = {k.digest for k in kept}
    for one in kept:
        if not one.written or one.digest in here:
            continue
        if one.seq > last:
            why = (
                f"the ledger ends at number {last}, and the store has number {one.seq} "
                f"({one.kind} of {one.proposal}): the end of the ledger was cut off"
            )
            yield Finding("cut_off", why, proposal=one.proposal)
        else:
            why = f"number {one.seq} ({one.kind} of {one.proposal}) is not as the store has it"
            yield Finding("not_as_kept", why, proposal=one.proposal)
    for said in chain:
        if said.digest not in known:
            why = "the store does not know it: an older backup of it, or another server wrote this"
            yield said.finding("not_in_store", why)
