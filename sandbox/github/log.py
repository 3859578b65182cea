"""What was asked of the sandbox: one entry for each request, unknown routes included."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """One request as it was answered; status 0 when the connection was dropped."""

    method: str
    template: str | None
    """GitHub's path with its parameters, or None for a route GitHub does not have."""
    path: str
    status: int
    kind: str
    """user, app, installation or nobody."""
    app_id: int | None
    at: datetime


class RouteLog:
    """The requests in the order they were answered."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Write one more entry."""
        self.entries.append(entry)

    def counts(self) -> Counter[str]:
        """Count requests by `METHOD template`."""
        return Counter(f"{entry.method} {entry.template or entry.path}" for entry in self.entries)

    def unknown(self) -> list[Entry]:
        """Give the requests for routes that GitHub's description does not have."""
        return [entry for entry in self.entries if entry.template is None]

    def clear(self) -> None:
        """Forget what was asked so far."""
        self.entries.clear()
