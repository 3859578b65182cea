"""The outbox: what GitHub must still be told, in order per proposal, never forgotten."""

from collections.abc import Iterable
from datetime import datetime

from .file import File
from .rows import Step, ms, step_of

_ANEW = "seq = (SELECT max(seq) + 1 FROM outbox), due = :due, tries = 0, done = 0"


class Outbox(File):
    """The outbox's part of the store."""

    def post(self, proposal: str, steps: Iterable[Step], now: datetime) -> None:
        """Queue steps; `show` comes anew after all others, any other is queued once for ever.

        A `show` that is being sent right now shows what was, so its end does not end the new one.
        """
        with self.tx():
            for step in steps:
                again = _ANEW if step.step == "show" else "due = due"
                self.change(
                    f"""INSERT INTO outbox(proposal, step, key, text, due)
                    VALUES (:proposal, :step, :key, :text, :due)
                    ON CONFLICT(proposal, step, key) DO UPDATE SET {again}""",  # noqa: S608
                    {
                        "proposal": proposal,
                        "step": step.step,
                        "key": step.key,
                        "text": step.text,
                        "due": ms(now),
                    },
                )

    def posted(self, proposal: str, step: Step) -> bool:
        """Whether this very step was queued before, sent or not."""
        sql = "SELECT seq FROM outbox WHERE proposal = :p AND step = :s AND key = :k"
        return self.row(sql, p=proposal, s=step.step, k=step.key) is not None

    def answer(self, proposal: str, key: str) -> Step | None:
        """What was said of a fact on a proposal's page, as it was queued."""
        sql = "SELECT * FROM outbox WHERE proposal = :p AND step = 'reply' AND key = :k"
        row = self.row(sql, p=proposal, k=key)
        return step_of(row) if row else None

    def due(self, now: datetime, limit: int = 50) -> list[Step]:
        """The next step of each proposal that has one due, oldest first."""
        rows = self.rows(
            """SELECT * FROM outbox AS o WHERE done = 0 AND due <= :now AND NOT EXISTS (
            SELECT 1 FROM outbox WHERE proposal = o.proposal AND done = 0 AND seq < o.seq)
            ORDER BY seq LIMIT :n""",
            now=ms(now),
            n=limit,
        )
        return [step_of(r) for r in rows]

    def next_due(self) -> int | None:
        """When the next step is due (milliseconds), or None when nothing waits."""
        row = self.row("SELECT min(due) AS due FROM outbox WHERE done = 0")
        return row["due"] if row else None

    def trying(self, seq: int) -> None:
        """Record that a step is sent now: whoever sends it once more must look first."""
        with self.tx():
            self.change("UPDATE outbox SET tries = tries + 1 WHERE seq = :s", {"s": seq})

    def sent(self, seq: int, problem: str = "") -> None:
        """Record that a step is done, or given up with this problem."""
        with self.tx():
            self.change(
                "UPDATE outbox SET done = 1, problem = :p WHERE seq = :s",
                {"s": seq, "p": problem[:500]},
            )

    def later(self, seq: int, due: datetime, problem: str) -> None:
        """Try a step again at `due`."""
        with self.tx():
            self.change(
                "UPDATE outbox SET due = :due, problem = :p WHERE seq = :s",
                {"s": seq, "due": ms(due), "p": problem[:500]},
            )

    def hurry(self, repository: int, now: datetime) -> None:
        """Let everything that waits for this repository be tried at once: it can be used again."""
        with self.tx():
            self.change(
                """UPDATE outbox SET due = :now WHERE done = 0 AND due > :now AND proposal IN
                (SELECT id FROM proposal WHERE repository = :r)""",
                {"now": ms(now), "r": repository},
            )
