"""The book of a torture: what was asked, what was done, and the sum at the end."""

import random
from collections import Counter
from dataclasses import dataclass, field

from sandbox.stage import REPOSITORY

from .machine import FORGOTTEN, Machine


@dataclass(slots=True)
class Book:
    """`asked`: proposal by its number; `approved`: those that a person said yes to."""

    dice: random.Random
    asked: dict[int, str] = field(default_factory=dict)
    approved: set[int] = field(default_factory=set)
    ways: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    double: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unknown: int = 0

    @property
    def kills(self) -> int:
        """How often the server was killed; a pause is none."""
        return sum(self.ways.values()) - self.ways["paused"]

    def count(self, made: Machine, audited: str) -> None:
        """Compare what every proposal says with the lines that its tool has left.

        `audited`: what an audit of the ledger found wrong.
        """
        self.wrong += [audited] if audited else []
        runs = made.runs()
        self.double = [n for n in self.asked if runs[n] > 1]
        for n, id_ in self.asked.items():
            state = made.last[id_]["status"]
            self.states[state] += 1
            if n in self.approved and state not in ("applied", "failed", "ended", FORGOTTEN):
                self.lost.append(n)
            if state != FORGOTTEN and (state == "applied") is not (runs[n] == 1):
                self.wrong.append(f"{id_} is {state}, its tool ran {runs[n]} times")
            if made.pulls(id_) > 1:
                self.wrong.append(f"{id_} has {made.pulls(id_)} pull requests")
        self.lost += [-1] * len(self.wrong)

    def table(self) -> str:
        """The book as people read it."""
        rows = [("proposals", len(self.asked)), ("approved", len(self.approved))]
        rows += [("kills", self.kills), *((f"  {w}", n) for w, n in sorted(self.ways.items()))]
        rows += [("outcomes unknown, settled by reading or a person", self.unknown)]
        rows += [(f"  {state}", n) for state, n in sorted(self.states.items())]
        lines = [f"{name:56} {number:6}" for name, number in rows]
        lines += ["" if self.wrong else "Every number agrees with what the tool did; audit clean."]
        return "\n".join([f"repository {REPOSITORY}", *lines, *self.wrong])
