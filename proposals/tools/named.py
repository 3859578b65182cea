"""Tools that recipes name and nobody declared: Placet's own means, and no agent's.

To name one is to declare it, for that use alone: what a recipe reads by is a read, what it goes
back by a change.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from .declaration import BadDeclaration, Tool
from .soundness import IMPLIED, called


def named(tools: Mapping[str, Tool], kinds: Mapping[str, str]) -> dict[str, Tool]:
    """The tools of MCP servers that recipes of these `tools` name, undeclared; BadDeclaration.

    Only such servers say themselves what a tool takes; `kinds` are those of the upstreams.
    """
    found: dict[str, Tool] = {}
    for tool in tools.values():
        for where, name, reads in called(tool):
            upstream = name.partition(".")[0]
            if name in tools or where not in IMPLIED or kinds.get(upstream) != "mcp":
                continue
            one = _tool(tool, where, name, _absent(tools, upstream) if reads else None)
            if found.setdefault(name, one).effect != one.effect:
                raise BadDeclaration(
                    f'[tool.{tool.name}] {where}: "{name}" is named as a read and as a way back; '
                    f"write [tool.{name}] with its effect."
                )
    return found


def _tool(by: Tool, where: str, name: str, absent: str | None) -> Tool:
    try:
        if absent is None:
            return Tool(name=name, kind="mcp", effect="write", own=True)
        return Tool(name=name, kind="mcp", effect="read", absent=absent, own=True)
    except ValidationError:
        raise BadDeclaration(f"[tool.{by.name}] {where}: {name!a:.80} is no tool's name.") from None


def _absent(tools: Mapping[str, Tool], upstream: str) -> str:
    """How this server says that something is not there, if its declared reads agree on it."""
    said = {t.absent for n, t in tools.items() if t.absent and n.startswith(f"{upstream}.")}
    return said.pop() if len(said) == 1 else ""
