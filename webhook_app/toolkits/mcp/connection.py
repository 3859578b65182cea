"""One MCP server, kept connected: one task opens the session, closes it, and opens it again."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from proposals.backoff import doubled
from proposals.canonical import JSON, same
from proposals.tools import Tool, printable
from proposals.upstreams import Unreached, Unreturned

from .listing import Listing, listing

if TYPE_CHECKING:  # the mcp library is loaded when there is a server to talk to
    from .session import Session

LOG = logging.getLogger("placet.upstreams")
FIRST, LONGEST = 0.2, 60.0  # seconds between two tries, doubled each time
STEADY = 30.0  # seconds after which a session that breaks is no part of a series
PATIENCE = 10.0  # seconds a call waits for a server that was well and is coming back
UNANSWERED = "it has not answered yet"
_SERIES = 4  # failures in a row after which nobody waits any more
LISTING = 30.0  # seconds, for each page
_PAGES, _TOOLS = 200, 5_000

Opens = Callable[[], AbstractAsyncContextManager["Session"]]


class Connection:
    """One server: `why` it is down, empty while it is up, and what it `lists`.

    `changed` is called whenever what it offers is another than before.
    """

    def __init__(self, name: str, opens: Opens, changed: Callable[["Connection"], None]) -> None:
        self.name = name
        self.why = UNANSWERED
        self.lists = Listing()
        self.tried = asyncio.Event()
        self._opens = opens
        self._changed = changed
        self._session: Session | None = None
        self._fresh = asyncio.Event()
        self._hopeless = asyncio.Event()
        self._failures = 0
        self._over = False

    async def run(self) -> None:
        """Stay connected until cancelled, which `end` announces."""
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            try:
                async with self._opens() as session:
                    await self._follow(session)
                why = "it ended the connection"
            except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 (whatever libraries raise)
                why = _words(error)
            if self._over:  # what breaks while it is cancelled hides that from us
                return
            self._down(why)
            self._failures = 1 if clock() - began > STEADY else self._failures + 1
            if self._failures >= _SERIES:
                self._hopeless.set()
            await asyncio.sleep(doubled(FIRST, self._failures, LONGEST))

    def end(self) -> None:
        """Open no session any more."""
        self._over = True

    async def session_for(self, tool: Tool, name: str) -> "Session":
        """The session to call a tool in, if it is what the server lists now; else Unreached."""
        session = await self.ready()
        now = self.lists.tools.get(name)
        if now is None:
            why = self.lists.quarantined.get(name, "it is not listed")
            raise Unreached("unknown_tool", f"{self.name} offers no usable tool {name}: {why}.")
        if tool.published is not now and not same(tool.published, now):
            why = f"{tool.name} is not what it was: its server defines it differently now."
            raise Unreached("tool_changed", why)
        return session

    async def ready(self) -> "Session":
        """Give the open session whose tools are known, after a short wait for one that returns."""
        if self._session is not None and (
            self._session.ended.is_set() or self._session.stale.is_set()
        ):
            self._fresh.clear()  # its task has not noticed yet
        if not self._fresh.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await _either(self._fresh, self._hopeless)
        if self._session is None or not self._fresh.is_set():
            why = self.why or "its tools are being listed"
            raise Unreached("upstream_down", f"The upstream {self.name} is down: {why}.")
        return self._session

    async def _follow(self, session: "Session") -> None:
        """List its tools, and again whenever they change, until it is gone."""
        try:
            while not session.ended.is_set():
                session.stale.clear()
                found = await self._listed(session)
                if not session.stale.is_set():
                    self._up(session, found)
                    await _either(session.stale, session.ended)
                    self._fresh.clear()
        finally:
            self._session = None
            self.why = self.why or "it is being connected to again"

    async def _listed(self, session: "Session") -> Listing:
        said: list[JSON] = []
        cursor, seen = None, set[str]()
        for _ in range(_PAGES):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = await session.request("tools/list", params, LISTING)
            tools, cursor = page.get("tools"), page.get("nextCursor")
            if not isinstance(tools, list) or len(said) + len(tools) > _TOOLS:
                raise Unreturned("its listing of tools cannot be read")
            said += tools
            if not isinstance(cursor, str) or not cursor or cursor in seen:
                return listing(said, session.server)
            seen.add(cursor)
        raise Unreturned(f"its listing of tools has more than {_PAGES} pages")

    def _up(self, session: "Session", found: Listing) -> None:
        schemas = {name: found.tools[name]["inputSchema"] for name in found.tools}
        session.schemas = {n: s for n, s in schemas.items() if isinstance(s, dict)}
        self._session, self.why = session, ""
        self._tell(found)
        self._fresh.set()
        self._hopeless.clear()
        self.tried.set()

    def _down(self, why: str) -> None:
        self._session = None
        self._fresh.clear()
        self.tried.set()
        if self.why != (said := printable(why, 500)):
            LOG.warning("upstream %s is down: %s", self.name, said)
        self.why = said

    def _tell(self, found: Listing) -> None:
        if found == self.lists:
            return
        for name in found.quarantined.keys() - self.lists.quarantined.keys():
            why = found.quarantined[name]
            LOG.warning("upstream %s: tool %s cannot be used: %s", self.name, name, why)
        self.lists = found
        self._changed(self)


async def _either(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()


def _words(error: BaseException) -> str:
    """Why it is down, from whatever the libraries wrapped it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return f"it could not be started: {error.strerror}"
    return str(error) or type(error).__name__
