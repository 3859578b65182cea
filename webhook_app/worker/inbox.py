"""From delivered to known: each waiting delivery becomes evidence of the proposal it is about."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from checks.commands import ignored
from checks.facts import Stance, Standing, Surface, Voice
from proposals.flow import Ports
from proposals.lifecycle import ALIVE
from proposals.plan import Proposal
from proposals.store import Delivery, Step, StoreStopped
from webhook_app.deliveries import (
    Asked,
    Dismissed,
    Gone,
    Nearly,
    Said,
    Touched,
    taken_from_us,
    voice,
)
from webhook_app.render import reply

from .about import Addressed, addressed, proposals_of
from .answers import keep
from .ground import freed_by, is_ground, watch
from .touched import garbled, lied, shaken

PATIENCE = timedelta(minutes=10)
"""How long a delivery may wait for the page that it may be about, while that is being shown."""
SECONDS = timedelta(seconds=10)
"""How long for a page that GitHub has refused and that is not tried right now."""
AGAIN = timedelta(minutes=1)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Inbox:
    """Reads deliveries into evidence; `ground` is told of what a coroutine must look at.

    It gets the ids of the repositories that were taken from the App. A delivery that cannot
    be handled for a fault of ours stays: it holds up its own proposals, and no others.
    """

    ports: Ports
    our_app: int
    ground: Callable[[frozenset[int]], None]
    stuck: dict[str, datetime] = field(default_factory=dict)

    def drain(self, busy: Collection[str]) -> set[str] | None:
        """Handle the next waiting deliveries; the ids of the proposals to look at again.

        `busy`: what is being advanced, perhaps opened, right now. None when nothing waits that can
        be handled now.
        """
        deliveries = self._ready(busy)
        if not deliveries:
            return None
        try:
            return self._together(deliveries)
        except StoreStopped:
            raise
        except Exception:
            log.exception("deliveries")
            return set().union(*map(self._alone, deliveries))

    def _together(self, deliveries: Sequence[Delivery]) -> set[str]:
        """Handle these in one transaction, for a commit costs more than all else here."""
        after: list[Callable[[], None]] = []
        with self.ports.store.tx():
            touched = [self._handle(delivery, after) for delivery in deliveries]
        for call in after:
            call()
        return set().union(*touched)

    def _alone(self, delivery: Delivery) -> set[str]:
        try:
            return self._together([delivery])
        except StoreStopped:
            raise
        except Exception:
            log.exception("delivery", guid=delivery.guid)
            self.stuck[delivery.guid] = self.ports.now() + AGAIN
            return set()

    def _ready(self, busy: Collection[str]) -> list[Delivery]:
        """The next waiting deliveries whose proposal is known, or will never be.

        While a page is being shown its number is not stored yet: what may be about it waits for
        it, and nothing else waits. One that GitHub refuses holds up nothing for long.
        """
        store, now = self.ports.store, self.ports.now()
        stuck = [guid for guid, until in self.stuck.items() if until > now]
        shown = {
            p.id: now - (PATIENCE if p.id in busy or p.reason is None else SECONDS)
            for p in store.opening()
        }
        return store.waiting(but=stuck, shown=shown)

    def _handle(self, delivery: Delivery, after: list[Callable[[], None]]) -> set[str]:
        """Record one delivery's evidence; it and its being handled are one transaction."""
        found = [] if delivery.ours else proposals_of(self.ports.store, delivery)
        said = voice(delivery, self.our_app) if found else None
        about = addressed(found, said)
        with self.ports.store.tx():
            for proposal in about.to:
                self._record(proposal, said)
            if about.on and isinstance(said, Voice | Asked):
                step = Step("reply", key=said.key, text=about.answer)
                self.ports.store.post(about.on.id, [step], self.ports.now())
            if isinstance(said, Gone):
                lied(self.ports, found, said)
                garbled(self.ports, found, said)
            watch(self.ports, delivery)
            self.ports.store.handled(delivery.guid)
        if found:
            _tell(delivery, about, said)
        if is_ground(delivery):
            after.append(partial(self.ground, taken_from_us(delivery)))
        return {p.id for p in about.to} | freed_by(self.ports, delivery)

    def _record(self, proposal: Proposal, said: Said | None) -> None:
        store, now = self.ports.store, self.ports.now()
        match said:
            case Voice():
                store.record(proposal.id, said)
                store.post(proposal.id, [*_seen(proposal, said), *_answers(proposal, said)], now)
            case Asked():
                keep(self.ports, proposal, said)
                store.post(proposal.id, _seen(proposal, said), now)
            case Dismissed():
                store.take_back(proposal.id, said.key, Standing.DISMISSED, said.by)
            case Gone():
                store.take_back(proposal.id, said.key, Standing.GONE)
            case Nearly() if said.person.kind == "User":  # two bots could go on for ever
                text = reply(proposal, "lgtm", who=said.person.login)
                store.post(proposal.id, [Step("reply", key=said.key, text=text)], now)
            case Touched():
                shaken(self.ports, proposal, said)
            case _:
                pass


def _seen(proposal: Proposal, said: Voice | Asked) -> list[Step]:
    """The mark that tells whoever commanded in a comment that it was read."""
    surface, _, number = said.key.partition(":")
    heard = surface == Surface.COMMENT and said.person.kind == "User"
    return [Step("react", key=number)] if heard and proposal.state in ALIVE else []


def _answers(proposal: Proposal, said: Voice) -> list[Step]:
    """What is told at once to whoever spoke: that it is too late, that more was not read."""
    who, found = said.person.login, []
    if proposal.state not in ALIVE and said.stance is not Stance.BLOCK:
        found.append(Step("reply", key=said.key, text=reply(proposal, "late", who=who)))
    if more := ignored(said.text or ""):
        verbs = " ".join(f"/{verb}" for verb in more)
        text = reply(proposal, "second_line", who=who, named=verbs)
        found.append(Step("reply", key=f"{said.key}:more", text=text))
    return found


def _tell(delivery: Delivery, about: Addressed, said: Said | None) -> None:
    """Log what came of one; of the many that are about nothing of ours, the door has told."""
    log.info(
        "evidence",
        guid=delivery.guid,
        event_name=delivery.event,
        action=delivery.action,
        proposal=" ".join(p.id for p in about.to) or None,
        says=type(said).__name__ if said else None,
    )
