"""POST /webhook: GitHub's deliveries. What is answered with 202 is durable, except what is ignored.

A delivery is checked in this order, and nothing is parsed before the signature is right: size 413,
room 503, signature 401, media type 415, headers 400, our own App 403, body 400.
"""

import asyncio
import hashlib
import hmac
import re
from collections.abc import Awaitable, Iterable

import structlog
from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.routing import Route

from proposals.store import Delivery
from webhook_app.deliveries import NotADelivery, read_owned

from .hall import Hall, body, hall, is_json
from .problem import Problem

DEADLINE = 10.0  # seconds
_log = structlog.get_logger("placet")
_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64})")
_GUID = re.compile(r"[!-~]{1,100}")
_EVENT = re.compile(r"[a-z][a-z_]{0,63}")


def signed(raw: bytes, header: str, secrets: Iterable[bytes]) -> bool:
    """Say whether one of the secrets signed exactly these bytes (X-Hub-Signature-256).

    Only `sha256=` counts: the older header lets the sender choose a weaker way.
    """
    found = _SIGNATURE.fullmatch(header)
    if not found:
        return False
    given = bytes.fromhex(found[1])
    matches = [
        hmac.compare_digest(hmac.digest(secret, raw, hashlib.sha256), given) for secret in secrets
    ]
    return any(matches)


async def webhook(request: Request) -> JSONResponse:
    """Take one delivery in; `status` is accepted, seen (delivered before) or ignored."""
    here = hall(request)
    try:
        with here.intake.room(stated(request, here.settings.max_body)):
            raw = await in_time(body(request, here.settings.max_body))
            delivery, owner = _delivery(request, here, raw)
            status = await _status(here, delivery, owner)
    except Problem as problem:
        here.metrics.deliveries.labels(problem.code).inc()
        _log.warning("delivery refused", code=problem.code)
        raise
    here.metrics.deliveries.labels(status).inc()
    _log.info(
        "delivery", status=status, guid=delivery.guid, github=delivery.event,
        action=delivery.action, repository=delivery.repository, number=delivery.number,
    )  # fmt: skip
    return JSONResponse({"status": status}, status_code=202)


ROUTE = Route("/webhook", webhook, methods=["POST"], include_in_schema=False)
"""A plain route: nothing here is for FastAPI to read, and under load its reading is felt."""


def _delivery(request: Request, here: Hall, raw: bytes) -> tuple[Delivery, int | None]:
    headers, now = request.headers, here.now()
    [signature, *more] = headers.getlist("x-hub-signature-256") or [""]
    if more or not signed(raw, signature, here.settings.secrets(now)):
        hint = (
            "The webhook secret in the App's settings and PLACET_WEBHOOK_SECRET must be the same."
        )
        raise Problem(401, "bad_signature", "The signature does not fit the body.", hint)
    if not is_json(request):
        hint = "Set the content type to application/json in the App's webhook settings."
        raise Problem(415, "not_json_type", "The delivery is not declared as JSON.", hint)
    event, guid = headers.get("x-github-event", ""), headers.get("x-github-delivery", "")
    if not (_EVENT.fullmatch(event) and _GUID.fullmatch(guid)):
        hint = "GitHub sends both; look at what lies between it and Placet."
        raise Problem(400, "bad_headers", "X-GitHub-Event or X-GitHub-Delivery is missing.", hint)
    _refuse_other_hooks(headers.get("x-github-hook-installation-target-id", ""), here)
    try:
        return read_owned(event, guid, raw, here.settings.app_id, here.bot(), now)
    except NotADelivery as error:
        raise Problem(400, error.code, f"This is no delivery: {error}.", "Redeliver it.") from None


def _refuse_other_hooks(target: str, here: Hall) -> None:
    """Take nothing from a hook of a repository or another App, even with our secret.

    It is refused aloud, so that its owner sees a failed delivery and the reason on GitHub.
    """
    if target != str(here.settings.app_id):
        detail = "The delivery comes from another App's hook, or from a repository's own hook."
        hint = f"Only the hook of the App {here.settings.app_id} may send here; remove the other."
        raise Problem(403, "other_hook", detail, hint)


async def _status(here: Hall, delivery: Delivery, owner: int | None) -> str:
    if owner is not None and owner not in here.settings.accounts:
        return "ignored"
    return "accepted" if await here.intake.put(delivery) else "seen"


def stated(request: Request, limit: int) -> int:
    """How many bytes a body says it has; one that does not say may have as many as are allowed."""
    said = request.headers.get("content-length", "")
    known = said.isascii() and said.isdecimal() and len(said) <= len(str(limit))
    return min(int(said), limit) if known else limit


async def in_time(reading: Awaitable[bytes]) -> bytes:
    """The body, if it comes within the time that GitHub itself gives a delivery."""
    try:
        async with asyncio.timeout(DEADLINE):
            return await reading
    except TimeoutError:
        raise Problem(408, "too_slow", "The body did not come in time.", "Send again.") from None
