"""The sandbox's time, which a test can stop and move."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime


class Clock:
    """Two times: `now()` for everything GitHub dates, and `machine()` for credentials.

    Tokens and JWTs are judged by the machine's own time, because the libraries that make them
    take no clock; moving `now()` by a day must not log every App out.
    """

    def __init__(self, machine: Callable[[], datetime] | None = None) -> None:
        self.machine = machine or (lambda: datetime.now(UTC))
        self._frozen: datetime | None = None
        self._shift = timedelta()

    def now(self) -> datetime:
        """Give the sandbox's time, UTC, whole seconds as GitHub writes them."""
        return (self._frozen or self.machine() + self._shift).replace(microsecond=0)

    def freeze(self, at: datetime | None = None) -> None:
        """Stop the time, here or at a given moment."""
        self._frozen = at or self.now()

    def advance(self, by: timedelta) -> None:
        """Move the time, frozen or running."""
        if self._frozen:
            self._frozen += by
        else:
            self._shift += by

    def date_header(self) -> str:
        """Write `now()` as the Date header of HTTP."""
        return format_datetime(self.now(), usegmt=True)


def iso(moment: datetime) -> str:
    """Write a moment as GitHub does: 2026-11-30T12:00:00Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(text: str) -> datetime:
    """Read an outside date-time; ValueError when it is none."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
