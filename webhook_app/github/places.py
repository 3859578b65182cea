"""From a repository's id to where it stands: its installation, its owner, its names."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from proposals.ports import ForgeError, Refused

from .client import Client
from .pages import pages
from .repository import Repository
from .route import route
from .shapes import Installation, InstalledRepositories, InstalledRepository
from .tokens import Scope

FRESH = 3600.0
AGAIN = 10.0
"""Seconds in which nobody asks a second time for what was not there."""
_SUSPENDED = "the App's installation is suspended; an owner of the account must unsuspend it"
_NOT_INSTALLED = (
    "the App is not installed on it, or only on an account that `accounts` does not list; it may "
    "have been taken from the installation, or moved to another account"
)
_PUBLIC = "it is public and `allow_public` is off; make it private again, or ask the operator"
_ARCHIVED = "it is archived; one of its administrators must unarchive it"

Bar = tuple[str, str]


@dataclass(slots=True)
class Places:
    """Every repository the App may be used on, found by id and kept for an hour.

    Only installations on the listed accounts count; nothing is asked with the token of another,
    and one that cannot be asked just now keeps what was known of it.
    """

    client: Client
    clock: Callable[[], float]
    _known: dict[int, Repository] = field(default_factory=dict)
    _homes: dict[int, int] = field(default_factory=dict)
    _bars: dict[int, Bar] = field(default_factory=dict)
    _stale: set[int] = field(default_factory=set)
    _suspended: frozenset[int] = frozenset()
    _read_at: float | None = None
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, repository: int, *, fresh: bool = False) -> Repository:
        """The repository with this id; Refused with what bars it when it may not be used.

        `fresh`: as GitHub shows it now, or did a moment ago.
        """
        asked = self.clock()
        if self._wanted(repository, fresh=fresh):
            async with self._line:
                began = -1.0 if self._read_at is None else self._read_at
                if began < asked if fresh else self._wanted(repository):
                    await self._read()
        if repository in self._known:
            return self._known[repository]
        code, why = self._bar(repository) or ("not_installed", _NOT_INSTALLED)
        raise Refused(f"Repository {repository} cannot be used: {why}", 403, code)

    def _wanted(self, repository: int, *, fresh: bool = False) -> bool:
        """Whether to read again before answering about this repository."""
        age = self.clock() - self._read_at if self._read_at is not None else FRESH + 1
        known = repository in self._known
        return fresh or repository in self._stale or age > (FRESH if known else AGAIN)

    async def named(self, name: str) -> Repository:
        """The repository that is called `owner/name` now; Refused when the App cannot use it."""
        found = self._called(name)
        if found is None:
            async with self._line:
                await self._read()
            found = self._called(name)
        if found is None:
            words = f"The App is not installed on {name[:200]}, or it may not be used"
            raise Refused(words, 403, "not_installed")
        return found

    def _called(self, name: str) -> Repository | None:
        wanted = name.casefold()
        here = self._known.values()
        return next((r for r in here if f"{r.owner}/{r.name}".casefold() == wanted), None)

    def _bar(self, repository: int) -> Bar | None:
        """What bars a repository, as of the last reading; None for one that is not known."""
        if repository in self._bars:
            return self._bars[repository]
        home = self._homes.get(repository)
        if self._suspended and (home is None or home in self._suspended):
            return ("suspended", _SUSPENDED)
        return None

    async def any_scope(self) -> Scope:
        """A scope that may look up public things, on any installation that counts."""
        for installation in await self._installations():
            if not installation.suspended_at:
                return Scope.of(installation.id, metadata="read")
        raise Refused("The App is installed on none of the listed `accounts`", 403, "not_installed")

    def forget(self, repository: int) -> None:
        """Look this repository up again before its next use: it moved, or its access changed."""
        self._stale.add(repository)

    async def _read(self) -> None:
        began, stale = self.clock(), set(self._stale)
        installations = await self._installations()
        self._suspended = frozenset(i.id for i in installations if i.suspended_at)
        working = [i for i in installations if not i.suspended_at]
        lists = await asyncio.gather(*(self._repositories(i) for i in working))
        known: dict[int, Repository] = {}
        self._bars = {}
        for installation, found in zip(working, lists, strict=True):
            if found is None:
                known |= {r: k for r, k in self._known.items() if k.installation == installation.id}
                continue
            for repository in found:
                self._homes[repository.id] = installation.id
                if bar := self._barred(repository):
                    self._bars[repository.id] = bar
                elif repository.owner.id in self.client.settings.accounts:
                    known[repository.id] = self._place(installation, repository)
        self._known, self._read_at = known, began
        self._stale -= stale

    def _barred(self, found: InstalledRepository) -> Bar | None:
        if found.owner.id not in self.client.settings.accounts:
            return ("not_installed", _NOT_INSTALLED)
        if not found.private and not self.client.settings.allow_public:
            return ("public", _PUBLIC)
        return ("archived", _ARCHIVED) if found.archived else None

    async def _installations(self) -> list[Installation]:
        found: list[Installation] = []
        path = route("app", "installations")
        async for page in pages(lambda step: self.client.app("GET", path, step)):
            found += page.read(list[Installation])
        listed = self.client.settings.accounts
        return [i for i in found if i.account and i.account.id in listed]

    async def _repositories(self, installation: Installation) -> list[InstalledRepository] | None:
        """What an installation covers; None when it cannot be asked: it must not stop others."""
        scope, path = (
            Scope.of(installation.id, metadata="read"),
            route("installation", "repositories"),
        )
        found: list[InstalledRepository] = []
        try:
            async for page in pages(lambda step: self.client.installed(scope, "GET", path, step)):
                found += page.read(InstalledRepositories).repositories
        except Refused:
            return []  # gone since it was listed
        except ForgeError:
            return None
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
