"""githubkit, held so that it cannot surprise: no cache, no retry, no redirect, one HTTP client."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

import httpx
from githubkit import AppAuthStrategy, GitHub, UnauthAuthStrategy
from githubkit.auth import BaseAuthStrategy
from githubkit.cache import MemCacheStrategy

from .answer import QUERY
from .setup import ForgeSettings

A = TypeVar("A", bound=BaseAuthStrategy)
USER_AGENT = "placet"


class Kept(GitHub[A]):
    """A githubkit client whose connections every task shares while it is entered.

    githubkit keeps its HTTP client in a ContextVar that tasks started elsewhere do not see; they
    would open a new connection for each request.
    """

    _http: httpx.AsyncClient

    async def __aenter__(self) -> Self:
        self._http = await self._create_async_client()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @asynccontextmanager
    async def get_async_client(self) -> AsyncGenerator[httpx.AsyncClient, None]:
        """The one client; githubkit asks for it before each request."""
        yield self._http

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int],
        json: Any,
        headers: Mapping[str, str],
    ) -> httpx.Response:
        """Send one request as it is: no checks, limits or retries of githubkit's own."""
        url: str | httpx.URL = path
        if method == QUERY:
            method, url = "POST", graphql(self.config.base_url)
        return await self._arequest(method, url, params=params, json=json, headers=headers)


def graphql(api: httpx.URL) -> httpx.URL:
    """Where GraphQL is: below the API, on GitHub Enterprise Server beside its `v3`."""
    root = api.path.rstrip("/")
    root = root.removesuffix("/v3") if root.endswith("/api/v3") else root
    return api.copy_with(path=f"{root}/graphql")


def as_app(
    settings: ForgeSettings, tls: ssl.SSLContext, transport: httpx.AsyncBaseTransport | None
) -> Kept[AppAuthStrategy]:
    """A client that signs each request with the App's key."""
    return _kept(
        AppAuthStrategy(settings.client_id or settings.app_id, settings.private_key_pem),
        settings,
        tls,
        transport,
    )


def bare(
    settings: ForgeSettings, tls: ssl.SSLContext, transport: httpx.AsyncBaseTransport | None
) -> Kept[UnauthAuthStrategy]:
    """A client for requests that bring their own token: no path can change whose they are."""
    return _kept(UnauthAuthStrategy(), settings, tls, transport)


def _kept(
    auth: A,
    settings: ForgeSettings,
    tls: ssl.SSLContext,
    transport: httpx.AsyncBaseTransport | None,
) -> Kept[A]:
    return Kept(
        auth,
        base_url=settings.api_url,
        timeout=httpx.Timeout(settings.timeout, connect=settings.timeout / 2),
        http_cache=False,
        auto_retry=False,
        follow_redirects=False,
        user_agent=USER_AGENT,
        cache_strategy=MemCacheStrategy(),
        ssl_verify=tls,
        async_transport=transport,
    )
