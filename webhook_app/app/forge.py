"""GitHub as the settings describe it, who we are there, and whether it answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
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
    """The forge; `bot` is the numeric id of our App's own account once GitHub has said it.

    `reachable`: whether GitHub answered when it was last asked for missed deliveries.
    """

    forge: Forge
    bot: int | None = None
    reachable: bool = True

    def watched(self, fetch: Callable[[], Awaitable[int]]) -> Callable[[], Awaitable[int]]:
        """The same fetching, which also learns who we are and whether GitHub answers."""

        async def watching() -> int:
            try:
                if self.bot is None and isinstance(self.forge, GitHubForge):
                    self.bot = await self.forge.our_user_id()
                found = await fetch()
            except ForgeError:
                self.reachable = False
                raise
            self.reachable = True
            return found

        return watching


class NamedForge(GitHubForge):
    """The forge whose pages know the names of their repositories."""

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

    async def publish(self, proposal: Proposal, plan_file: bytes) -> Place:
        """Open the pull request, or find what is there already, under today's name."""
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
            private_key_pem=settings.pem(),
            accounts=settings.accounts,
            allow_public=settings.allow_public,
            api_version=settings.api_version,
            writes_per_minute=settings.writes_per_minute,
            burst=settings.write_burst,
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None
    async with NamedForge(said, View(settings.html_url), now) as forge:
        yield GitHub(forge, reachable=False)
