"""The life of proposals: every move is a compare-and-swap, written down with its reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from proposals.lifecycle import ALIVE, Event, State, move
from proposals.plan import Proposal, undo_standing

from .asked import SAME_BOX, Asked
from .confirmations import CONFIRMED, Confirmations
from .deliveries import ABOUT, PAGE
from .rows import Step, columns, ms, proposal_of

_UNFINISHED = "state NOT IN ('applied', 'failed', 'ended')"
_MEMBERS = frozenset(
    (
        *("pinned", "summary", "policy", "policy_blob", "policy_guarded", "place", "valid_from"),
        *("moved", "edits", "contributors", "people", "behind", "candidates", "nonce"),
        *("policy_weakness", "reason", "why", "verdict", "outcome", "expires", "sealed", "mode"),
        "unsettled",
    )
)


# A delivery that waits to be read may hold a no: it stops the start like one that was read.
_START = f"""UPDATE proposal SET state = 'started' WHERE id = :id AND state = 'claimed'
    AND nonce = :nonce AND digest = :digest AND evidence_rev = :evidence_rev
    AND expires > :now AND :valid_until > :now AND moved = 0 AND {CONFIRMED} AND NOT EXISTS (
        SELECT 1 FROM delivery AS d WHERE d.done = 0 AND {ABOUT.replace(":guid", "d.guid")})
    AND NOT EXISTS (SELECT 1 FROM halt
        WHERE scope = '' OR scope = 'repository:' || proposal.repository)"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Started:
    """Conditions of a start, all in its one UPDATE; `token`: the hash of mode `confirm`'s token."""

    nonce: str
    digest: str
    evidence_rev: int
    valid_until: datetime
    token: str | None = None


