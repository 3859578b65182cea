"""History that comes back from signed statements, after the store was lost or is too old."""

from datetime import datetime
from typing import Any

from proposals.lifecycle import State
from proposals.plan import Proposal

from .asked import _GIVEN, Asked, _call, _text
from .rows import columns, ms
from .statements import Numbered

_KNOWN = ("pinned", "summary", "policy_blob", "place", "nonce", "reason", "why", "outcome")


class Restoring(Asked):
    """The part of the store that takes in what a ledger says."""

    def adopt(self, proposal: Proposal, now: datetime, ended: datetime | None) -> bool:
        """Keep a proposal of an earlier store as it stands; False when it is known."""
        values = columns(
            **{n: getattr(proposal, n) for n in _GIVEN},
            **{n: found for n in _KNOWN if (found := getattr(proposal, n)) is not None},
            arguments=_text(proposal.arguments),
            call=_call(proposal),
        )
        values["ended"] = ms(ended) if ended else None
        names, marks = ", ".join(values), ", ".join(f":{n}" for n in values)
        with self.tx():
            new = self.change(
                f"INSERT INTO proposal({names}) VALUES ({marks}) ON CONFLICT DO NOTHING",  # noqa: S608
                values,
            )
            if new:
                self._note(proposal.id, "restored", ("", proposal.state), now)
        return bool(new)

    def take_in(self, found: Numbered) -> bool:
        """Keep a statement that stands on the ledger; False when it is known.

        Whatever was still to be written in its place, or under its number, never will be.
        """
        values = {
            "r": found.repository,
            "s": found.seq,
            "p": found.proposal,
            "k": found.kind,
            "t": found.text,
            "d": found.digest,
        }
        with self.tx():
            self.change(
                """DELETE FROM statement WHERE written = 0
                AND ((repository = :r AND seq = :s) OR (proposal = :p AND kind = :k))""",
                {n: values[n] for n in "rspk"},
            )
            return bool(
                self.change(
                    """INSERT INTO statement(repository, seq, proposal, kind, text, digest, written)
                    VALUES (:r, :s, :p, :k, :t, :d, 1) ON CONFLICT DO NOTHING""",
                    values,
                )
            )

    def correct(self, id_: str, now: datetime, target: State, **known: Any) -> None:
        """Overrule what this store thought had ended: a ledger says that it was started.

        No move leads there, for nothing happened now; and nobody is told what was never so.
        """
        values = columns(**known) | {"state": target}
        sets = ", ".join(f"{name} = :{name}" for name in values)
        with self.tx():
            self.change(
                f"UPDATE proposal SET {sets} WHERE id = :id AND state = 'ended'",  # noqa: S608
                values | {"id": id_},
            )
            self._note(id_, "restored", (State.ENDED, target), now, str(known.get("why", "")))
            self.silence(id_, "the ledger says that it was started by another server")

    def took_back(self, original: str, undo: str) -> None:
        """Keep that an applied undo took a proposal back, as a ledger says."""
        with self.tx():
            self.change(
                """UPDATE proposal SET undone_by = :u, last_undo = :u, last_undo_is = 'undone'
                WHERE id = :o""",
                {"u": undo, "o": original},
            )

    def silence(self, proposal: str, why: str) -> None:
        """Tell nothing more of a proposal: what this store knows of it is wrong."""
        with self.tx():
            self.change(
                "UPDATE outbox SET done = 1, problem = :w WHERE proposal = :p AND done = 0",
                {"p": proposal, "w": why[:500]},
            )
