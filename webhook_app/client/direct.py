"""The client that waits for each answer."""

import time
from types import TracebackType
from typing import Any, Self

import httpx

from .asking import Asking
from .requests import SECONDS, Patience, Request, connection, read, unreached


class Placet(Asking[dict[str, Any], list[dict[str, Any]]]):
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._session = session
        self._http = httpx.Client(**connection(url, token, timeout), transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def wait(self, proposal: str, timeout: float, *, every: float = 2.0) -> dict[str, Any]:
        """Ask until it is over, `every` so many seconds; StillWaiting after `timeout` seconds."""
        patience = Patience(timeout, every)
        while True:
            seen = self.status(proposal)
            if (pause := patience.pause(seen)) is None:
                return seen
            time.sleep(pause)

    def _listed(self, request: Request, member: str) -> list[dict[str, Any]]:
        return list(self._send(request)[member])

    def _send(self, request: Request) -> dict[str, Any]:
        try:
            response = self._http.request(**request.sent(self._session))
        except httpx.HTTPError as error:
            raise unreached(self._http.base_url, error) from None
        return read(response)
