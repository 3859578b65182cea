"""What is said of a proposal after its first end: only the unknown is settled, more is added."""

from collections.abc import Iterator, Mapping

from .lives import CONTRADICTION, OUTCOME, UNDONE, Life, fact_of
from .report import Finding
from .signed import Said

_FACTS = frozenset({OUTCOME, UNDONE, CONTRADICTION})


def followed(life: Life, lives: Mapping[str, Life]) -> Iterator[Finding]:
    """Everything that is wrong with the statements end.json, end-2.json, ... of one proposal."""
    ends = sorted(life.ends, key=lambda end: end.spot.part)
    known: Said | None = None
    for before, end in zip([None, *ends], ends, strict=False):
        if before and end.seq < before.seq:
            yield end.finding("wrong_order", f"it was written before {before.file.path}")
        if fact_of(end) not in _FACTS:
            yield end.finding("strange_fact", f"it says nothing that Placet says: {fact_of(end)}")
        elif fact_of(end) == OUTCOME:
            yield from _settles(known, end)
            known = end
        elif known is None:
            why = "it adds to an outcome that is not recorded"
            yield end.finding("contradiction", why)
        elif fact_of(end) == UNDONE:
            yield from _undone(life, known, end, lives)
        else:
            life.notes.append(
                f"{life.id}: recorded as {known.text('outcome')}, and a late answer of the tool "
                f"said {end.text('outcome')}. Somebody must look."
            )
    _open_ends(life, known, lives)


def _settles(known: Said | None, end: Said) -> Iterator[Finding]:
    if known is not None and known.text("outcome") != "unknown":
        why = (
            f"it says {end.text('outcome'):.20}, and {known.file.path} had said "
            f"{known.text('outcome'):.20}: only an unknown outcome is settled later"
        )
        yield end.finding("contradiction", why)


def _undone(life: Life, known: Said, end: Said, lives: Mapping[str, Life]) -> Iterator[Finding]:
    """An undo is believed by its own statements: approved, applied, and of this very proposal."""
    if known.text("outcome") != "applied":
        why = "it says that this was undone, and it was never applied"
        yield end.finding("contradiction", why)
    by = end.predicate.get("undone_by")
    named = by.get("proposal") if isinstance(by, dict) else None
    undo = lives.get(named) if isinstance(named, str) else None
    settled = undo.settled if undo else None
    proven = (
        settled is not None
        and settled.text("outcome") == "applied"
        and settled.text("undoes") == life.id
        and isinstance(by, dict)
        and settled.text("digest") == by.get("digest")
    )
    if not proven:
        why = f"it says that {named!s:.60} took it back, and no such undo is recorded as applied"
        yield end.finding("undo_unproven", why)


def _open_ends(life: Life, known: Said | None, lives: Mapping[str, Life]) -> None:
    """Note what is not known yet, and an undo that the original does not name yet."""
    if known is None:
        return
    if known.text("outcome") == "unknown":
        life.notes.append(
            f"{life.id}: unknown, not settled. Somebody must find out what was done and say so "
            "(/resolve)."
        )
    undone = lives.get(known.text("undoes"))
    names = [e.predicate.get("undone_by") for e in undone.ends] if undone else []
    named = any(isinstance(by, dict) and by.get("proposal") == life.id for by in names)
    if undone and known.text("outcome") == "applied" and not named:
        life.notes.append(f"{life.id} took {undone.id} back, which does not say so yet.")
