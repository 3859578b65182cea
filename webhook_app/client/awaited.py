"""The client whose answers are awaited."""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable
from types import TracebackType
from typing import Any, Self

import httpx

from .asking import Asking
from .requests import SECONDS, Patience, Request, connection, read, unreached


class Awaited(Asking[Awaitable[dict[str, Any]], Awaitable[list[dict[str, Any]]]]):
    """One agent's access to one server, whichever way its answers come to be awaited."""

    @abstractmethod
    async def wait(self, proposal: str, timeout: float, *, every: float = 2.0) -> dict[str, Any]:  # noqa: ASYNC109 (how long a person may take)
        """Ask until it is over, `every` so many seconds; StillWaiting after `timeout` seconds."""


class AsyncPlacet(Awaited):
    """One agent's access to one server; `session` names its conversation, whose turns are told.

    `timeout`: how many seconds an answer may take.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        session: str | None = None,
        timeout: float = SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._session = session
        self._http = httpx.AsyncClient(**connection(url, token, timeout), transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def wait(self, proposal: str, timeout: float, *, every: float = 2.0) -> dict[str, Any]:  # noqa: ASYNC109 (how long a person may take)
        """Ask until it is over, `every` so many seconds; StillWaiting after `timeout` seconds."""
        patience = Patience(timeout, every)
        while True:
            seen = await self.status(proposal)
            if (pause := patience.pause(seen)) is None:
                return seen
            await asyncio.sleep(pause)

    async def _listed(self, request: Request, member: str) -> list[dict[str, Any]]:
        return list((await self._send(request))[member])

    async def _send(self, request: Request) -> dict[str, Any]:
        try:
            response = await self._http.request(**request.sent(self._session))
        except httpx.HTTPError as error:
            raise unreached(self._http.base_url, error) from None
        return read(response)
