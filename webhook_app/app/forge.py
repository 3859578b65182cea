"""GitHub as the settings describe it, who we are there, and whether it answers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

import httpx

from proposals.plan import Place, Proposal
from proposals.ports import Forge, ForgeError
from webhook_app.github import ForgeSettings, GitHubForge
from webhook_app.settings import Settings, SettingsError

from .view import View


@dataclass(slots=True)
class GitHub:
    """The forge; `reachable`: whether GitHub answered when it was last asked for missed deliveries.

    A forge of another kind, as tests have it, has no account of its own.
    """

    forge: Forge
    reachable: bool = True

    @property
    def bot(self) -> int | None:
        """The numeric id of our App's own account, once GitHub has said it."""
        return self.forge.bot if isinstance(self.forge, NamedForge) else None

    def brakes(self) -> Mapping[int, tuple[float, int]]:
        """Where writes wait for a limit: installation -> seconds to go, and how many wait."""
        return self.forge.brakes() if isinstance(self.forge, GitHubForge) else {}

    def watched(self, fetch: Callable[[], Awaitable[int]]) -> Callable[[], Awaitable[int]]:
        """The same fetching, which also learns who we are and whether GitHub answers."""

        async def watching() -> int:
            try:
                if isinstance(self.forge, NamedForge):
                    await self.forge.learn()
                    self.reachable = True
                found = await fetch()
            except ForgeError:
                self.reachable = False
                raise
            self.reachable = True
            return found

        return watching


class NamedForge(GitHubForge):
    """The forge that knows who we are, and whose pages know the names of their repositories."""

    def __init__(
        self,
        settings: ForgeSettings,
        view: View,
        now: Callable[[], datetime],
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(settings, view, now, transport=transport)
        self._names = view.names
        self.bot: int | None = None

    async def learn(self) -> None:
        """Ask once who we are; ForgeError."""
        if self.bot is None:
            self.bot = await self.our_user_id()

    async def publish(self, proposal: Proposal, plan_file: bytes) -> Place:
        """Open the pull request, or find what is there already, under today's name.

        Not before we know who we are: our own push would look like somebody else's.
        """
        await self.learn()
        repository = await self.places.of(proposal.repository)
        self._names[repository.id] = f"{repository.owner}/{repository.name}"
        return await super().publish(proposal, plan_file)


@asynccontextmanager
async def github(settings: Settings, now: Callable[[], datetime]) -> AsyncIterator[GitHub]:
    """The forge over the network; SettingsError when the settings do not allow one."""
    try:
        said = ForgeSettings(
            api_url=settings.api_url,
            app_id=settings.app_id,
            client_id=settings.client_id,
            private_key_pem=settings.pem(),
            accounts=settings.accounts,
            allow_public=settings.allow_public,
            api_version=settings.api_version,
            writes_per_minute=settings.writes_per_minute or None,
            writes_per_hour=settings.writes_per_hour if settings.writes_per_minute else None,
            burst=settings.write_burst,
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None
    async with NamedForge(said, View(settings.html_url), now) as forge:
        yield GitHub(forge, reachable=False)
