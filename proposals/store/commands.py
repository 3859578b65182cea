"""Commands of people, kept until they are answered: what broke off is taken up again."""

from dataclasses import dataclass
from datetime import datetime

from .file import File
from .rows import ms, sure


@dataclass(frozen=True, slots=True)
class Unanswered:
    """One command: on which proposal, the fact it is of, the caller's text of it, since when.

    `tries`: how often it was taken up and not answered.
    """

    proposal: str
    key: str
    text: str
    at: datetime
    tries: int = 0


class Commands(File):
    """The commands' part of the store."""

    def keep_command(self, command: Unanswered) -> None:
        """Keep a command, once however often it is delivered."""
        with self.tx():
            self.change(
                """INSERT INTO command(proposal, key, text, at) VALUES (:p, :k, :text, :at)
                ON CONFLICT(proposal, key) DO NOTHING""",
                {
                    "p": command.proposal,
                    "k": command.key,
                    "text": command.text,
                    "at": ms(command.at),
                },
            )

    def commands(self) -> list[Unanswered]:
        """Every command that has no answer yet, oldest first."""
        rows = self.rows("SELECT * FROM command ORDER BY at, rowid")
        names = ("proposal", "key", "text", "tries")
        return [Unanswered(**{n: row[n] for n in names}, at=sure(row["at"])) for row in rows]

    def trying_command(self, proposal: str, key: str) -> None:
        """Record that a command is taken up now."""
        with self.tx():
            self.change(
                "UPDATE command SET tries = tries + 1 WHERE proposal = :p AND key = :k",
                {"p": proposal, "k": key},
            )

    def answered(self, proposal: str, key: str) -> None:
        """Forget a command: what came of it is in the store as well."""
        with self.tx():
            self.change(
                "DELETE FROM command WHERE proposal = :p AND key = :k", {"p": proposal, "k": key}
            )