class Life(Asked, Confirmations):
    """The proposals' part of the store."""

    def proposal(self, id_: str) -> Proposal | None:
        """The proposal of this id."""
        row = self.row("SELECT * FROM proposal WHERE id = :id", id=id_)
        return proposal_of(row) if row else None

    def proposals(
        self, agent: str | None = None, state: State | None = None, limit: int = 50
    ) -> list[Proposal]:
        """Proposals, newest first."""
        rows = self.rows(
            """SELECT * FROM proposal WHERE (:agent IS NULL OR agent = :agent)
            AND (:state IS NULL OR state = :state) ORDER BY created DESC, id LIMIT :n""",
            agent=agent,
            state=state,
            n=limit,
        )
        return [proposal_of(r) for r in rows]

    def done_since(self, proposal: Proposal) -> list[Proposal]:
        """What the same box did, or may have done, after an applied one and still stands.

        By whichever of its tools, newest first, in the same repository; undos and what they took
        back are left out.
        """
        rows = self.rows(
            f"""SELECT p.* FROM proposal AS p
            JOIN (SELECT proposal, max(seq) AS seq FROM history GROUP BY proposal) AS h
            ON h.proposal = p.id
            WHERE {SAME_BOX} AND p.repository = :repository AND p.id != :id
            AND p.state IN ('started', 'unknown', 'applied') AND p.undoes IS NULL
            AND p.undone_by IS NULL AND (p.state = 'started'
                OR h.seq > (SELECT max(seq) FROM history WHERE proposal = :id))
            ORDER BY h.seq DESC""",  # noqa: S608
            id=proposal.id,
            box=f"{proposal.box}.",
            repository=proposal.repository,
        )
        return [proposal_of(r) for r in rows]

    def alive(self) -> list[Proposal]:
        """Every proposal that is not over, oldest first; also those started or unknown."""
        rows = self.rows(
            f"SELECT * FROM proposal WHERE {_UNFINISHED} ORDER BY created, id"  # noqa: S608
        )
        return [proposal_of(r) for r in rows]

    def alive_ids(self) -> frozenset[str]:
        """As `alive`, by their ids alone."""
        rows = self.rows(f"SELECT id FROM proposal WHERE {_UNFINISHED}")  # noqa: S608
        return frozenset(row["id"] for row in rows)

    def opening(self) -> list[Proposal]:
        """What is planned and is about to be shown to people, oldest first.

        A preview waits for its token instead.
        """
        rows = self.rows(
            "SELECT * FROM proposal WHERE state = 'pinned' AND mode NOT IN ('confirm', 'announce')"
            " ORDER BY created, id"
        )
        return [proposal_of(r) for r in rows]

    def followed(self, id_: str, since: datetime) -> Proposal | None:
        """The newest proposal that was asked for in the place of this one since then.

        One that broke off while it was planned followed nothing.
        """
        row = self.row(
            """SELECT * FROM proposal WHERE parent = :id AND created >= :since
            AND coalesce(reason, '') != 'interrupted' ORDER BY created DESC LIMIT 1""",
            id=id_,
            since=ms(since),
        )
        return proposal_of(row) if row else None

    def on(self, repository: int, number: int) -> list[Proposal]:
        """The proposals on this pull request, oldest first: its own one, or all tied to it."""
        rows = self.rows(
            f"SELECT * FROM proposal WHERE {PAGE} = :r AND number = :n ORDER BY created, id",  # noqa: S608
            r=repository,
            n=number,
        )
        return [proposal_of(row) for row in rows]

    def by_check(self, repository: int, check_run: int) -> Proposal | None:
        """The proposal that this check run shows."""
        row = self.row(
            f"SELECT * FROM proposal WHERE {PAGE} = :r AND check_run = :c",  # noqa: S608
            r=repository,
            c=check_run,
        )
        return proposal_of(row) if row else None

    def shown_on(self, repository: int, head: str) -> bool:
        """Whether this commit is the page of a proposal that has one of its own."""
        sql = "SELECT id FROM proposal WHERE repository = :r AND head = :h AND page IS NULL LIMIT 1"
        return self.row(sql, r=repository, h=head) is not None

    def by_branch(self, repository: int, branch: str) -> Proposal | None:
        """The proposal whose plan lies on this branch."""
        row = self.row(
            "SELECT * FROM proposal WHERE repository = :r AND branch = :b", r=repository, b=branch
        )
        return proposal_of(row) if row else None

    def move(
        self, id_: str, event: Event, now: datetime, steps: Iterable[Step] = (), **changes: Any
    ) -> Proposal:
        """Move a proposal and queue what GitHub must be told of it, all in one transaction.

        Raises lifecycle.IllegalMoveError when the state does not allow it; nothing changes then.
        """
        if not changes.keys() <= _MEMBERS:
            raise TypeError(f"{changes.keys() - _MEMBERS} cannot change")
        with self.tx():
            source = self._sure(id_).state
            target = move(source, event)
            values = columns(**changes) | {"state": target}
            if target not in ALIVE:
                values["ended"] = ms(now)
            sets = ", ".join(f"{n} = :{n}" for n in values)
            self.change(
                f"UPDATE proposal SET {sets} WHERE id = :id AND state = :source",  # noqa: S608
                values | {"id": id_, "source": source},
            )
            self._note(id_, event, (source, target), now, str(changes.get("why", "")))
            moved = self._sure(id_)
            self._undoing(moved)
            self.post(id_, steps, now)
            return moved

    def start(self, id_: str, conditions: Started, now: datetime) -> bool:
        """Start, if everything that was judged still holds at this very moment.

        One UPDATE whose WHERE carries every condition; `now` must be taken after entering `tx`.
        False: something changed, judge again.
        """
        with self.tx():
            won = self.change(
                _START,
                columns(
                    id=id_,
                    now=now,
                    nonce=conditions.nonce,
                    digest=conditions.digest,
                    evidence_rev=conditions.evidence_rev,
                    valid_until=conditions.valid_until,
                    token=conditions.token,
                ),
            )
            if won:
                self.consume(id_, conditions.token, now)
                move(State.CLAIMED, Event.START)
                self._note(id_, Event.START, (State.CLAIMED, State.STARTED), now)
                self._undoing(self._sure(id_))
        return won == 1

    def note(self, id_: str, **changes: Any) -> Proposal:
        """Change what is known of a proposal without moving it."""
        if not changes.keys() <= _MEMBERS:
            raise TypeError(f"{changes.keys() - _MEMBERS} cannot change")
        values = columns(**changes)
        sets = ", ".join(f"{n} = :{n}" for n in values)
        if "valid_from" in changes:  # what was judged by the old one must be judged again
            sets += ", evidence_rev = evidence_rev + 1"
        with self.tx():
            self.change(f"UPDATE proposal SET {sets} WHERE id = :id", values | {"id": id_})  # noqa: S608
            return self._sure(id_)

    def history(self, id_: str) -> list[dict[str, Any]]:
        """Every move of a proposal: at (ms), event, source, target, why."""
        sql = "SELECT at, event, source, target, why FROM history WHERE proposal = :p ORDER BY seq"
        return self.rows(sql, p=id_)

    def holds_secrets(self) -> bool:
        """Whether something of a proposal is sealed here."""
        return self.row("SELECT id FROM proposal WHERE sealed != '' LIMIT 1") is not None

    def counts(self) -> dict[str, int]:
        """How many proposals are in each state, and what waits in the inbox and the outbox."""
        rows = self.rows("SELECT state, count(*) AS n FROM proposal GROUP BY state")
        waiting = {
            name: self.rows(f"SELECT count(*) AS n FROM {table} WHERE done = 0")[0]["n"]  # noqa: S608
            for name, table in (("inbox", "delivery"), ("outbox", "outbox"))
        }
        return dict.fromkeys(State, 0) | {r["state"]: r["n"] for r in rows} | waiting

    def _sure(self, id_: str) -> Proposal:
        found = self.proposal(id_)
        if found is None:
            raise LookupError(f"there is no proposal {id_}")
        return found

    def _undoing(self, undo: Proposal) -> None:
        """Keep with what an undo takes back how that stands; an earlier undo's word stays."""
        if undo.undoes is None:
            return
        word = undo_standing(undo)
        self.change(
            """UPDATE proposal SET last_undo = :by, last_undo_is = :word WHERE id = :of
            AND (:word != '' OR last_undo = :by)""",
            {"by": undo.id, "word": word, "of": undo.undoes},
        )
        if undo.state is State.APPLIED:
            self.change(
                "UPDATE proposal SET undone_by = :by WHERE id = :of",
                {"by": undo.id, "of": undo.undoes},
            )
