"""tools/list: what an agent is told of each tool, gated ones as what they are behind the gate."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from proposals.likeness import PREFIX
from proposals.reserved import with_reserved
from proposals.tools import Tool
from webhook_app.doors.offering import definition, description
from webhook_app.doors.shape import CALL


def offered(tool: Tool, wire: str, *, calm: bool) -> types.Tool:
    """One tool as a client sees it; `calm`: this client cannot bear destructive marks."""
    said = definition(tool)
    common = {
        "name": wire,
        "title": said.get("title"),
        "inputSchema": said.get("inputSchema") or tool.arguments,
        "description": description(tool),
    }
    hints = said.get("annotations") or {}
    if tool.effect == "read":
        # What is read instead has a shape of its own, and clients refuse what does not fit.
        shape = None if tool.fallback else said.get("outputSchema")
        extra = {"outputSchema": shape, "annotations": _reading(hints)}
    else:
        extra = _gated(tool, hints, calm=calm)
    return types.Tool.model_validate(common | extra, by_name=False)


def _reading(hints: Mapping[str, Any]) -> dict[str, Any]:
    """The operator says that it reads; a hint of its server can only make clients more careful."""
    careful = hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True
    said = {"readOnlyHint": not careful} | ({"openWorldHint": True} if _open(hints) else {})
    return said | ({"title": hints["title"]} if isinstance(hints.get("title"), str) else {})


def _gated(tool: Tool, hints: Mapping[str, Any], *, calm: bool) -> dict[str, Any]:
    """A gated call returns our own shape, and takes our own argument beside the tool's."""
    marked = bool(tool.touches) or tool.effect == "destructive"
    destructive = (marked or hints.get("destructiveHint") is True) and not calm
    return {
        "inputSchema": with_reserved(tool.offered),
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
