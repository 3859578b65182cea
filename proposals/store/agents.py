"""Agents: who may ask. Only the SHA-256 of a token is kept."""

import json
import sqlite3
from datetime import datetime

from .file import File
from .rows import Agent, agent_of, ms


class NameTaken(Exception):
    """An agent of this name exists, perhaps revoked; names are never used again."""


class Agents(File):
    """The agents' part of the store."""

    def add_agent(self, name: str, token: str, identities: frozenset[int], now: datetime) -> Agent:
        """Add an agent with the hex SHA-256 of its token, or raise NameTaken."""
        try:
            with self.tx():
                self.change(
                    """INSERT INTO agent(name, token, identities, created)
                    VALUES (:name, :token, :identities, :now)""",
                    {
                        "name": name,
                        "token": token,
                        "identities": json.dumps(sorted(identities)),
                        "now": ms(now),
                    },
                )
        except sqlite3.IntegrityError:
            raise NameTaken(
                f"an agent named {name!r} exists already; choose another name"
            ) from None
        return Agent(name, identities, now)

    def agent_by_token(self, token: str) -> Agent | None:
        """The agent whose token has this hex SHA-256, unless it is revoked."""
        row = self.row("SELECT * FROM agent WHERE token = :t AND revoked IS NULL", t=token)
        return agent_of(row) if row else None

    def agent(self, name: str) -> Agent | None:
        """The agent of this name, revoked or not."""
        row = self.row("SELECT * FROM agent WHERE name = :n", n=name)
        return agent_of(row) if row else None

    def agents(self) -> list[Agent]:
        """All agents by name, revoked ones too."""
        return [agent_of(r) for r in self.rows("SELECT * FROM agent ORDER BY name")]

    def revoke_agent(self, name: str, now: datetime) -> Agent | None:
        """Shut an agent out for good; None when there is no such agent."""
        with self.tx():
            self.change(
                "UPDATE agent SET revoked = :now WHERE name = :n AND revoked IS NULL",
                {"n": name, "now": ms(now)},
            )
        return self.agent(name)
