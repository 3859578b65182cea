"""What differs between two JSON values, place by place, for people and agents to read."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import NamedTuple

from .canonical import JSON, MISSING, Missing, canonical, check, pointer_of

LONGEST = 500  # items of a list that are still matched with each other; comparing is quadratic


class Change(NamedTuple):
    """One place where two values differ; MISSING stands for a member that is not there.

    A list item that vanished has its place before, one that appeared its place afterwards.
    """

    pointer: str
    before: JSON | Missing
    after: JSON | Missing


def changes(before: object, after: object, *, limit: int = 50) -> list[Change]:
    """List where two values differ, in key order, at most `limit` (ask for one more to know).

    Items of lists are matched by what they hold: one that vanished moves no other. No changes if
    and only if both have the same canonical form.
    """
    return list(islice(_differing([], check(before), check(after)), limit))


def _differing(path: list[str | int], a: JSON | Missing, b: JSON | Missing) -> Iterator[Change]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from _differing([*path, key], a.get(key, MISSING), b.get(key, MISSING))
    elif isinstance(a, list) and isinstance(b, list):
        for place, one, other in _paired(a, b):
            yield from _differing([*path, place], one, other)
    elif isinstance(a, Missing) or isinstance(b, Missing) or canonical(a) != canonical(b):
        yield Change(pointer_of(path), a, b)


def _paired(a: list[JSON], b: list[JSON]) -> Iterator[tuple[int, JSON | Missing, JSON | Missing]]:
    """The items of two lists that are not the same, with their place."""
    if max(len(a), len(b)) > LONGEST:
        for place, (one, other) in enumerate(zip_longest(a, b, fillvalue=MISSING)):
            yield place, one, other
        return
    texts = [canonical(item) for item in a], [canonical(item) for item in b]
    matcher = SequenceMatcher(None, *texts, autojunk=False)
    for kind, start, end, start_b, end_b in matcher.get_opcodes():
        if kind == "equal":
            continue
        both = zip_longest(a[start:end], b[start_b:end_b], fillvalue=MISSING)
        for offset, (one, other) in enumerate(both):
            first = start_b if isinstance(one, Missing) else start
            yield first + offset, one, other
