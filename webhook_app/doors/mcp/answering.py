"""What goes back over MCP: our own facts, or what a tool's server said, unchanged."""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from proposals.likeness import PREFIX
from proposals.upstreams import Heard


def structured(said: Mapping[str, Any], *, wrong: bool = False) -> types.CallToolResult:
    """Our own answer: all facts structured, and the same as text for clients that read only that.

    `wrong`: the call was not taken. One that waits, or that people ended, is no error.
    """
    proposal = said.get("proposal")
    return types.CallToolResult(
        content=[types.TextContent(text=json.dumps(said, ensure_ascii=False))],
        structured_content=dict(said),
        is_error=wrong,
        _meta={f"{PREFIX}proposal": proposal} if proposal else None,
    )


def relayed(heard: Heard) -> types.CallToolResult:
    """What a read brought: of an MCP server its very result, of other tools their value."""
    value = heard.value
    if heard.wire and isinstance(value, dict):
        whole = {k: v for k, v in value.items() if v is not None}
        if not isinstance(whole.get("structuredContent", {}), dict):
            whole["structuredContent"] = {"result": whole["structuredContent"]}
        if heard.error and not whole.get("content"):
            whole["content"] = [{"type": "text", "text": heard.error}]
        return types.CallToolResult.model_validate(whole, by_name=False)
    shown = value if isinstance(value, dict) else {"result": value}
    text = heard.error or json.dumps(value, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content=shown,
        is_error=bool(heard.error),
    )
