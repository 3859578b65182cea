"""The numbered statements of each repository, and what is halted.

A number is given when a statement is about to be written and kept until its fate is known: one in
flight per repository, so that the chain has no gap and no fork.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .file import File, Row
from .rows import ms

EVERYTHING = ""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A statement with its place in the chain; `text` is the file, `digest` of the signed part."""

    repository: int
    seq: int
    proposal: str
    kind: str
    text: str
    digest: str
    written: bool = False


@dataclass(frozen=True, slots=True)
class Last:
    """The place of a ledger's newest statement in the chain."""

    seq: int
    digest: str


Make = Callable[[int, str | None], tuple[str, str]]


class Statements(File):
    """The statements' part of the store."""

    def reserve(
        self, repository: int, proposal: str, kind: str, make: Make, after: Last | None = None
    ) -> Numbered:
        """Give a statement the next number, or give back the one it has already.

        `make` takes the number and the digest of the one before, and returns text and digest. The
        caller has seen to it that no other statement of the repository is in flight. `after`: the
        ledger's last one, when the store may not know it.
        """
        with self.tx():
            if known := self.statement(proposal, kind):
                return known
            last = self.row(
                "SELECT seq, digest FROM statement WHERE repository = :r ORDER BY seq DESC LIMIT 1",
                r=repository,
            )
            seq, prev = (last["seq"] + 1, last["digest"]) if last else (1, None)
            if after and after.seq >= seq:
                seq, prev = after.seq + 1, after.digest
            text, digest = make(seq, prev)
            self.change(
                """INSERT INTO statement(repository, seq, proposal, kind, text, digest)
                VALUES (:r, :s, :p, :k, :t, :d)""",
                {"r": repository, "s": seq, "p": proposal, "k": kind, "t": text, "d": digest},
            )
        return Numbered(repository, seq, proposal, kind, text, digest)

    def statement(self, proposal: str, kind: str) -> Numbered | None:
        """The statement of this kind that a proposal has, written or not."""
        row = self.row(
            "SELECT * FROM statement WHERE proposal = :p AND kind = :k", p=proposal, k=kind
        )
        return numbered(row) if row else None

    def next_end(self, proposal: str) -> str:
        """The kind of the next statement of what came of it: `end`, then `end-2`, ...

        Those still to be written count as well.
        """
        known = self.rows(
            """SELECT key AS kind FROM outbox WHERE proposal = :p AND step = 'end'
            UNION SELECT kind FROM statement WHERE proposal = :p AND kind != 'start'""",
            p=proposal,
        )
        return f"end-{len(known) + 1}" if known else "end"

    def statements(self, repository: int) -> list[Numbered]:
        """All statements of a repository in the order of the chain."""
        sql = "SELECT * FROM statement WHERE repository = :r ORDER BY seq"
        return [numbered(row) for row in self.rows(sql, r=repository)]

    def in_flight(self, repository: int) -> Numbered | None:
        """The statement whose fate is not known yet; at most one per repository."""
        row = self.row(
            "SELECT * FROM statement WHERE repository = :r AND written = 0", r=repository
        )
        return numbered(row) if row else None

    def landed(self, statement: Numbered) -> None:
        """Record that a statement stands on the ledger."""
        with self.tx():
            self.change(
                "UPDATE statement SET written = 1 WHERE repository = :r AND seq = :s",
                {"r": statement.repository, "s": statement.seq},
            )

    def dropped(self, statement: Numbered) -> None:
        """Record that a statement was certainly not written: its number is free again."""
        with self.tx():
            self.change(
                "DELETE FROM statement WHERE repository = :r AND seq = :s AND written = 0",
                {"r": statement.repository, "s": statement.seq},
            )

    def halt(self, why: str, now: datetime, repository: int | None = None) -> None:
        """Let nothing start any more, everywhere or in one repository, until `resume`."""
        with self.tx():
            self.change(
                """INSERT INTO halt(scope, why, at) VALUES (:s, :w, :now)
                ON CONFLICT(scope) DO UPDATE SET why = :w""",
                {"s": scope(repository), "w": why, "now": ms(now)},
            )

    def resume(self, repository: int | None = None) -> bool:
        """Lift a halt; False when there was none."""
        with self.tx():
            return bool(self.change("DELETE FROM halt WHERE scope = :s", {"s": scope(repository)}))

    def halted(self, repository: int) -> str | None:
        """Why nothing may start in this repository now; None when it may."""
        row = self.row(
            "SELECT why FROM halt WHERE scope IN (:all, :one) ORDER BY scope LIMIT 1",
            all=EVERYTHING,
            one=scope(repository),
        )
        return str(row["why"]) if row else None

    def halts(self) -> dict[str, str]:
        """Every halt in force: the scope and why."""
        return {r["scope"]: r["why"] for r in self.rows("SELECT * FROM halt ORDER BY scope")}


def scope(repository: int | None) -> str:
    """How a halt names what it is about."""
    return EVERYTHING if repository is None else f"repository:{repository}"


def numbered(row: Row) -> Numbered:
    """The statement that a row of the statement table holds."""
    names = ("repository", "seq", "proposal", "kind", "text", "digest")
    return Numbered(**{n: row[n] for n in names}, written=bool(row["written"]))
