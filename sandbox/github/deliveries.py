"""Sends webhooks in the background, once each, and keeps what was sent and answered."""

import asyncio
import hashlib
import hmac
import time
import uuid
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import httpx

from .clock import Clock
from .faults import DeliveryFault, Faults
from .model import App

LIMIT = 10.0
"""Seconds GitHub waits for the App's answer."""


@dataclass(slots=True)
class Delivery:
    """One attempt: what was sent, and what came back."""

    id: int
    guid: str
    event: str
    action: str | None
    app: App
    installation_id: int | None
    repository_id: int | None
    payload: dict[str, Any]
    raw: bytes
    delivered_at: datetime
    redelivery: bool = False
    lost: bool = False
    """Swallowed by a fault: the App never saw it and the log does not list it."""
    headers: dict[str, str] = field(default_factory=dict)
    duration: float = 0
    """Seconds."""
    status: str = "pending"
    status_code: int = 0
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str | None = None


class Deliveries:
    """All deliveries so far, and the ones on their way."""

    def __init__(
        self, clock: Clock, faults: Faults, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        self.all: list[Delivery] = []
        self.held: list[Delivery] = []
        self._clock = clock
        self._faults = faults
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._waiting: list[tuple[Delivery, DeliveryFault | None]] = []
        self._running: set[asyncio.Task[None]] = set()

    def post(self, delivery: Delivery) -> None:
        """Queue a delivery; it leaves at once when an event loop runs, else with the next one."""
        delivery.headers = _headers(delivery)
        fault = self._faults.for_delivery(delivery.event, delivery.action)
        effect = fault.effect if fault else None
        delivery.lost = effect == "lose"
        self.all.append(delivery)
        if effect == "fail":
            delivery.status, delivery.status_code = "failed to connect to host", 502
        elif effect == "hold":
            self.held.append(delivery)
        elif effect != "lose":
            self._waiting.append((delivery, fault))
        self.flush()

    def flush(self) -> None:
        """Start what waits, when an event loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        waiting, self._waiting = self._waiting, []
        for delivery, fault in waiting:
            task = loop.create_task(self._send(delivery, fault))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def release(self, *, backwards: bool = False) -> None:
        """Send what a `hold` fault kept, in order or the last one first."""
        held, self.held = self.held, []
        self._waiting += [(delivery, None) for delivery in (held[::-1] if backwards else held)]
        self.flush()

    def again(self, old: Delivery, number: int) -> Delivery:
        """Redeliver: the same bytes and GUID under a new id."""
        new = replace(
            old, id=number, redelivery=True, lost=False, delivered_at=self._clock.now(),
            status="pending", status_code=0, response_headers={}, response_body=None,
        )  # fmt: skip
        self.post(new)
        return new

    def listed(self, app: App) -> list[Delivery]:
        """Give what GitHub's log shows an App, newest first."""
        return [d for d in reversed(self.all) if d.app.id == app.id and not d.lost
                and d.status != "pending"]  # fmt: skip

    async def settled(self) -> None:
        """Wait until every delivery on its way was answered, and those that they caused."""
        self.flush()
        while self._running:
            await asyncio.gather(*self._running)
            self.flush()

    async def aclose(self) -> None:
        """Give up what is on its way and close the connections."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client:
            await self._client.aclose()
            self._client = None

    async def _send(self, delivery: Delivery, fault: DeliveryFault | None) -> None:
        if fault and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault and fault.effect == "forge":
            delivery.headers["X-Hub-Signature-256"] = "sha256=" + "0" * 64
        await self._attempt(delivery)
        if fault and fault.effect == "double":
            await self._attempt(delivery)

    async def _attempt(self, delivery: Delivery) -> None:
        started = time.monotonic()
        delivery.delivered_at = self._clock.now()
        if not delivery.app.hook_url:
            delivery.status, delivery.status_code = "no webhook URL", 502
            return
        try:
            answer = await asyncio.wait_for(self._post(delivery), LIMIT)
        except (TimeoutError, httpx.TimeoutException):
            delivery.status, delivery.status_code = "timed out", 504
        except (httpx.HTTPError, OSError):
            delivery.status, delivery.status_code = "failed to connect to host", 502
        else:
            good = answer.is_success
            delivery.status = "OK" if good else f"Invalid HTTP Response: {answer.status_code}"
            delivery.status_code = answer.status_code
            delivery.response_headers = dict(answer.headers)
            delivery.response_body = answer.text
        delivery.duration = round(time.monotonic() - started, 2)

    async def _post(self, delivery: Delivery) -> httpx.Response:
        if self._client is None:
            transport = self._transport or httpx.AsyncHTTPTransport(verify=False)
            self._client = httpx.AsyncClient(transport=transport, trust_env=False, timeout=LIMIT)
        url = delivery.app.hook_url or ""
        return await self._client.post(url, content=delivery.raw, headers=delivery.headers)


def new_guid() -> str:
    """Make the GUID that all deliveries of one event share."""
    return str(uuid.uuid4())


def signature(secret: str, raw: bytes) -> str:
    """Sign the exact bytes as X-Hub-Signature-256 does."""
    return "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def _headers(delivery: Delivery) -> dict[str, str]:
    return {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/5a9d0b0",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Hook-ID": str(delivery.app.hook_id),
        "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": signature(delivery.app.webhook_secret, delivery.raw),
    }
