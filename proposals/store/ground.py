"""What the store knows of the ground it works on: ledgers' tips, and problems for the operator."""

from dataclasses import dataclass
from datetime import datetime

from .file import File
from .rows import ms, when


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a person must see to: its stable `code`, why, and since when.

    `repository` is GitHub's id; `proposal` is "" for what is about the whole repository.
    """

    repository: int
    code: str
    why: str
    at: datetime | None = None
    proposal: str = ""


class Ground(File):
    """The ground's part of the store."""

    def ledger_tip(self, repository: int) -> str | None:
        """The last commit of a ledger branch that was seen after a write of ours."""
        row = self.row("SELECT tip FROM ledger WHERE repository = :r", r=repository)
        return str(row["tip"]) if row else None

    def ledger_moved(self, repository: int, tip: str) -> None:
        """Remember the commit that a ledger branch points at now."""
        with self.tx():
            self.change(
                """INSERT INTO ledger(repository, tip) VALUES (:r, :t)
                ON CONFLICT(repository) DO UPDATE SET tip = :t""",
                {"r": repository, "t": tip},
            )

    def forget_tip(self, repository: int) -> None:
        """Know nothing of a ledger branch any more: an operator has looked at it."""
        with self.tx():
            self.change("DELETE FROM ledger WHERE repository = :r", {"r": repository})

    def trouble(self, found: Problem, now: datetime) -> None:
        """Keep a problem; it keeps the moment when it was first seen."""
        with self.tx():
            self.change(
                """INSERT INTO problem(repository, code, proposal, why, at)
                VALUES (:r, :c, :p, :w, :now)
                ON CONFLICT(repository, code, proposal) DO UPDATE SET why = :w""",
                {
                    "r": found.repository,
                    "c": found.code,
                    "p": found.proposal,
                    "w": found.why[:500],
                    "now": ms(now),
                },
            )

    def solved(self, repository: int, code: str | None = None, proposal: str = "") -> int:
        """Forget a problem, or (without a code) all of a repository or proposal; how many."""
        with self.tx():
            return self.change(
                """DELETE FROM problem WHERE repository = :r AND proposal = :p
                AND (:c IS NULL OR code = :c)""",
                {"r": repository, "c": code, "p": proposal},
            )

    def problems(self, repository: int | None = None) -> list[Problem]:
        """Every problem that is there, the oldest first."""
        rows = self.rows(
            "SELECT * FROM problem WHERE :r IS NULL OR repository = :r ORDER BY at, code, proposal",
            r=repository,
        )
        return [
            Problem(r["repository"], r["code"], r["why"], when(r["at"]), r["proposal"])
            for r in rows
        ]
