"""Deliveries and the evidence in them. An acknowledged delivery is a committed one."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from checks.facts import Person, Standing, Voice
from proposals.lifecycle import ALIVE

from .file import File
from .rows import Delivery, delivery_of, delivery_row, ms, packed, voice_of, voice_text

_LIVE = "('" + "','".join(sorted(ALIVE)) + "')"

# Which proposals a delivery is about. A push to another branch may have changed the policy, an
# installation event may have changed anything: they are about every proposal they reach.
PAGE = "coalesce(proposal.page, proposal.repository)"  # where it is shown: a tied one elsewhere
ABOUT = f"""d.guid = :guid AND d.ours = 0 AND (
    ({PAGE} = d.repository AND (proposal.number = d.number OR proposal.check_run = d.check_run))
    OR (proposal.repository = d.repository AND ('refs/heads/' || proposal.branch = d.head_ref
        OR (d.event = 'push' AND d.head_ref NOT LIKE 'refs/heads/placet/%')))
    OR d.event LIKE 'installation%')"""

# New evidence about a page shakes its proposals: what was judged before it must be judged again,
# also a start that still waits to be written.
_TOUCHED = f"""UPDATE proposal SET evidence_rev = evidence_rev + 1
    WHERE (state IN {_LIVE} OR state = 'started')
    AND EXISTS (SELECT 1 FROM delivery AS d WHERE {ABOUT})"""  # noqa: S608

# What may be about a page that is being shown right now and whose number is not stored yet. On
# somebody's page, other plans may be known already. A push to any other branch never is.
_EARLY = f"""d.ours = 0 AND EXISTS (
    SELECT 1 FROM json_each(:shown) AS j JOIN proposal AS s ON s.id = j.key
    WHERE d.received >= j.value AND (
        (s.page = d.repository AND (d.check_run IS NOT NULL
            OR json_extract(s.target, '$.number') = d.number))
        OR (s.page IS NULL AND s.repository = d.repository AND (
            d.head_ref = 'refs/heads/placet/p/' || s.id
            OR ((d.number IS NOT NULL OR d.check_run IS NOT NULL) AND NOT EXISTS (
                SELECT 1 FROM proposal WHERE {PAGE} = d.repository
                AND (number = d.number OR check_run = d.check_run)))))))"""  # noqa: S608


class Deliveries(File):
    """The deliveries' part of the store."""

    def accept(self, delivery: Delivery) -> bool:
        """Keep a delivery durably before it is acknowledged; False when its guid is there already.

        One that our App did not cause raises `evidence_rev` of the live proposals it touches, in
        the same transaction: a start that was judged without it will not happen.
        """
        return self.accept_all([delivery])[0]

    def accept_all(self, deliveries: Sequence[Delivery]) -> list[bool]:
        """As `accept`, for many in one transaction: all of them are durable, or none is."""
        with self.tx():
            return [self._accept(delivery) for delivery in deliveries]

    def _accept(self, delivery: Delivery) -> bool:
        new = self.change(
            """INSERT INTO delivery(guid, seq, event, action, body, repository, number,
            check_run, head_ref, sender, ours, received, proof)
            VALUES (:guid, (SELECT coalesce(max(seq), 0) + 1 FROM delivery), :event, :action,
            '', :repository, :number, :check_run, :head_ref, :sender, :ours, :received, :proof)
            ON CONFLICT(guid) DO NOTHING""",
            delivery_row(delivery),
        )
        if new:
            self.change(
                "INSERT INTO body(seq, packed) SELECT max(seq), :packed FROM delivery",
                {"packed": packed(delivery.body)},
            )
            self.change(_TOUCHED, {"guid": delivery.guid})
        return bool(new)

    def waiting(
        self,
        limit: int = 100,
        but: Collection[str] = (),
        shown: Mapping[str, datetime] | None = None,
    ) -> list[Delivery]:
        """Deliveries not handled yet, oldest first: so many of those that may be read now.

        Not those `but` these guids, nor what came since then and may be about the page of a
        proposal that is being shown: `shown` says since when, by its id.
        """
        rows = self.rows(
            f"""SELECT d.*, packed FROM delivery AS d JOIN body USING (seq) WHERE d.done = 0
            AND d.guid NOT IN (SELECT value FROM json_each(:but)) AND NOT ({_EARLY})
            ORDER BY seq LIMIT :n""",  # noqa: S608
            but=json.dumps(list(but)),
            shown=json.dumps({id_: ms(since) for id_, since in (shown or {}).items()}),
            n=limit,
        )
        return [delivery_of(r) for r in rows]

    def handled(self, guid: str, problem: str = "") -> None:
        """Record that a delivery has been dealt with, and what was odd about it."""
        with self.tx():
            self.change(
                "UPDATE delivery SET done = 1, problem = :p WHERE guid = :g",
                {"g": guid, "p": problem[:500]},
            )

    def seen(self, guid: str) -> bool:
        """Whether this delivery was ever accepted."""
        return self.row("SELECT 1 AS one FROM delivery WHERE guid = :g", g=guid) is not None

    def record(self, proposal: str, voice: Voice) -> bool:
        """Keep what a person said, one row per fact however often it is delivered."""
        with self.tx():
            return bool(
                self.change(
                    """INSERT INTO evidence(proposal, key, seq, voice) VALUES (:p, :k,
                    (SELECT coalesce(max(seq), 0) + 1 FROM evidence), :v)
                    ON CONFLICT(proposal, key) DO NOTHING""",
                    {"p": proposal, "k": voice.key, "v": voice_text(voice)},
                )
            )

    def take_back(
        self, proposal: str, key: str, standing: Standing, by: Person | None = None
    ) -> bool:
        """Record a delivered dismissal, edit or deletion of something said; never undone."""
        with self.tx():
            row = self.row(
                "SELECT voice FROM evidence WHERE proposal = :p AND key = :k", p=proposal, k=key
            )
            if row is None:
                return False
            voice = replace(voice_of(row["voice"]), standing=standing, dismisser=by)
            self.change(
                "UPDATE evidence SET voice = :v WHERE proposal = :p AND key = :k",
                {"p": proposal, "k": key, "v": voice_text(voice)},
            )
        return True

    def voices(self, proposal: str) -> tuple[Voice, ...]:
        """Everything said about a proposal, in the order of its coming."""
        rows = self.rows("SELECT voice FROM evidence WHERE proposal = :p ORDER BY seq", p=proposal)
        return tuple(voice_of(r["voice"]) for r in rows)
