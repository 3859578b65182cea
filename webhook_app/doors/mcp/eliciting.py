"""Offers the pull request to whoever sits at the client, where the client can open addresses.

That somebody opened it counts for nothing: whoever it is works with the agent.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

PATIENCE = 15.0  # seconds that a call of the older era waits for somebody to look
_MOST = 1_000


class Offers:
    """Which proposals were offered already: each is once, however often its call is repeated."""

    def __init__(self) -> None:
        self._made: dict[str, None] = {}

    async def make(
        self, ctx: ServerRequestContext, said: Mapping[str, Any]
    ) -> types.InputRequiredResult | None:
        """Offer the page of a call that waits; what comes back must be returned instead of it."""
        page, proposal = said["pull_request"], str(said["proposal"])
        waits = said["status"] == "awaiting_approval" and page is not None
        if not waits or proposal in self._made or not _opens_addresses(ctx):
            return None
        while len(self._made) >= _MOST:
            del self._made[next(iter(self._made))]
        self._made[proposal] = None
        message = f"{said['say_to_user']} Open it?"
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            asked = types.ElicitRequestURLParams(message=message, url=page)
            return types.InputRequiredResult(
                input_requests={"pull_request": types.ElicitRequest(params=asked)}
            )
        try:
            async with asyncio.timeout(PATIENCE):
                await ctx.session.elicit_url(message, page, proposal, ctx.request_id)
        except (TimeoutError, MCPError):
            pass
        return None


def _opens_addresses(ctx: ServerRequestContext) -> bool:
    can = ctx.session.client_capabilities
    return bool(can and can.elicitation and can.elicitation.url is not None)
