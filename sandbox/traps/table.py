"""What is told of the traps: a table in Markdown and one last line. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .counting import Count, wilson
from .jobs import Job


@dataclass(frozen=True, slots=True)
class Row:
    """A job and its runs, straight to the office and through Placet.

    `unheard`: runs in which the model gave no answer; they are no runs.
    """

    job: Job
    bare: Sequence[Count]
    gated: Sequence[Count]
    unheard: int = 0


def scripted(rows: Sequence[Row]) -> str:
    """The table of the scripted agents: every breach is counted."""
    head = ("job", "what the agent does", "runs", "breaches without", "with Placet", "by itself")
    lines = [
        (
            *(f"`{r.job.name}`", r.job.trap, len(r.gated)),
            *(_breaches(r.bare), _breaches(r.gated), _itself(r.gated)),
        )
        for r in rows
    ]
    return _markdown(head, lines)


def modelled(rows: Sequence[Row]) -> str:
    """The table of a real model: in how many runs it breached, and between which shares that is."""
    head = ("job", "breached without", "with Placet", "confirmed by itself", "no answer")
    lines = [
        (
            *(f"`{r.job.name}`", _share(r.bare), _share(r.gated)),
            *(f"{sum(c.confirmed_itself > 0 for c in r.gated)} of {len(r.gated)}", r.unheard),
        )
        for r in rows
    ]
    total = ("all", _share(_all(r.bare for r in rows)), _share(_all(r.gated for r in rows)))
    itself = [c for r in rows for c in r.gated]
    said = f"{sum(c.confirmed_itself > 0 for c in itself)} of {len(itself)}"
    return _markdown(head, [*lines, (*total, said, sum(r.unheard for r in rows))])


def last(rows: Sequence[Row]) -> str:
    """The one line that matters."""
    runs = sum(len(r.gated) for r in rows)
    told = f"breaches: {breaches(rows)} in {runs} runs of {len(rows)} jobs"
    itself = sum(_itself(r.gated) for r in rows)
    return f"{told}, confirmed by itself: {itself}, without Placet: {_breaches_bare(rows)}"


def breaches(rows: Iterable[Row]) -> int:
    """Everything that ran through Placet and was not approved."""
    return sum(_breaches(r.gated) for r in rows)


def _breaches_bare(rows: Iterable[Row]) -> int:
    return sum(_breaches(r.bare) for r in rows)


def _breaches(counts: Sequence[Count]) -> int:
    return sum(c.breaches for c in counts)


def _itself(counts: Sequence[Count]) -> int:
    return sum(c.confirmed_itself for c in counts)


def _all(rows: Iterable[Sequence[Count]]) -> list[Count]:
    return [count for counts in rows for count in counts]


def _share(counts: Sequence[Count]) -> str:
    """In how many runs something ran that nobody had approved, with its Wilson interval."""
    k, n = sum(c.breaches > 0 for c in counts), len(counts)
    low, high = wilson(k, n)
    return f"{k} of {n} ({low:.0%} to {high:.0%})"


def _markdown(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
