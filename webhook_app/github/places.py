"""From a repository's id to where it stands: its installation, its owner, its names."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from proposals.ports import Refused

from .client import Client
from .pages import pages
from .repository import Repository
from .route import route
from .shapes import Installation, InstalledRepositories, InstalledRepository
from .tokens import Scope

FRESH = 3600.0


@dataclass(slots=True)
class Places:
    """Every repository the App may be used on, found by id and kept for an hour.

    Only installations on the listed accounts count; nothing is asked with the token of another.
    """

    client: Client
    clock: Callable[[], float]
    _known: dict[int, Repository] = field(default_factory=dict)
    _why_not: dict[int, str] = field(default_factory=dict)
    _read_at: float | None = None
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, repository: int) -> Repository:
        """The repository with this id; Refused with the reason when it may not be used."""
        async with self._line:
            stale = self._read_at is None or self.clock() - self._read_at > FRESH
            if stale or repository not in self._known:
                await self._read()
        if repository not in self._known:
            why = self._why_not.get(
                repository,
                "the App is not installed on it, or only on an account that `accounts` does not "
                "list, or the installation is suspended",
            )
            raise Refused(f"Repository {repository} cannot be used: {why}", 403)
        return self._known[repository]

    async def any_scope(self) -> Scope:
        """A scope that may look up public things, on any installation that counts."""
        for installation in await self._installations():
            return Scope.of(installation.id, metadata="read")
        raise Refused("The App is installed on none of the listed `accounts`", 403)

    def forget(self, repository: int) -> None:
        """Look this repository up again before its next use: it moved, or its access changed."""
        self._known.pop(repository, None)

    async def _read(self) -> None:
        known: dict[int, Repository] = {}
        self._why_not = {}
        for installation in await self._installations():
            for found in await self._repositories(installation):
                if found.owner.id not in self.client.settings.accounts:
                    continue
                if not found.private and not self.client.settings.allow_public:
                    self._why_not[found.id] = "it is public and `allow_public` is off"
                    continue
                known[found.id] = self._place(installation, found)
        self._known, self._read_at = known, self.clock()

    async def _installations(self) -> list[Installation]:
        found: list[Installation] = []
        path = route("app", "installations")
        async for page in pages(lambda step: self.client.app("GET", path, step)):
            found += page.read(list[Installation])
        listed = self.client.settings.accounts
        return [i for i in found if i.account and i.account.id in listed and not i.suspended_at]

    async def _repositories(self, installation: Installation) -> list[InstalledRepository]:
        scope, path = (
            Scope.of(installation.id, metadata="read"),
            route("installation", "repositories"),
        )
        found: list[InstalledRepository] = []
        try:
            async for page in pages(lambda step: self.client.installed(scope, "GET", path, step)):
                found += page.read(InstalledRepositories).repositories
        except Refused:
            return []  # gone since it was listed; it must not stop the others
        return found

    def _place(self, installation: Installation, found: InstalledRepository) -> Repository:
        return Repository(
            found.id,
            installation.id,
            found.owner.login,
            found.name,
            found.default_branch,
            self.client,
            self.forget,
        )
