"""GitHub's own log of what it delivered to the App, read with the App's key."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from .client import Client
from .pages import pages
from .route import route
from .shapes import Delivery, Sent

BEFORE = timedelta(hours=1)
MOST = 200
PRESS = ("check_run", "requested_action")


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """The App's deliveries of the last days, newest first; every method raises ForgeError."""

    client: Client

    async def since(self, moment: datetime) -> list[Delivery]:
        """All attempts from this moment on, newest first."""
        return [entry async for page in self._back_to(moment) for entry in page]

    async def _back_to(self, moment: datetime) -> AsyncIterator[list[Delivery]]:
        """The log page by page, newest first, without what is older than this moment."""
        path = route("app", "hook", "deliveries")
        ask = partial(self.client.app, "GET", path)
        async for page in pages(ask, most=MOST):
            entries = page.read(list[Delivery])
            yield [entry for entry in entries if entry.delivered_at >= moment]
            if not entries or entries[-1].delivered_at < moment:
                break

    async def first_sent(self, guids: Collection[str], near: datetime) -> dict[str, datetime]:
        """When each of these button presses was first sent, of those the log shows.

        `near`: about when the earliest of them arrived here. Nothing older is read once the first
        attempt of each was seen, which GitHub tells from the repeated ones.
        """
        sent: dict[str, datetime] = {}
        missing = set(guids)
        async for page in self._back_to(near - BEFORE):
            for entry in page:
                if entry.guid in guids and (entry.event, entry.action) == PRESS:
                    at = entry.delivered_at.astimezone(UTC)
                    sent[entry.guid] = min(at, sent.get(entry.guid, at))
                    if not entry.redelivery:
                        missing.discard(entry.guid)
            if not missing:
                break
        return sent

    async def payload(self, delivery: int) -> dict[str, Any]:
        """What one delivery carried, as trustworthy as a signed one: our key read it."""
        reply = await self.client.app("GET", route("app", "hook", "deliveries", delivery))
        return reply.read(Sent).request.payload or {}

    async def redeliver(self, delivery: int) -> None:
        """Let GitHub send one again, with the same guid."""
        path = route("app", "hook", "deliveries", delivery, "attempts")
        await self.client.app("POST", path)
