"""What the App may do and is told of, against what it needs, which app-manifest.json asks for."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from .pages import pages
from .places import Places
from .route import route
from .shapes import Installation, ThisApp

PERMISSIONS: Mapping[str, str] = {
    "metadata": "read",
    "contents": "write",
    "pull_requests": "write",
    "checks": "write",
    "issues": "read",
    "members": "read",
}
EVENTS = ("pull_request", "pull_request_review", "issue_comment", "check_run", "push")
_LEVELS = {"read": 1, "write": 2, "admin": 3}


class _App(ThisApp):
    permissions: dict[str, Any] = Field(default_factory=dict)
    events: list[str] = Field(default_factory=list)


class _Installed(Installation):
    permissions: dict[str, Any] = Field(default_factory=dict)
    events: list[str] = Field(default_factory=list)


async def lacking(places: Places) -> list[str]:
    """What GitHub says is missing, for the App and where it is installed; ForgeError."""
    app = (await places.client.app("GET", route("app"))).read(_App)
    found = [f"The App lacks {one}." for one in _missing(app.permissions, app.events)]
    for installed in await _installations(places):
        where = installed.account.login if installed.account else str(installed.id)
        if installed.suspended_at:
            found.append(f"The App is suspended on {where}.")
        elif not found:
            # What the App gained later, each owner must accept.
            missing = _missing(installed.permissions, installed.events)
            found += [f"On {where}, an owner has yet to accept {one}." for one in missing]
    return found


async def _installations(places: Places) -> list[_Installed]:
    """The App on the accounts that count."""
    listed = places.client.settings.accounts
    found: list[_Installed] = []
    async for page in pages(
        lambda step: places.client.app("GET", route("app", "installations"), step)
    ):
        found += page.read(list[_Installed])
    return [i for i in found if i.account and i.account.id in listed]


def _missing(permissions: Mapping[str, Any], events: Iterable[str]) -> list[str]:
    given = {name: _LEVELS.get(str(level), 0) for name, level in permissions.items()}
    short = [f"{n}: {lv}" for n, lv in PERMISSIONS.items() if given.get(n, 0) < _LEVELS[lv]]
    untold = [f"the event {event}" for event in EVENTS if event not in set(events)]
    return short + untold
