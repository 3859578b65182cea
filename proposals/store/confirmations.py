"""Confirmations: which token was shown with which plan, and whether it has started something."""

from datetime import datetime
from typing import Any

from proposals.confirm import Bound, Confirmation

from .file import File
from .rows import ms, sure, when

CONFIRMED = """(mode != 'confirm' OR EXISTS (SELECT 1 FROM confirmation AS c
        WHERE c.token = :token AND c.proposal = proposal.id AND c.agent = proposal.agent
        AND c.plan = proposal.digest AND c.used IS NULL AND c.expires > :now))"""
"""What the starting UPDATE asks of a proposal in mode `confirm`, and of no other."""
_UNBOUND = f"SELECT id FROM proposal WHERE id = :id AND {CONFIRMED}"  # noqa: S608


NEWEST = 20
"""How many unused tokens of one preview are kept: an agent that repeats its call gets new ones."""


class Confirmations(File):
    """The confirmations' part of the store; a used one is never deleted, so it is told apart."""

    def keep_confirmation(self, confirmation: Confirmation) -> None:
        """Keep a token that is about to be shown, and of its preview only the newest few unused."""
        with self.tx():
            self.change(
                """INSERT INTO confirmation(token, proposal, agent, call, plan, created, expires)
                VALUES (:token, :proposal, :agent, :call, :plan, :created, :expires)""",
                {
                    "token": confirmation.token,
                    "proposal": confirmation.proposal,
                    "agent": confirmation.bound.agent,
                    "call": confirmation.bound.call,
                    "plan": confirmation.bound.plan,
                    "created": ms(confirmation.created),
                    "expires": ms(confirmation.expires),
                },
            )
            self.change(
                """DELETE FROM confirmation WHERE used IS NULL AND proposal = :p AND rowid NOT IN
                (SELECT rowid FROM confirmation WHERE used IS NULL AND proposal = :p
                ORDER BY rowid DESC LIMIT :n)""",
                {"p": confirmation.proposal, "n": NEWEST},
            )

    def confirmation(self, token: str) -> Confirmation | None:
        """What is kept of the token with this hex SHA-256."""
        row = self.row("SELECT * FROM confirmation WHERE token = :t", t=token)
        return _confirmation_of(row) if row else None

    def bound(self, proposal: str) -> bool:
        """Whether nothing but its token starts a proposal; asked of the start's own condition."""
        return self.row(_UNBOUND, id=proposal, token=None, now=0) is None

    def consume(self, proposal: str, token: str | None, now: datetime) -> None:
        """Use a token up, if there is one, inside its proposal's start.

        LookupError, and with it the end of that start, when it cannot be used: two never start.
        """
        if token is None:
            return
        won = self.change(
            """UPDATE confirmation SET used = :now WHERE token = :t AND proposal = :p
            AND used IS NULL AND expires > :now""",
            {"t": token, "p": proposal, "now": ms(now)},
        )
        if not won:
            raise LookupError("this confirmation cannot be used for this start")


def _confirmation_of(row: dict[str, Any]) -> Confirmation:
    return Confirmation(
        row["token"],
        Bound(row["agent"], row["call"], row["plan"]),
        row["proposal"],
        sure(row["created"]),
        sure(row["expires"]),
        when(row["used"]),
    )
