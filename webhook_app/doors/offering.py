"""What an agent is told that a tool does, whatever door it reads it at."""

from collections.abc import Mapping
from typing import Any

from proposals.tools import Tool

_ASKS = {
    "approve": "Gated by Placet: calling it changes nothing. It asks people for approval and "
    "returns at once with status awaiting_approval; tell the user what it says.",
    "confirm": "Gated by Placet: calling it changes nothing. It returns a preview and a token; "
    "show the preview, and only when the user has said yes to it make the very same call with the "
    "token.",
    "announce": "Watched by Placet: it is done at once, checked, and announced to people, who can "
    "undo it.",
}


def description(tool: Tool) -> str:
    """Tell what a tool does, and, when it changes something, what calling it really comes to."""
    said = str(definition(tool).get("description") or tool.summary or tool.name)
    return said if tool.effect == "read" else f"{said}\n\n{_ASKS[tool.mode]}"


def definition(tool: Tool) -> Mapping[str, Any]:
    """What the tool's own server says of it; nothing for tools that are no server's."""
    return tool.published if isinstance(tool.published, Mapping) else {}
