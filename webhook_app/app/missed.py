"""Deliveries that never arrived: GitHub does not send again by itself, but keeps a log.

What our key reads from the App's own log is as authentic as a signed delivery.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from proposals.ports import ForgeError, Refused
from proposals.store import Store
from webhook_app.deliveries import NotADelivery, account, read
from webhook_app.github import Delivery, DeliveryLog

KEPT = timedelta(days=3)  # how far back GitHub's log can be asked for redeliveries
OVERLAP = timedelta(minutes=5)  # an entry may show up in the log later than it was sent
TRIES = 5  # how often an entry that GitHub refuses to show is asked for
ENOUGH = 3  # entries without an answer after which the others wait for the next round

log = structlog.get_logger("placet")


@dataclass(slots=True)
class Missed:
    """Takes in what GitHub's log lists and the store has not seen; `since` moves along.

    It stays at the first entry that could not be read, so that one bad entry stops no other and is
    asked for again; one that GitHub refuses to show is given up after a few tries.
    """

    store: Store
    github: DeliveryLog
    our_app: int
    accounts: frozenset[int]
    bot: Callable[[], int | None]
    now: Callable[[], datetime]
    since: datetime | None = None
    _refused: Counter[str] = field(default_factory=Counter)
    _foreign: set[str] = field(default_factory=set)

    async def fetch(self) -> int:
        """Look once and say how many were new; ForgeError when GitHub cannot be asked."""
        began = self.now()
        listed = await self.github.since(self.since or began - KEPT)
        first = {entry.guid: entry for entry in listed}  # the list is newest first
        self._foreign &= first.keys()
        self._refused = Counter({g: n for g, n in self._refused.items() if n and g in first})
        waiting = [e for e in reversed(first.values()) if self._wanted(e)]
        unread: list[Delivery] = []
        taken = 0
        for entry in waiting:
            if sum(self._refused[e.guid] == 0 for e in unread) >= ENOUGH:
                unread.append(entry)
                continue
            try:
                taken += await self._take(entry)
            except ForgeError as error:
                unread.append(entry)
                self._refused[entry.guid] += isinstance(error, Refused)
                log.warning("delivery", status="unread", guid=entry.guid, problem=str(error)[:300])
        left = [e.delivered_at for e in unread if self._wanted(e)]
        self.since = max(min([began, *left]) - OVERLAP, began - KEPT)
        return taken

    def _wanted(self, entry: Delivery) -> bool:
        given_up = self._refused[entry.guid] >= TRIES or entry.guid in self._foreign
        return not given_up and not self.store.seen(entry.guid)

    async def _take(self, entry: Delivery) -> bool:
        raw = json.dumps(await self.github.payload(entry.id)).encode()
        try:
            delivery = read(entry.event, entry.guid, raw, self.our_app, self.bot(), self.now())
        except NotADelivery:
            self._foreign.add(entry.guid)
            return False
        owner = account(delivery)
        if owner is not None and owner not in self.accounts:
            self._foreign.add(entry.guid)
            return False
        new = self.store.accept(replace(delivery, proof="log"))
        if new:
            log.info("delivery", status="fetched", guid=entry.guid, github=entry.event)
        return new
