"""What every door opens onto: the parts that the app put together when it started."""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from proposals.flow import Ports
from proposals.plan import Proposal
from proposals.store import Agent, Store
from proposals.tools import Catalog
from webhook_app.settings import Settings

from .intake import Intake
from .metrics import Metrics
from .problem import Problem

READS = 8
"""How many reads of one agent run at once; the others wait for their turn."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Waker(Protocol):
    """Whoever works through what the doors have taken in."""

    def wake(self) -> None:
        """Look now instead of at the next turn."""

    def nudge(self, id_: str) -> None:
        """Look at one proposal now."""


Ask = Callable[[str, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Asks an upstream, by its name, by a method and with parameters of MCP."""


async def nobody(upstream: str, _method: str, _params: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for upstreams where there are none."""
    raise LookupError(f"there is no upstream {upstream}")


@dataclass(frozen=True, slots=True)
class Hall:
    """The running server, as a door sees it; `ready` are the checks of /readyz by name.

    `bot` gives the numeric id of our App's bot user, None as long as it is not known; `brakes`
    tells where writes wait for a limit (installation -> seconds, how many); `upstreams` names those
    of others' tools, with the reason for each that is down, `listen` tells of each whose tools
    change, and `ask` asks one of them for something that is no call of a tool; `tasks` are the
    plannings that go on, and `patience` is how many seconds a caller waits for one. Who holds
    `reading` of an agent runs a read for it.
    """

    settings: Settings
    ports: Ports
    worker: Waker
    metrics: Metrics
    ready: Mapping[str, Callable[[], bool]] = field(default_factory=dict)
    bot: Callable[[], int | None] = lambda: None
    brakes: Callable[[], Mapping[int, tuple[float, int]]] = dict
    upstreams: Callable[[], Mapping[str, str]] = dict
    listen: Callable[[Callable[[str], None]], None] = lambda _: None
    ask: Ask = nobody
    tasks: set[asyncio.Task[Proposal]] = field(default_factory=set)
    patience: float = 20.0
    intake: Intake = field(init=False)
    reading: defaultdict[str, asyncio.Semaphore] = field(
        default_factory=lambda: defaultdict(lambda: asyncio.Semaphore(READS)), init=False
    )

    def __post_init__(self) -> None:
        """Open the way in."""
        object.__setattr__(self, "intake", Intake(self.ports.store, self.worker.wake))

    @property
    def store(self) -> Store:
        """The store."""
        return self.ports.store

    @property
    def catalog(self) -> Catalog:
        """The declared tools."""
        return self.ports.catalog

    def now(self) -> datetime:
        """The time, in UTC."""
        return self.ports.now()


def hall(request: Request) -> Hall:
    """Give a route the hall that the lifespan left on the application."""
    found = request.app.state.hall
    if not isinstance(found, Hall):
        raise TypeError("the application has not been started")
    return found


def token_hash(token: str) -> str:
    """What is kept of an agent's token: the hex SHA-256, enough for 32 random bytes."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def agent(request: Request, here: Annotated[Hall, Depends(hall)]) -> Agent:
    """Tell which agent calls, by its bearer token; the refusal never says what was wrong.

    What a page of another site has a browser send is refused, at every door of agents.
    """
    _own_page(request, here.settings.url)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    known = here.store.agent_by_token(token_hash(token)) if scheme.lower() == "bearer" else None
    if known is None or not token:
        raise Problem(
            401,
            "unauthorized",
            "No valid agent token came with the request.",
            "Send Authorization: Bearer and the token that `placet agents add` printed.",
            headers={"WWW-Authenticate": 'Bearer realm="placet"'},
        )
    return known


def _own_page(request: Request, own: str) -> None:
    """Refuse a request whose page is of another site; programs send no Origin."""
    origin = request.headers.get("origin")
    if origin is None or origin == "://".join(urlsplit(own)[:2]) or _is_here(origin):
        return
    hint = "Ask from a program, or from a page of the server's own address."
    raise Problem(403, "foreign_origin", "A page of another site sent the request.", hint)


def _is_here(origin: str) -> bool:
    try:
        return urlsplit(origin).hostname in _LOOPBACK
    except ValueError:
        return False


async def body(request: Request, limit: int) -> bytes:
    """Read a body of at most `limit` bytes, by its stated and by its real length; else 413."""
    stated = request.headers.get("content-length", "0")
    too_large = Problem(413, "too_large", f"The body is larger than {limit} bytes.", "Send less.")
    if not stated.isascii() or not stated.isdecimal() or len(stated) > len(str(limit)) + 1:
        raise too_large
    if int(stated) > limit:
        raise too_large
    read = bytearray()
    try:
        async for chunk in request.stream():
            read += chunk
            if len(read) > limit:
                raise too_large
    except ClientDisconnect:
        raise Problem(400, "incomplete", "The body broke off.", "Send it again.") from None
    return bytes(read)


def is_json(request: Request) -> bool:
    """Say whether the body is declared to be JSON."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower() == (
        "application/json"
    )


Here = Annotated[Hall, Depends(hall)]
Caller = Annotated[Agent, Depends(agent)]
