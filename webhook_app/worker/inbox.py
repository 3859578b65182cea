"""From delivered to known: each waiting delivery becomes evidence of the proposal it is about."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from checks.facts import Stance, Standing, Voice
from proposals.flow import Ports
from proposals.lifecycle import ALIVE, State
from proposals.plan import Proposal
from proposals.store import Delivery, Step
from webhook_app.deliveries import Asked, Dismissed, Gone, Nearly, Said, Touch, Touched, voice
from webhook_app.render import reply

PATIENCE = timedelta(minutes=10)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Inbox:
    """Reads deliveries into evidence; `asked` is told of what only a coroutine can answer."""

    ports: Ports
    our_app: int
    asked: Callable[[Proposal, Asked], None]

    def drain(self) -> set[str]:
        """Handle every waiting delivery; the ids of the proposals to look at again."""
        touched: set[str] = set()
        while deliveries := self._ready():
            for delivery in deliveries:
                touched |= self._handle(delivery)
        return touched

    def _ready(self) -> list[Delivery]:
        """The waiting deliveries whose proposal is known, or will never be."""
        return [d for d in self.ports.store.waiting() if not self._too_early(d)]

    def _too_early(self, delivery: Delivery) -> bool:
        """Whether the page is being published right now and its number is not stored yet."""
        if self._proposal(delivery) or delivery.ours or delivery.repository is None:
            return False
        if self.ports.now() - delivery.received > PATIENCE:
            return False
        pinned = self.ports.store.proposals(state=State.PINNED, limit=1000)
        return any(p.repository == delivery.repository for p in pinned)

    def _proposal(self, delivery: Delivery) -> Proposal | None:
        store, repository = self.ports.store, delivery.repository
        if repository is None:
            return None
        branch = (delivery.head_ref or "").removeprefix("refs/heads/")
        return (
            (store.at(repository, delivery.number) if delivery.number else None)
            or (store.by_check(repository, delivery.check_run) if delivery.check_run else None)
            or (store.by_branch(repository, branch) if branch else None)
        )

    def _handle(self, delivery: Delivery) -> set[str]:
        """Record one delivery's evidence; it and its being handled are one transaction."""
        proposal = None if delivery.ours else self._proposal(delivery)
        said = voice(delivery, self.our_app) if proposal else None
        with self.ports.store.tx():
            if proposal and said:
                self._record(proposal, said)
            self.ports.store.handled(delivery.guid, "" if proposal else "about no proposal")
        log.info(
            "evidence",
            guid=delivery.guid,
            event_name=delivery.event,
            action=delivery.action,
            proposal=proposal.id if proposal else None,
            says=type(said).__name__ if said else None,
        )
        if proposal and isinstance(said, Asked):
            self.asked(proposal, said)
        return self._shaken(delivery, proposal if said else None)

    def _shaken(self, delivery: Delivery, proposal: Proposal | None) -> set[str]:
        """Which proposals to look at: the one it is about, or all after a change of the ground."""
        if delivery.event.startswith("installation"):
            return {p.id for p in self.ports.store.alive()}
        return {proposal.id} if proposal else set()

    def _record(self, proposal: Proposal, said: Said) -> None:
        store, now = self.ports.store, self.ports.now()
        match said:
            case Voice():
                store.record(proposal.id, said)
                if proposal.state not in ALIVE and said.stance is Stance.APPROVE:
                    text = reply(proposal, "late", who=said.person.login)
                    store.post(proposal.id, [Step("reply", key=said.key, text=text)], now)
            case Dismissed():
                store.take_back(proposal.id, said.key, Standing.DISMISSED, said.by)
            case Gone():
                store.take_back(proposal.id, said.key, Standing.GONE)
            case Nearly():
                text = reply(proposal, "lgtm", who=said.person.login)
                store.post(proposal.id, [Step("reply", key=said.key, text=text)], now)
            case Touched(kind=Touch.PUSHED) if proposal.state in ALIVE:
                contributors = proposal.contributors | {said.by.id}
                store.note(proposal.id, moved=True, contributors=contributors)
            case _:
                pass
