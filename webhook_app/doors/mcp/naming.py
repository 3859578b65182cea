"""What tools are called on MCP's wire, as their upstream says: `fs.write` is `fs__write`."""

from collections.abc import Mapping

from proposals.tools import Tool
from webhook_app.doors.hall import Hall


def wired(here: Hall) -> Mapping[str, Tool]:
    """The declared tools by their names on the wire, in that order."""
    named = {here.settings.wire(tool.name): tool for tool in here.catalog.list()}
    return dict(sorted(named.items()))
