"""What came back: an answer to read, or which of the three errors it was."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import TypeAdapter, ValidationError

from proposals.ports import ForgeError, Lost, Refused, Unavailable

T = TypeVar("T")
QUERY = "QUERY"  # by GraphQL: a POST that changes nothing
READS = frozenset({"GET", QUERY})
LIMIT_PAUSE = 60.0
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_LIMITED = frozenset({403, 429})
_MOVED = range(300, 400)
_OK = range(200, 300)


class NotSent(Refused):
    """Refused before the request itself was sent: certainly nothing was written."""


class Elsewhere(Refused):
    """A query found nothing under this name: it is called something else now, or out of reach."""


class Limited(Unavailable):
    """A rate limit: GitHub wants no more requests for `retry_after` seconds.

    `told`: GitHub said how long; otherwise each further one must be waited for twice as long.
    """

    def __init__(self, message: str, retry_after: float, *, told: bool = True) -> None:
        super().__init__(message, retry_after)
        self.told = told


@dataclass(frozen=True, slots=True)
class Reply:
    """A 2xx answer; `asked` is the request in words, for errors."""

    method: str
    asked: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    def read(self, kind: type[T]) -> T:
        """The body in this shape; an answer that lacks it is as good as none."""
        try:
            value: T = _adapter(cast("Any", kind)).validate_json(self.content)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise no_answer(self.method, f"{self.asked}: unreadable at {where!r}") from None
        return value

    @property
    def date(self) -> datetime | None:
        """GitHub's time of this answer (UTC, whole seconds)."""
        try:
            return parsedate_to_datetime(self.headers.get("date", "")).astimezone(UTC)
        except ValueError:
            return None

    @property
    def next(self) -> dict[str, str]:
        """The `page` or `cursor` of the next page, from the Link header; empty on the last one."""
        for link in self.headers.get("link", "").split(","):
            address, _, rest = link.partition(">")
            if 'rel="next"' in rest:
                query = parse_qs(urlsplit(address.strip().lstrip("<")).query)
                return {k: query[k][0] for k in ("page", "cursor") if k in query}
        return {}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def no_answer(method: str, words: str) -> ForgeError:
    """The error for a request whose answer never came: a write may have happened."""
    if method in READS:
        return Unavailable(f"GitHub gave no answer ({words})")
    return Lost(f"GitHub gave no answer, so it may or may not have happened ({words})")


def broken(method: str, asked: str, error: BaseException) -> ForgeError:
    """The error for a request that broke; what was certainly not sent is certainly undone."""
    words = f"{asked}: {type(error).__name__}"
    if isinstance(error, _NOT_SENT):
        return Unavailable(f"GitHub cannot be reached ({words})")
    return no_answer(method, words)


def judged(method: str, asked: str, response: httpx.Response, now: datetime) -> Reply:
    """The answer if it is a good one, else the ForgeError that it means."""
    status = response.status_code
    words = f"{asked}: {status} {_message(response)}"
    if status in _OK:
        if method == QUERY and (kinds := _errors(response)) is not None:
            raise _queried_in_vain(kinds, words, response, now)
        return Reply(method, asked, status, response.headers, response.content)
    if status in _MOVED:
        raise Refused(f"GitHub points elsewhere; redirects are not followed ({words})", status)
    if status in _LIMITED and (pause := _pause(response, now)) is not None:
        told = bool(response.headers.get("retry-after"))
        raise Limited(f"GitHub asks to wait {pause:.0f} s ({words})", pause, told=told)
    if status >= 500:  # noqa: PLR2004
        raise no_answer(method, words)
    raise Refused(f"GitHub refused ({words})", status, _code(status, words))


def _errors(response: httpx.Response) -> frozenset[str] | None:
    """What kinds of errors a GraphQL answer names; None when it names none at all."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(body, dict) or "errors" not in body:
        return None
    listed = body["errors"] if isinstance(body["errors"], list) else []
    return frozenset(str(error.get("type")) for error in listed if isinstance(error, dict))


def _queried_in_vain(
    kinds: frozenset[str], words: str, response: httpx.Response, now: datetime
) -> ForgeError:
    """The error for a query that was answered with errors, whatever data stands beside them."""
    pause = _pause(response, now)
    if "RATE_LIMITED" in kinds or pause is not None:
        told = bool(response.headers.get("retry-after"))
        wait = pause if pause is not None else LIMIT_PAUSE
        return Limited(f"GitHub asks to wait {wait:.0f} s ({words})", wait, told=told)
    if kinds == {"NOT_FOUND"}:
        return Elsewhere(f"GitHub finds nothing ({words})", 404)
    if kinds == {"FORBIDDEN"}:
        return Refused(f"GitHub refused ({words})", 403, "permission_missing")
    return no_answer(QUERY, words)


def _code(status: int, words: str) -> str:
    """A 403 that is no limit: something that only people can change."""
    if status != 403:  # noqa: PLR2004
        return "refused"
    return "archived" if "archived" in words else "permission_missing"


def _message(response: httpx.Response) -> str:
    try:
        body = json.loads(response.content)
        errors = body.get("errors") or []
        more = [e.get("message") or e.get("code") if isinstance(e, dict) else e for e in errors]
        words = "; ".join(str(w) for w in (body.get("message"), *more) if w)
    except (ValueError, AttributeError, TypeError, RecursionError):
        words = ""
    return " ".join(words.split())[:300]


def _pause(response: httpx.Response, now: datetime) -> float | None:
    """Seconds to wait when this is a limit; None when it is a matter of permission."""
    headers = response.headers
    if after := headers.get("retry-after"):
        return _seconds(after, now)
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        if reset.isdecimal():
            return max(1.0, float(reset[:12]) - now.timestamp())
        return LIMIT_PAUSE
    said = _message(response).lower()
    limited = response.status_code == 429 or "rate limit" in said or "abuse" in said  # noqa: PLR2004
    return LIMIT_PAUSE if limited else None


def _seconds(after: str, now: datetime) -> float:
    """A Retry-After, which may be a number or a date."""
    if after.isdecimal():
        return float(after[:6])
    try:
        wait: timedelta = parsedate_to_datetime(after).astimezone(UTC) - now
    except ValueError:
        return LIMIT_PAUSE
    return max(1.0, wait.total_seconds())
