"""The chain: numbers without gap, fork or repetition, each naming the statement before it."""

from collections.abc import Iterable, Iterator, Sequence

from .report import Finding
from .signed import Said


def broken(chain: Sequence[Said], claimed: Iterable[int]) -> Iterator[Finding]:
    """Everything that is wrong with the numbers; `claimed` are those of files that did not open.

    `chain` is sorted by number.
    """
    yield from (s.finding("no_number", "it has no number") for s in chain if s.seq == 0)
    numbered = [s for s in chain if s.seq]
    known = set(claimed)
    before: Said | None = None
    for said in numbered:
        yield from _step(before, said, known)
        before = said


def _step(before: Said | None, said: Said, known: set[int]) -> Iterator[Finding]:
    last = before.seq if before else 0
    if said.seq == last and before:
        why = f"two statements have the number {last}: this one and {before.file.path}"
        yield said.finding("fork", why)
        return
    lost = [n for n in range(last + 1, min(said.seq, last + 1000)) if n not in known]
    if lost:
        which = str(lost[0]) if len(lost) == 1 else f"{lost[0]} to {lost[-1]}"
        where = f"between {before.file.path} and this one" if before else "before this one"
        why = f"number {which} is missing {where}: a statement was deleted"
        yield said.finding("gap", why)
    if said.seq != last + 1:
        return
    expected = before.digest if before else None
    if said.predicate.get("prev") != expected:
        which = before.file.path if before else "nothing"
        why = f"it follows another statement than {which}: the history was rewritten"
        yield said.finding("wrong_previous", why)
