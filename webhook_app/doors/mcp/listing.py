"""tools/list: what an agent is told of each tool, gated ones as what they are behind the gate."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from proposals.tools import Tool

from .shape import CALL, RESERVED, RESERVED_SCHEMA

PREFIX = "io.github.placet/"
_ASKS = {
    "approve": "Gated by Placet: calling it changes nothing. It asks people for approval and "
    "returns at once with status awaiting_approval; tell the user what it says.",
    "confirm": "Gated by Placet: calling it changes nothing. It returns a preview and a token; "
    "show the preview, and call it again with the token when the user agrees.",
    "announce": "Watched by Placet: it is done at once, checked, and announced to people, who can "
    "undo it.",
}


def offered(tool: Tool, wire: str, *, calm: bool) -> types.Tool:
    """One tool as a client sees it; `calm`: this client cannot bear destructive marks."""
    said = definition(tool)
    common = {
        "name": wire,
        "title": said.get("title"),
        "inputSchema": said.get("inputSchema") or tool.arguments,
        "description": said.get("description") or tool.summary or tool.name,
    }
    hints = said.get("annotations") or {}
    if tool.effect == "read":
        extra = {"outputSchema": said.get("outputSchema"), "annotations": _reading(hints)}
    else:
        extra = _gated(tool, str(common["description"]), hints, calm=calm)
    return types.Tool.model_validate(common | extra, by_name=False)


def definition(tool: Tool) -> Mapping[str, Any]:
    """What the tool's own server says of it; nothing for tools that are no server's."""
    return tool.published if isinstance(tool.published, Mapping) else {}


def _reading(hints: Mapping[str, Any]) -> dict[str, Any]:
    """The operator says that it reads; a hint of its server can only make clients more careful."""
    careful = hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True
    said = {"readOnlyHint": not careful} | ({"openWorldHint": True} if _open(hints) else {})
    return said | ({"title": hints["title"]} if isinstance(hints.get("title"), str) else {})


def _gated(tool: Tool, description: str, hints: Mapping[str, Any], *, calm: bool) -> dict[str, Any]:
    """A gated call returns our own shape, and takes our own argument beside the tool's."""
    schema = dict(tool.offered)
    schema["properties"] = {**schema["properties"], RESERVED: RESERVED_SCHEMA}
    marked = bool(tool.touches) or tool.effect == "destructive"
    destructive = (marked or hints.get("destructiveHint") is True) and not calm
    return {
        "description": f"{description}\n\n{_ASKS[tool.mode]}",
        "inputSchema": schema,
        "outputSchema": CALL,
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": destructive,
            "idempotentHint": True,
            "openWorldHint": True,
        },
        "_meta": {f"{PREFIX}gated": True, f"{PREFIX}upstreamAnnotations": dict(hints)},
    }


def _open(hints: Mapping[str, Any]) -> bool:
    return hints.get("openWorldHint") is True
