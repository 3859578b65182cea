"""An App's own page: what was delivered to it, and what it answered."""

import json
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from sandbox.github.deliveries import Delivery
from sandbox.github.model import App
from sandbox.github.refusal import not_found

from .visit import Visit, number

MOST = 30


@dataclass(frozen=True, slots=True)
class Shown:
    """One delivery as text."""

    id: int
    guid: str
    event: str
    action: str | None
    at: datetime
    status: str
    code: int
    look: str
    again: bool
    request_headers: list[tuple[str, str]]
    request_body: str
    response_headers: list[tuple[str, str]]
    response_body: str


def shown(one: Delivery) -> Shown:
    """Lay a delivery out for reading."""
    good = 200 <= one.status_code < 300  # noqa: PLR2004 - HTTP's successes
    return Shown(
        one.id,
        one.guid,
        one.event,
        one.action,
        one.delivered_at,
        one.status,
        one.status_code,
        "good" if good else "bad",
        one.redelivery,
        list(one.headers.items()),
        json.dumps(one.payload, indent=2, ensure_ascii=False),
        list(one.response_headers.items()),
        one.response_body or "",
    )


def _app(visit: Visit, slug: str) -> App:
    for app in visit.world.state.apps.values():
        if app.slug == slug and visit.runs(app):
            return app
    raise not_found()


async def listed(visit: Visit, slug: str) -> Response:
    """List an App's deliveries, newest first, for the people who run it."""
    app = _app(visit, slug)
    found = visit.world.deliveries.listed(app)
    return visit.show(
        "deliveries.html",
        app=app,
        deliveries=[shown(one) for one in found[:MOST]],
        older=len(found[MOST:]),
        chosen=0,
    )


async def redeliver(visit: Visit, slug: str, delivery_id: str) -> Response:
    """Send a delivery again: the same bytes, the same GUID."""
    app, wanted = _app(visit, slug), number(delivery_id)
    for one in visit.world.deliveries.listed(app):
        if one.id == wanted:
            visit.world.deliveries.again(one, visit.world.new_id("delivery"))
            return visit.go(f"/settings/apps/{slug}/deliveries")
    raise not_found()
