"""Microseconds for one verdict by the number of stances; the ratio tells whether it is linear."""

import timeit
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from checks.facts import Access, Facts, Person, Stance, Surface, Voice
from checks.policy import Source, floor
from checks.verdict import judge

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
FACTS = Facts(
    "db.rows", "write", "sha256:" + "a" * 64, frozenset({1}), NOW - timedelta(hours=1),
    NOW + timedelta(hours=1), "a" * 40, "a" * 40, "placet/ledger", "placet/ledger",
)  # fmt: skip
SOURCES = [Source("propose", floor(1)), Source("current", floor(1))]


def with_voices(count: int) -> Facts:
    voices = tuple(
        Voice(f"review:{i}", Person(i + 10, f"p{i}"), Surface.REVIEW, Stance.APPROVE,
              NOW - timedelta(seconds=i), i, head="a" * 40)
        for i in range(count)
    )  # fmt: skip
    access = {i + 10: Access(i + 10, "write") for i in range(count)}
    return replace(FACTS, voices=voices, access=access)


def main() -> None:
    first = 0.0
    for count in (1, 10, 100, 1000):
        facts = with_voices(count)
        runs = max(1, 100 // count)  # short ones, many times: some fall into a quiet moment
        work = partial(judge, facts, SOURCES, NOW)
        best = min(timeit.repeat(work, number=runs, repeat=300)) / runs
        first = first or best
        print(f"{count:5} stances {best * 1e6:10.1f} us   {best / first / count:6.2f} of linear")


if __name__ == "__main__":
    main()
