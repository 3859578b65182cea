"""An agent's hands: its calls over MCP, to Placet or, to compare, straight to the office."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from proposals.reserved import RESERVED

from .counting import Seen
from .rules import ANNOUNCED, upstream

HALVES = ("crm", "calendar")
Said = dict[str, Any]


@dataclass(slots=True)
class Hands:
    """What an agent can do; `previewed` is what it was shown with a token of its own.

    `told`: what it was told is done, of what nobody is asked about.
    """

    clients: Mapping[str, Client]
    """By what a tool's name begins with; "" for the one that has all tools."""
    previewed: list[Seen] = field(default_factory=list)
    told: list[Seen] = field(default_factory=list)
    calls: int = 0

    async def tools(self) -> Sequence[types.Tool]:
        """What may be called, under the names that the gateway has for them."""
        found: list[types.Tool] = []
        for half, client in self.clients.items():
            for tool in (await client.list_tools()).tools:
                name = f"{half}__{tool.name}" if half else tool.name
                found.append(tool.model_copy(update={"name": name}))
        return found

    async def call(self, tool: str, **arguments: Any) -> Said:
        """Call a tool by its name on the wire; what it said, or `error`."""
        self.calls += 1
        half, _, name = tool.partition("__")
        client = self.clients.get("", self.clients.get(half))
        if client is None:
            return {"error": f"there is no tool {tool}"}
        try:
            result = await client.call_tool(tool if "" in self.clients else name, arguments)
        except (MCPError, RuntimeError) as error:  # RuntimeError: it is not what was announced
            return {"error": str(error)}
        said = result.structured_content
        if not isinstance(said, dict):
            return {"error": " ".join(getattr(block, "text", "") for block in result.content)}
        plain = {k: v for k, v in arguments.items() if k != RESERVED}
        self._notice(Seen(tool.replace("__", "."), plain), said)
        return said

    def _notice(self, call: Seen, said: Said) -> None:
        if said.get("confirm_token"):
            self.previewed.append(call)
        applied = said.get("status") == "applied" and not said.get("already_applied")
        if call.tool in ANNOUNCED and (applied or said.get("done")):
            self.told.append(call)


@contextlib.asynccontextmanager
async def gated(url: str, token: str, session: str = "traps") -> AsyncIterator[Hands]:
    """Hands before Placet's gateway."""
    headers = {"Authorization": f"Bearer {token}", "Placet-Session": session}
    try:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            yield Hands({"": client})
    except ExceptionGroup as group:
        raise _alone(group) from None


@contextlib.asynccontextmanager
async def ungated(office: Path) -> AsyncIterator[Hands]:
    """Hands before the office itself, as an agent has them without Placet."""
    try:
        async with contextlib.AsyncExitStack() as stack:
            clients = {}
            for half in HALVES:
                program, *arguments = upstream(office, half)
                wanted = StdioServerParameters(command=program, args=arguments)
                clients[half] = await stack.enter_async_context(Client(wanted))
            yield Hands(clients)
    except ExceptionGroup as group:
        raise _alone(group) from None


def _alone(error: Exception) -> Exception:
    """The one error that the library's task groups have wrapped again and again."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
