"""Deliveries that never arrived: GitHub does not send again by itself, but keeps a log.

What our key reads from the App's own log is as authentic as a signed delivery.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from proposals.store import Store
from webhook_app.deliveries import NotADelivery, account, read
from webhook_app.github import Delivery, DeliveryLog

KEPT = timedelta(days=3)  # how far back GitHub's log can be asked for redeliveries
OVERLAP = timedelta(minutes=5)  # an entry may show up in the log later than it was sent

log = structlog.get_logger("placet")


@dataclass(slots=True)
class Missed:
    """Takes in what GitHub's log lists and the store has not seen; `since` moves along."""

    store: Store
    github: DeliveryLog
    our_app: int
    accounts: frozenset[int]
    bot: Callable[[], int | None]
    now: Callable[[], datetime]
    since: datetime | None = None

    async def fetch(self) -> int:
        """Look once and say how many were new; ForgeError when GitHub cannot be asked."""
        began = self.now()
        listed = await self.github.since(self.since or began - KEPT)
        first = {entry.guid: entry for entry in listed}  # the list is newest first
        new = [e for e in reversed(first.values()) if not self.store.seen(e.guid)]
        taken = [await self._take(entry) for entry in new]
        self.since = began - OVERLAP
        return sum(taken)

    async def _take(self, entry: Delivery) -> bool:
        raw = json.dumps(await self.github.payload(entry.id)).encode()
        try:
            delivery = read(entry.event, entry.guid, raw, self.our_app, self.bot(), self.now())
        except NotADelivery:
            return False
        owner = account(delivery)
        if owner is not None and owner not in self.accounts:
            return False
        new = self.store.accept(delivery)
        if new:
            log.info("delivery", status="fetched", guid=entry.guid, github=entry.event)
        return new
