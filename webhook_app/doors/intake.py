"""The way into the store under load: one commit for all that came meanwhile, and a full house.

Whatever is answered with 202 has been committed. When more is on its way in than fits, the next
one is told to come again before a byte of it is read: GitHub's log keeps what it could not deliver.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from proposals.store import Delivery, Store, StoreStopped

from .problem import Problem

MOST = 256  # deliveries on their way in at once
MOST_BYTES = 128 * 1024 * 1024
SOON = 5  # seconds


@dataclass(slots=True)
class Intake:
    """Takes deliveries in. `wake` is called after each commit that held anything new."""

    store: Store
    wake: Callable[[], None]
    most: int = MOST
    most_bytes: int = MOST_BYTES
    _inside: int = 0
    _bytes: int = 0
    _waiting: list[tuple[Delivery, asyncio.Future[bool]]] = field(default_factory=list)

    @contextmanager
    def room(self, size: int) -> Iterator[None]:
        """Hold a place for a delivery of so many bytes; Problem 503 when the house is full."""
        full = self._inside >= self.most or self._bytes + size > self.most_bytes
        if full and self._inside:
            detail = "Too many deliveries are on their way in."
            headers = {"Retry-After": str(SOON)}
            hint = "Redeliver it; Placet also asks for what it missed."
            raise Problem(503, "busy", detail, hint, headers=headers)
        self._inside += 1
        self._bytes += size
        try:
            yield
        finally:
            self._inside -= 1
            self._bytes -= size

    async def put(self, delivery: Delivery) -> bool:
        """Keep a delivery durably; False when it was there already. Raises StoreStopped."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append((delivery, done))
        return await done

    def _commit(self) -> None:
        """Commit all that came in this turn of the loop, then let their senders know."""
        batch, self._waiting = self._waiting, []
        try:
            new = self.store.accept_all([delivery for delivery, _ in batch])
        except Exception as error:  # noqa: BLE001 (it belongs to those who wait)
            self._one_by_one(batch, error)
            return
        for (_, done), fresh in zip(batch, new, strict=True):
            _tell(done, fresh)
        self.wake()

    def _one_by_one(
        self, batch: list[tuple[Delivery, asyncio.Future[bool]]], error: Exception
    ) -> None:
        """Find out whose fault it was; a store that has stopped stops for all."""
        for delivery, done in batch:
            if isinstance(error, StoreStopped):
                _fail(done, error)
                continue
            try:
                _tell(done, self.store.accept(delivery))
            except Exception as own:  # noqa: BLE001
                _fail(done, own)
        self.wake()


def _fail(done: asyncio.Future[bool], error: Exception) -> None:
    if not done.cancelled():
        done.set_exception(error)


def _tell(done: asyncio.Future[bool], fresh: bool) -> None:  # noqa: FBT001
    if not done.cancelled():
        done.set_result(fresh)
