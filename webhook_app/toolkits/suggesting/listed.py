"""Asking a server once what tools it has; none of them is called."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from proposals.tools import Catalog
from webhook_app.settings import Upstream
from webhook_app.toolkits.mcp import McpUpstreams
from webhook_app.toolkits.mcp.connection import UNANSWERED
from webhook_app.toolkits.mcp.listing import Listing

PATIENCE = 60.0  # seconds; a server that npx fetches first takes its time
_HERE = "server"


class NotListed(Exception):
    """The server did not say what tools it has, and why."""


async def listed(upstream: Upstream, folder: Path, environment: Mapping[str, str]) -> Listing:
    """What a server lists; NotListed, and BadDeclaration when it cannot be run as declared."""
    upstreams = McpUpstreams({_HERE: upstream}, folder, environment)
    heard = asyncio.Event()
    upstreams.listen(lambda _: heard.set())
    try:
        await upstreams.start(Catalog.of(()))
        if upstreams.down()[_HERE] == UNANSWERED:
            async with asyncio.timeout(PATIENCE):
                await heard.wait()
        if why := upstreams.down()[_HERE]:
            raise NotListed(why)
        return upstreams.listing(_HERE)
    except TimeoutError:
        raise NotListed(f"it did not answer in {PATIENCE:g} s") from None
    finally:
        await upstreams.close()


def named(listing: Listing) -> str:
    """A name for the upstream, from what the server calls itself."""
    first = next(iter(listing.tools.values()), {})
    server = first.get("server")
    said = str(server.get("name", "")) if isinstance(server, dict) else ""
    parts = re.findall(r"[a-z0-9]+", said.lower())
    telling = [part for part in parts if part not in {"mcp", "server", "placet"}]
    return "-".join(telling)[:20].strip("-") or "tools"
