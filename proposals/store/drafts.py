"""Drafts that lack input: at most one for each section of an agent's session."""

from typing import Any

from proposals.canonical import canonical, loads
from proposals.drafts import Draft, kept
from proposals.turn import Scope

from .file import File
from .rows import ms, sure

NEWEST = 200
"""How many drafts of one agent are kept, over all of its sessions: it names those as it likes."""


class Drafts(File):
    """The drafts' part of the store."""

    def drafts(self, scope: Scope) -> list[Draft]:
        """What still lacks input, oldest first."""
        rows = self.rows(
            "SELECT * FROM draft WHERE agent = :a AND session = :s ORDER BY at, id",
            a=scope.agent,
            s=scope.session,
        )
        return [_draft_of(r) for r in rows]

    def discard_draft(self, scope: Scope, id_: str) -> bool:
        """Let a draft go and look that it is gone; False: there was none of this id."""
        with self.tx():
            known = [d.id for d in self.drafts(scope)]
            self.change("DELETE FROM draft WHERE id = :id AND agent = :a AND session = :s",
                        {"id": id_, "a": scope.agent, "s": scope.session})  # fmt: skip
            return id_ in known and id_ not in [d.id for d in self.drafts(scope)]

    def _keep_draft(self, scope: Scope, draft: Draft) -> None:
        """Keep a draft in the place of an older one; the same one stays confronted.

        The oldest of an agent that has too many are let go.
        """
        self.change(
            """INSERT INTO draft(id, agent, session, section, tool, arguments, why, at)
            VALUES (:id, :agent, :session, :section, :tool, :arguments, :why, :at)
            ON CONFLICT(agent, session, section) DO UPDATE SET id = excluded.id,
            tool = excluded.tool, arguments = excluded.arguments, why = excluded.why,
            at = excluded.at,
            confronted = CASE WHEN draft.id = excluded.id THEN draft.confronted ELSE 0 END""",
            {
                "id": draft.id,
                "agent": scope.agent,
                "session": scope.session,
                "section": draft.section,
                "tool": draft.tool,
                "arguments": canonical(kept(draft.arguments)).decode(),
                "why": draft.why[:500],
                "at": ms(draft.at),
            },
        )
        self.change(
            """DELETE FROM draft WHERE agent = :a AND id NOT IN (SELECT id FROM draft
            WHERE agent = :a ORDER BY at DESC, id LIMIT :n)""",
            {"a": scope.agent, "n": NEWEST},
        )

    def _settle_section(self, scope: Scope, section: str) -> None:
        self.change(
            "DELETE FROM draft WHERE agent = :a AND session = :s AND section = :section",
            {"a": scope.agent, "s": scope.session, "section": section},
        )

    def _confronted(self, ids: tuple[str, ...]) -> None:
        for id_ in ids:
            self.change("UPDATE draft SET confronted = 1 WHERE id = :id", {"id": id_})


def _draft_of(row: dict[str, Any]) -> Draft:
    return Draft(
        **{n: row[n] for n in ("id", "section", "tool", "why")},
        arguments=loads(row["arguments"]),
        at=sure(row["at"]),
        confronted=bool(row["confronted"]),
    )
