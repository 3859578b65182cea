"""What can go wrong on demand: one queue for requests, one for deliveries."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from .model import State


@dataclass(slots=True)
class Fault:
    """One thing that goes wrong with requests that match.

    Fires from the `nth` match on, `times` times. `when` says on which side of the effect an error
    `status`, a `drop` (the connection breaks) or `run` (anything else, such as a push) happens.
    """

    method: str = "*"
    path: str = ""
    """GitHub's template, or a regular expression searched in the path; empty matches all."""
    nth: int = 1
    times: int = 1
    when: Literal["before", "after"] = "before"
    status: int | None = None
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    delay: float = 0
    """Seconds to wait, before the effect or before the answer."""
    stale: State | None = None
    """Answer a read as of this earlier moment (`world.moment()`)."""
    run: Callable[[], Awaitable[object]] | None = None
    seen: int = 0

    def matches(self, method: str, template: str | None, path: str) -> bool:
        """Whether this request is meant."""
        return self.method in ("*", method) and (
            self.path == template or (self.path != template and self._found_in(path))
        )

    def _found_in(self, path: str) -> bool:
        return "{" not in self.path and bool(re.search(self.path, path))

    def fires(self) -> bool:
        """Count one match and say whether it is one that goes wrong."""
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


def secondary_limit(method: str, path: str, retry_after: int | None = None) -> Fault:
    """Refuse one request as GitHub's secondary rate limit does, retry-after in seconds if any."""
    return Fault(
        method,
        path,
        status=403,
        message="You have exceeded a secondary rate limit. Please wait a few minutes before you "
        "try again.",
        headers={"retry-after": str(retry_after)} if retry_after is not None else {},
    )


@dataclass(slots=True)
class DeliveryFault:
    """One thing that goes wrong with deliveries of an event (and action, None for any).

    lose: sent nowhere and not even listed; fail: listed as failed, the App never sees it;
    double: sent twice; hold: kept until `world.deliveries.release()`; forge: wrong signature.
    """

    event: str
    effect: Literal["lose", "fail", "double", "hold", "forge"]
    action: str | None = None
    times: int = 1
    delay: float = 0
    """Seconds before it is sent."""

    def matches(self, event: str, action: str | None) -> bool:
        """Whether this delivery is meant."""
        return self.times > 0 and event == self.event and self.action in (None, action)


class Faults:
    """The queue that a test fills; everything behaves when it is empty."""

    def __init__(self) -> None:
        self.requests: list[Fault] = []
        self.deliveries: list[DeliveryFault] = []

    def add(self, fault: Fault | DeliveryFault) -> None:
        """Queue one fault."""
        if isinstance(fault, Fault):
            self.requests.append(fault)
        else:
            self.deliveries.append(fault)

    def for_request(self, method: str, template: str | None, path: str) -> list[Fault]:
        """Give the faults that fire for this request, and count it for all that match."""
        meant = [fault for fault in self.requests if fault.matches(method, template, path)]
        return [fault for fault in meant if fault.fires()]

    def for_delivery(self, event: str, action: str | None) -> DeliveryFault | None:
        """Give the first fault for this delivery and use it up."""
        for fault in self.deliveries:
            if fault.matches(event, action):
                fault.times -= 1
                return fault
        return None

    def clear(self) -> None:
        """Let everything behave again."""
        self.requests.clear()
        self.deliveries.clear()
