"""What agents have asked for: each call is kept once, and what a call already has is found."""

from datetime import datetime, timedelta
from typing import Any

from proposals.canonical import JSON, canonical, digest
from proposals.plan import Proposal, Target

from .deliveries import _LIVE
from .outbox import Outbox
from .rows import columns, ms, proposal_of

REPEAT_WINDOW = timedelta(minutes=10)
SAME_BOX = "substr(tool, 1, length(:box)) = :box"
"""Whether a tool is of the box or upstream `box`, which ends in its dot."""


class Asked(Outbox):
    """The part of the store that takes in proposals; `repeat_window`: see `same_call`."""

    repeat_window: timedelta

    def add(self, proposal: Proposal, now: datetime) -> Proposal:
        """Keep a new proposal. The same key, or a live identical call: that one comes back instead.

        The caller compares arguments when a key was given: the same key may carry another call.
        An undo is no call: the one that lives or is applied comes back instead of a second.
        """
        values = columns(
            **{n: getattr(proposal, n) for n in _GIVEN},
            arguments=_text(proposal.arguments),
            call=_call(proposal),
        )
        with self.tx():
            known = self.same_call(proposal, now)
            if known is not None:
                return known
            names = ", ".join(values)
            marks = ", ".join(f":{n}" for n in values)
            self.change(f"INSERT INTO proposal({names}) VALUES ({marks})", values)  # noqa: S608
            self._note(proposal.id, "asked", ("", proposal.state), now)
        return proposal

    def same_call(self, proposal: Proposal, now: datetime) -> Proposal | None:
        """The proposal that this call already has: by key for ever, else while it is alive.

        For the repeat window after its end too, unless the world had changed or a preview only ran
        out: that is tried again.
        """
        if proposal.undoes is not None:
            return self.undo_of(proposal.undoes)
        if proposal.key is not None:
            sql = "SELECT * FROM proposal WHERE agent = :agent AND key = :key"
        elif proposal.parent is not None:
            return None
        else:
            sql = f"""SELECT * FROM proposal WHERE agent = :agent AND call = :call
            AND key IS NULL AND ((state IN {_LIVE} AND expires > :now)
            OR state IN ('started', 'unknown')
            OR (ended > :since AND coalesce(reason, '')
                NOT IN ('drifted', 'tool_changed', 'superseded', 'mode_changed')
                AND NOT (mode != 'approve' AND coalesce(reason, '') = 'expired')))
            AND undone_by IS NULL ORDER BY created DESC LIMIT 1"""  # noqa: S608
        since = ms(now - self.repeat_window)
        call = _call(proposal)
        row = self.row(
            sql, agent=proposal.agent, key=proposal.key, call=call, since=since, now=ms(now)
        )
        return proposal_of(row) if row else None

    def rejected(self, proposal: Proposal, since: datetime) -> Proposal | None:
        """What people rejected since then: this agent's same call, or the very same plan."""
        row = self.row(
            """SELECT * FROM proposal WHERE reason = 'rejected' AND ended > :since AND id != :id
            AND (digest = :digest OR (agent = :agent AND tool = :tool AND arguments = :arguments))
            AND undoes IS NULL ORDER BY ended DESC LIMIT 1""",
            id=proposal.id,
            since=ms(since),
            digest=proposal.pinned.digest if proposal.pinned else "",
            agent=proposal.agent,
            tool=proposal.tool,
            arguments=_text(proposal.arguments),
        )
        return proposal_of(row) if row else None

    def taken_back(self, proposal: Proposal, since: datetime) -> Proposal | None:
        """The undo by which a person took the same call back since then, or the very same plan."""
        row = self.row(
            """SELECT u.* FROM proposal AS p JOIN proposal AS u ON u.id = p.last_undo
            WHERE p.last_undo IS NOT NULL AND u.asked_by IS NOT NULL
            AND p.last_undo_is IN ('undone', 'back', 'contradicted')
            AND u.ended > :since AND p.id != :id AND (p.digest = :digest
                OR (p.agent = :agent AND p.tool = :tool AND p.arguments = :arguments))
            ORDER BY u.ended DESC LIMIT 1""",
            id=proposal.id,
            since=ms(since),
            digest=proposal.pinned.digest if proposal.pinned else "",
            agent=proposal.agent,
            tool=proposal.tool,
            arguments=_text(proposal.arguments),
        )
        return proposal_of(row) if row else None

    def unknown(self, proposal: Proposal) -> list[Proposal]:
        """Starts in the same box or upstream of which nobody knows what came, newest first."""
        return self._beside(proposal, "state = 'unknown' ORDER BY created DESC")

    def waiting_beside(self, proposal: Proposal) -> list[Proposal]:
        """What people are asked about in the same box or upstream, by whatever agent."""
        return self._beside(proposal, f"state IN {_LIVE} AND head IS NOT NULL")

    def _beside(self, proposal: Proposal, which: str) -> list[Proposal]:
        sql = f"SELECT * FROM proposal WHERE id != :id AND {SAME_BOX} AND {which}"  # noqa: S608
        rows = self.rows(sql, id=proposal.id, box=f"{proposal.box}.")
        return [proposal_of(r) for r in rows]

    def undecided(self, agent: str) -> list[Proposal]:
        """What an agent has asked for and waits, so that nothing of it is done yet."""
        rows = self.rows(
            f"SELECT * FROM proposal WHERE agent = :agent AND state IN {_LIVE}",  # noqa: S608
            agent=agent,
        )
        return [proposal_of(r) for r in rows]

    def keyed(self, agent: str, key: str) -> Proposal | None:
        """The proposal that an agent once asked for with this idempotency key."""
        row = self.row("SELECT * FROM proposal WHERE agent = :a AND key = :k", a=agent, k=key)
        return proposal_of(row) if row else None

    def undo_of(self, id_: str) -> Proposal | None:
        """The undo of a proposal that lives, runs or is applied; there is at most one."""
        row = self.row(
            "SELECT * FROM proposal WHERE undoes = :id AND state NOT IN ('failed', 'ended')", id=id_
        )
        return proposal_of(row) if row else None

    def _note(
        self, id_: str, event: str, states: tuple[str, str], now: datetime, why: str = ""
    ) -> None:
        values = {"id": id_, "at": ms(now), "event": event, "why": why[:500]}
        self.change(
            """INSERT INTO history(proposal, at, event, source, target, why)
            VALUES (:id, :at, :event, :source, :target, :why)""",
            values | {"source": states[0], "target": states[1]},
        )


_GIVEN = (
    *("id", "agent", "tool", "mode", "state", "key", "identities", "said", "repository"),
    *("salt", "parent", "created", "expires", "undoes", "asked_by", "target", "sealed"),
)


def _call(proposal: Proposal) -> str:
    """What makes two calls of an agent the same one."""
    undone = {"undoes": proposal.undoes} if proposal.undoes else {}
    aimed = {"target": _tied(proposal.target)} if proposal.target else {}
    return digest({"tool": proposal.tool, "arguments": proposal.arguments, **undone, **aimed})


def _tied(target: Target) -> dict[str, JSON]:
    """What makes a call another one: a new head of the same pull request is a new page."""
    return {"repository": target.repository, "number": target.number, "head": target.head}


def _text(arguments: Any) -> str:
    return canonical(arguments).decode()
