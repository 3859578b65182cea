"""The tools of placet.toml as they can be used, and whatever runs them."""

import asyncio
import logging
import os
from collections.abc import Iterable
from contextlib import AsyncExitStack

from proposals.ports import Toolkit
from proposals.runner import Runner
from proposals.store import Proof
from proposals.tools import Catalog, Tool
from webhook_app.settings import Config
from webhook_app.toolkits.command import CommandToolkit
from webhook_app.toolkits.http import HttpUpstreams
from webhook_app.toolkits.mcp import McpUpstreams
from webhook_app.toolkits.python import PythonToolkit
from webhook_app.toolkits.recipes import RecipeToolkit

LOG = logging.getLogger("placet.tools")


async def toolbox(stack: AsyncExitStack, config: Config) -> tuple[Runner, Catalog, McpUpstreams]:
    """The runner, and the tools as they can be used; BadDeclaration when one cannot be."""
    mcp = McpUpstreams(config.settings.upstream, config.root, os.environ)
    stack.push_async_callback(mcp.close)
    http = HttpUpstreams(config.settings.upstream, os.environ)
    stack.push_async_callback(http.close)
    own = {
        "command": CommandToolkit(config.root, os.environ),
        "python": PythonToolkit(config.root, os.environ),
    }
    for tool in config.tools.list():
        if tool.lacking:
            LOG.warning("[tool.%s] cannot be used: %s", tool.name, tool.lacking)
    toolkits: dict[str, Toolkit] = {**own}
    runner = Runner(toolkits)
    stack.push_async_callback(runner.close)
    catalog = Catalog.of(await asyncio.gather(*(_ready(own, t) for t in config.tools.whole())))
    # A recipe may read by a tool of any kind, so its toolkit needs the runner that runs it.
    recipes = RecipeToolkit({"mcp": mcp, "http": http}, catalog.reach, runner.read)
    toolkits |= {"mcp": recipes, "http": recipes}
    await mcp.start(catalog)
    return runner, catalog, mcp


def prove(catalog: Catalog, proofs: Iterable[Proof]) -> None:
    """Tell the tools of which definition their previews were seen to change nothing."""
    for proof in proofs:
        if known := catalog.tools.get(proof.tool):
            catalog.publish(known.model_copy(update={"proven": proof.definition}))


async def _ready(own: dict[str, CommandToolkit], tool: Tool) -> Tool:
    toolkit = own.get(tool.kind)
    return await toolkit.ready(tool) if toolkit else tool
