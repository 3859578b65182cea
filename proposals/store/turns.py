"""Turns: what an agent called in each, and how all of it stands by what the store knows now."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from proposals.answer import answer, undo_note
from proposals.drafts import ACCEPTED, Correction, Draft, guard
from proposals.turn import Scope, Stood, Turn, report

from .drafts import Drafts
from .file import Row
from .rows import ms, proposal_of, sure, when

_OF = "agent = :agent AND session = :session"
_MINE = f"SELECT proposal FROM called WHERE {_OF}"  # noqa: S608


class Turns(Drafts):
    """The turns' part of the store."""

    def open_turn(self, scope: Scope, id_: str, now: datetime) -> dict[str, Any]:
        """Open a turn and close the one before; the report of that one as it stands now.

        The first turn of a session has nothing before it: its own report comes back.
        """
        with self.tx():
            self._close(scope, now)
            before = self._turn(scope, f"{_OF} ORDER BY seq DESC LIMIT 1")
            self.change(
                """INSERT INTO turn(id, agent, session, opened)
                VALUES (:id, :agent, :session, :now)""",
                _named(scope) | {"id": id_, "now": ms(now)},
            )
            return self._report(before or Turn(id_, scope, now))

    def close_turn(self, scope: Scope, now: datetime) -> dict[str, Any] | None:
        """Close the open turn; its report, or None when none is open."""
        with self.tx():
            current = self._current(scope)
            self._close(scope, now)
            return self._report(current) if current else None

    def turn_report(self, scope: Scope, now: datetime) -> dict[str, Any]:
        """The report of the open turn; without one, of what happened since the last call."""
        with self._mutex:  # it is told also when nothing can be written
            return self._report(self._current(scope) or self._since_last_call(scope, now))

    def record_call(
        self, scope: Scope, told: Mapping[str, Any], section: str, now: datetime
    ) -> None:
        """Remember a call by the `placet.call/v1` it got; an accepted one settles its section."""
        error = told["error"] or {}
        with self.tx():
            self.change(
                f"""INSERT INTO called(agent, session, turn, tool, proposal, status, why, at)
                VALUES (:agent, :session, (SELECT id FROM turn WHERE {_OF} AND closed IS NULL),
                :tool, :proposal, :status, :why, :now)""",  # noqa: S608
                _named(scope)
                | {n: told[n] for n in ("tool", "proposal", "status")}
                | {"why": str(error.get("message") or "")[:500], "now": ms(now)},
            )
            if told["status"] in ACCEPTED:
                self._settle_section(scope, section)

    def told_applied(self, proposal: str) -> bool:
        """Whether a call of an agent was answered before that this proposal was applied."""
        sql = "SELECT 1 FROM called WHERE proposal = :p AND status = 'applied' LIMIT 1"
        return self.row(sql, p=proposal) is not None

    def record_draft(self, scope: Scope, draft: Draft) -> None:
        """Remember a call that lacks input, both as a call of the turn and as what is pending."""
        told = {"tool": draft.tool, "proposal": None, "status": "draft"}
        with self.tx():
            self.record_call(scope, told | {"error": {"message": draft.why}}, "", draft.at)
            self._keep_draft(scope, draft)

    def confront(self, scope: Scope) -> Correction | None:
        """Run the guard at the end of the open turn; what it asks about is asked about once."""
        with self.tx():
            current = self._current(scope)
            if current is None:
                return None
            found = guard(self.drafts(scope), self._report(current)["entries"])
            if found:
                self._confronted(found.drafts)
            return found

    def _close(self, scope: Scope, now: datetime) -> None:
        self.change(
            f"UPDATE turn SET closed = :now WHERE {_OF} AND closed IS NULL",  # noqa: S608
            _named(scope) | {"now": ms(now)},
        )

    def _current(self, scope: Scope) -> Turn | None:
        return self._turn(scope, f"{_OF} AND closed IS NULL")

    def _turn(self, scope: Scope, where: str) -> Turn | None:
        row = self.row(f"SELECT * FROM turn WHERE {where}", **_named(scope))  # noqa: S608
        if row is None:
            return None
        return Turn(row["id"], scope, sure(row["opened"]), when(row["closed"]))

    def _since_last_call(self, scope: Scope, now: datetime) -> Turn:
        """What is reported without turns: from the call before the newest one on."""
        rows = self.rows(
            f"SELECT at FROM called WHERE {_OF} ORDER BY seq DESC LIMIT 2",  # noqa: S608
            **_named(scope),
        )
        return Turn(None, scope, sure(rows[-1]["at"]) if rows else now)

    def _report(self, turn: Turn) -> dict[str, Any]:
        called = self._called(turn)
        known = {id_: self._proposal(id_) for id_ in {r["proposal"] for r in called} - {None}}
        calls = {_name(row): known.get(row["proposal"]) or _alone(row) for row in called}
        ended = [_stood(row) for row in self._ended(turn) if row["id"] not in known]
        drafts = [d.told() for d in self.drafts(turn.scope)]
        return report(turn, list(calls.values()), ended, drafts)

    def _proposal(self, id_: str) -> Stood | None:
        row = self.row("SELECT * FROM proposal WHERE id = :id", id=id_)
        return _stood(row) if row else None

    def _called(self, turn: Turn) -> list[Row]:
        """The calls of a turn, oldest first; without an id the newest one alone."""
        if turn.id:
            return self.rows("SELECT * FROM called WHERE turn = :t ORDER BY seq", t=turn.id)
        return self.rows(
            f"SELECT * FROM called WHERE {_OF} ORDER BY seq DESC LIMIT 1",  # noqa: S608
            **_named(turn.scope),
        )

    def _ended(self, turn: Turn) -> list[Row]:
        """What came to its end since the turn before was closed, and what people made of it."""
        since = ms(turn.since)
        if turn.id:
            row = self.row(
                f"""SELECT max(closed) AS at FROM turn WHERE {_OF}
                AND seq < (SELECT seq FROM turn WHERE id = :id)""",  # noqa: S608
                **_named(turn.scope),
                id=turn.id,
            )
            since = (row and row["at"]) or since
        return self.rows(
            f"""SELECT * FROM proposal WHERE agent = :agent AND ended >= :since
            AND state IN ('applied', 'failed', 'unknown', 'ended')
            AND (id IN ({_MINE}) OR undoes IN ({_MINE}) OR parent IN ({_MINE}))
            ORDER BY ended, id""",  # noqa: S608
            **_named(turn.scope),
            since=since,
        )


def _named(scope: Scope) -> dict[str, Any]:
    return {"agent": scope.agent, "session": scope.session}


def _name(row: Row) -> tuple[str, ...]:
    """What makes two calls one entry: their proposal, or all that is known of them."""
    if row["proposal"]:
        return (row["proposal"],)
    return ("", row["tool"], row["status"], row["why"])


def _alone(row: Row) -> Stood:
    """A call that has no proposal: denied, or lacking input."""
    told = {n: row[n] for n in ("tool", "proposal", "status")}
    error = {"message": row["why"]}
    return Stood(told | {"error": error, "_verification": {"verdict": "none"}}, sure(row["at"]))


def _stood(row: Row) -> Stood:
    proposal = proposal_of(row)
    note = f"undone since by {proposal.undone_by}" if proposal.undone_by else undo_note(proposal)
    note = f"it took {proposal.undoes} back" if proposal.undoes else note
    return Stood(answer(proposal), when(row["ended"]), note)
