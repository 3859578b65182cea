"""The MCP servers that Placet runs or reaches, as one way to call the tools declared of them."""

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proposals.canonical import JSON
from proposals.tools import BadDeclaration, Catalog, Tool, printable
from proposals.upstreams import PROGRESS, Heard, Unreached, Unreturned
from webhook_app.settings import Upstream
from webhook_app.toolkits.process import environment

from .connection import Connection, Opens
from .listing import Definition, Listing, arguments

if TYPE_CHECKING:
    from .session import Session
    from .stdio import LastWords

LOG = logging.getLogger("placet.upstreams")
SETTLING = 10.0  # seconds a start waits for servers that neither answer nor fail
ASKED = 30.0  # seconds for what is no call of a tool
KIND = "mcp"
_WORDS = 4_000  # characters of an error that are kept


class McpUpstreams:
    """All MCP servers of placet.toml, by the first part of their tools' names.

    `folder` is where placet.toml lies and where commands run; `server` is the server's environment.
    A server that is down takes nothing but its own tools with it. BadDeclaration when one cannot
    be run as it is declared.
    """

    def __init__(
        self, declared: Mapping[str, Upstream], folder: Path, server: Mapping[str, str]
    ) -> None:
        self._catalog = Catalog.of(())
        self._listeners: list[Callable[[str], None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._of = {
            name: Connection(
                name,
                _opens(name, upstream, folder, server, partial(self._ended, name)),
                self._changed,
            )
            for name, upstream in declared.items()
            if upstream.kind == KIND
        }

    async def start(self, catalog: Catalog) -> None:
        """Connect to all of them, and publish to the catalog what they say of their tools.

        Comes back when each has answered or failed once.
        """
        self._catalog = catalog
        self._tasks = [asyncio.create_task(one.run()) for one in self._of.values()]
        try:
            async with asyncio.timeout(SETTLING):
                for one in self._of.values():
                    await one.tried.wait()
        except TimeoutError:
            LOG.warning("some upstreams have neither answered nor failed in %g s", SETTLING)

    async def close(self) -> None:
        """End every session, and every process that was started for one."""
        for one in self._of.values():
            one.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def down(self) -> dict[str, str]:
        """Every upstream, with the reason why it is down; an empty one for those that are up."""
        return {name: one.why for name, one in self._of.items()}

    def listing(self, upstream: str) -> Listing:
        """What an upstream lists, declared here or not; KeyError when there is no such upstream."""
        return self._of[upstream].lists

    def listen(self, listener: Callable[[str], None]) -> None:
        """Have the listener called with an upstream's name whenever its tools have changed."""
        self._listeners.append(listener)

    async def ready(self, tool: Tool) -> None:
        """Unreached when its server is down, or offers it no more or otherwise than published."""
        await self._connection(tool).session_for(tool, tool.name.partition(".")[2])

    async def call(self, tool: Tool, arguments: dict[str, JSON], key: str | None) -> Heard:
        """Call it once; Unreached or Unreturned. Cancelling this cancels the call on the server.

        Whoever is in PROGRESS is told how far it is.
        `value` is {content, structuredContent, isError} as they are on the wire.
        """
        name, connection = tool.name.partition(".")[2], self._connection(tool)
        if key is not None and tool.key_argument:
            arguments = arguments | {tool.key_argument: key}
        params = {"name": name, "arguments": arguments}
        session = await connection.session_for(tool, name)
        try:
            return await _called(session, tool, params)
        except (Unreached, Unreturned) as error:
            harmless = tool.effect == "read" or isinstance(error, Unreached)
            if not (harmless and session.ended.is_set()):
                raise
        # What was never sent, or is a read, may be asked once more when the server is back.
        return await _called(await connection.session_for(tool, name), tool, params)

    async def ask(self, upstream: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """What a server answers to a request that is no call of a tool, as it is on the wire.

        Raises Unreached, Unreturned, or the session's Refused; KeyError for an unknown upstream.
        """
        session = await self._of[upstream].ready()
        return await session.request(method, params, ASKED)

    def _connection(self, tool: Tool) -> Connection:
        upstream = tool.name.partition(".")[0]
        if upstream not in self._of:
            raise Unreached("unknown_upstream", f"There is no [upstream.{upstream}].")
        return self._of[upstream]

    def _ended(self, upstream: str, code: int, noise: bytes) -> None:
        """Log how a server ended; what one wrote that is given secrets may hold them."""
        own = (tool for tool in self._catalog.whole() if tool.name.startswith(f"{upstream}."))
        said = printable(noise.decode(errors="replace"), 2_000) or "nothing"
        if noise and any(tool.secrets for tool in own):
            said = f"{len(noise):,} bytes, not told here: it is given secrets"
        LOG.info("upstream %s ended with code %d; on stderr: %s", upstream, code, said)

    def _changed(self, connection: Connection) -> None:
        for tool in self._catalog.whole():
            upstream, _, name = tool.name.partition(".")
            if tool.kind == KIND and upstream == connection.name:
                self._catalog.publish(_published(tool, connection.lists.tools.get(name)))
        for listener in self._listeners:
            listener(connection.name)


def _published(tool: Tool, now: Definition | None) -> Tool:
    """The declared tool as its server defines it now, or as one that cannot be called."""
    why = "its upstream offers no such tool"
    if now is not None:
        known = tool.with_schema(arguments(now), published=now)
        why = known.unflippable()
        if not why:
            return known
    LOG.warning("[tool.%s] cannot be called: %s", tool.name, why)
    return tool.with_schema({})


async def _called(session: "Session", tool: Tool, params: Mapping[str, Any]) -> Heard:
    seconds, part = tool.timeout.total_seconds(), _part("session")
    try:
        value = part.readable(await session.request("tools/call", params, seconds, PROGRESS.get()))
    except part.Refused as error:
        empty: JSON = {"content": [], "structuredContent": None, "isError": True}
        return Heard(empty, str(error), wire=True)
    except Unreturned as error:
        raise Unreturned(f"{tool.name} was called, and no answer came back: {error}.") from None
    return Heard(value, _error(value) if value["isError"] else "", wire=True)


def _error(value: Mapping[str, Any]) -> str:
    texts = [block["text"] for block in value["content"] if block.get("type") == "text"]
    return "\n".join(texts)[:_WORDS] or "it failed and did not say why"


def _opens(
    name: str, upstream: Upstream, folder: Path, server: Mapping[str, str], tell: "LastWords"
) -> Opens:
    """How a session with it is opened; BadDeclaration when a variable that it needs is not set."""
    said = {header: f"env:{source}" for header, source in upstream.headers_env.items()}
    values, lacking = environment(server, said or upstream.env)
    if lacking:
        raise BadDeclaration(
            f"[upstream.{name}] names the environment variable {lacking[0]}, which the server does"
            " not have; set it and start again."
        )
    session, most = _part("session"), upstream.max_answer
    if upstream.url:
        http, url = _part("http"), upstream.url
        headers = {header: values[header] for header in said}
        return lambda: session.opened(http.reaching(url, headers, most))
    stdio = _part("stdio")
    return lambda: session.opened(stdio.running(upstream.command, folder, values, most, tell))


def _part(name: str) -> Any:
    """A module that needs the mcp library, which takes most of a second to load."""
    try:
        return importlib.import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in {"mcp", "mcp_types", "httpx2"}:
            raise
        raise BadDeclaration(
            "Upstreams that are MCP servers need the mcp library. Run: pip install placet[mcp]"
        ) from None
