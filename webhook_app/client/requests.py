"""Requests as values, and how their answers are read: all of the client but its transports."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

OVER = frozenset({"read", "applied", "failed", "unknown", "ended", "denied"})
_LINE = re.compile(r"[ -~]+")
SECONDS = 30.0
"""How long an answer may take: longer than the 20 s after which the server says it still plans."""


class PlacetError(Exception):
    """Placet did not take the request; `code` is stable, `hint` says what to do.

    `status` is HTTP's, 0 when no answer came: then the request may or may not have arrived, and
    sending it again with the same `key` is safe.
    """

    def __init__(self, code: str, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(f"{code}: {message} {hint}".strip())
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status


class StillWaiting(PlacetError):
    """The proposal was not over in time; it goes on waiting."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request below /v1/; a body is sent as JSON."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def sent(self, session: str | None) -> dict[str, Any]:
        """Write it as httpx takes it, as a part of this conversation."""
        headers = {**self.headers, **header("Placet-Session", session)}
        said: dict[str, Any] = {"method": self.method, "url": self.path, "headers": headers}
        if self.body is not None:
            headers["Content-Type"] = "application/json"
            said["content"] = json.dumps(self.body, allow_nan=False)
        return said


def connection(url: str, token: str, timeout: float) -> dict[str, Any]:
    """Say what either of httpx's clients needs to know of a server; PlacetError."""
    headers = header("Authorization", f"Bearer {token}")
    try:
        base = httpx.URL(url.rstrip("/") + "/v1/")
    except httpx.InvalidURL as error:
        raise PlacetError("bad_url", f"{error}.", "It begins with https://.") from None
    return {"base_url": base, "headers": headers, "timeout": timeout}


def header(name: str, text: str | None) -> dict[str, str]:
    """Write a header; none without a text. PlacetError for what no header can hold."""
    if not text:
        return {}
    if not _LINE.fullmatch(text):
        raise PlacetError("bad_header", f"{name} is not a line of visible ASCII.", "Name another.")
    return {name: text}


def unreached(url: httpx.URL, error: httpx.HTTPError) -> PlacetError:
    """Tell that no answer came."""
    message = f"No answer from {url}: {type(error).__name__}."
    return PlacetError("unreachable", message, "Is the server running?")


def read(response: httpx.Response) -> dict[str, Any]:
    """Read an answer; PlacetError when it is a refusal, or none of Placet's."""
    try:
        said = response.json()
    except ValueError:
        said = None
    if response.is_success and isinstance(said, dict):
        return said
    problem = said if isinstance(said, dict) else {}
    code = str(problem.get("code", "not_placet"))
    detail = str(problem.get("detail", f"HTTP {response.status_code}, which is not Placet's."))
    raise PlacetError(code, detail, str(problem.get("hint", "")), response.status_code)


class Patience:
    """How long to wait for a proposal: `timeout` seconds in all, looking `every` so many."""

    def __init__(self, timeout: float, every: float) -> None:
        self._end = time.monotonic() + timeout
        self._every = every

    def pause(self, seen: Mapping[str, Any]) -> float | None:
        """Seconds until the next look; None when it is over. StillWaiting when time is up."""
        if seen["status"] in OVER:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            message = f"{seen['proposal']} is {seen['status']}."
            raise StillWaiting("still_waiting", message, "Wait again.")
        return min(self._every, left)
