"""The one way to GitHub: checked paths, own tokens, paced writes, every error a ForgeError."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from functools import cache
from typing import Any, Self

import httpx
from githubkit.exception import RequestError

from proposals.ports import Lost, Refused, Unavailable

from .answer import READS, Limited, NotSent, Reply, broken, judged
from .kept import Kept, as_app, bare
from .pace import Limits, Pace
from .route import Route, route
from .setup import ForgeSettings
from .shapes import InstallationToken
from .tokens import Minted, Scope, Tokens

Query = Mapping[str, str | int]
GONE = frozenset({403, 404})
UNAUTHORIZED = 401


class Client:
    """Speaks to one GitHub as one App; enter it once, use it from every task.

    `clock` gives seconds that only grow; `transport` replaces the network.
    """

    def __init__(
        self,
        settings: ForgeSettings,
        now: Callable[[], datetime],
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]],
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        tls = _tls()
        self.settings = settings
        self.now = now
        self.sleep = sleep
        self._app = as_app(settings, tls, transport)
        self._bare = bare(settings, tls, transport)
        limits = Limits(settings.writes_per_minute, settings.burst, settings.writes_per_hour)
        self.pace = Pace(limits, clock, sleep)
        self._tokens = Tokens(self._mint, clock)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._app)
        await self._stack.enter_async_context(self._bare)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def app(
        self, method: str, path: Route, query: Query | None = None, body: Any = None
    ) -> Reply:
        """Ask as the App itself; Unavailable, Refused or Lost when there is no good answer."""
        return await self._send(self._app, method, path, query, body, {})

    async def installed(
        self,
        scope: Scope,
        method: str,
        path: Route,
        query: Query | None = None,
        body: Any = None,
        *,
        urgent: bool = False,
    ) -> Reply:
        """Ask with an installation's token, writes in their turn; errors as `app`."""
        if method in READS:
            self.pace.check(scope.installation)
            return await self._limited(scope, method, path, query, body)
        async with self.pace.turn(scope.installation, urgent=urgent):
            reply = await self._limited(scope, method, path, query, body)
        self.pace.worked(scope.installation)
        return reply

    async def _limited(
        self, scope: Scope, method: str, path: Route, query: Query | None, body: Any
    ) -> Reply:
        try:
            return await self._with_token(scope, method, path, query, body)
        except Limited as limit:
            self.pace.close(scope.installation, limit.retry_after, told=limit.told)
            raise

    async def _with_token(
        self, scope: Scope, method: str, path: Route, query: Query | None, body: Any
    ) -> Reply:
        """A token that is refused is made again, once; then nothing has happened yet."""
        token = await self._tokens.get(scope)
        try:
            return await self._send(self._bare, method, path, query, body, _bearer(token))
        except Refused as refused:
            if refused.status != UNAUTHORIZED:
                raise
        self._tokens.drop(scope, token)
        token = await self._tokens.get(scope)
        return await self._send(self._bare, method, path, query, body, _bearer(token))

    async def _send(
        self,
        kept: Kept[Any],
        method: str,
        path: Route,
        query: Query | None,
        body: Any,
        headers: Mapping[str, str],
    ) -> Reply:
        asked = f"{method} {path}"
        version = {"X-GitHub-Api-Version": self.settings.api_version}
        try:
            async with asyncio.timeout(self.settings.deadline):
                response = await kept.send(
                    method, path, params=query or {}, json=body, headers={**version, **headers}
                )
        except RequestError as error:
            raise broken(method, asked, error.exc) from None
        except TimeoutError as error:
            raise broken(method, asked, error) from None
        except (ValueError, TypeError, httpx.InvalidURL) as error:
            raise NotSent(f"{asked} cannot be sent: {type(error).__name__}", 400) from None
        return judged(method, asked, response, self.now())

    async def _mint(self, scope: Scope) -> Minted:
        wanted: dict[str, Any] = {"permissions": dict(scope.permissions)}
        if scope.repositories:
            wanted["repository_ids"] = list(scope.repositories)
        path = route("app", "installations", scope.installation, "access_tokens")
        try:
            reply = await self.app("POST", path, body=wanted)
            minted = reply.read(InstallationToken)
        except Lost as lost:
            raise Unavailable(str(lost)) from None
        except Refused as refused:
            gone = refused.status in GONE
            why = "The installation is suspended or gone" if gone else "There is no token for this"
            raise NotSent(f"{why}: {refused}", 403 if gone else refused.status) from None
        life = minted.expires_at - (reply.date or self.now())
        return Minted(minted.token, life.total_seconds())


@cache
def _tls() -> ssl.SSLContext:
    """Loading the machine's certificates takes 22 ms; all clients share them."""
    return ssl.create_default_context()


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
