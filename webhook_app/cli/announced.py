"""Commands that stand above the server, so it cannot import them: they announce themselves."""

from importlib.metadata import entry_points
from typing import Any

from .say import give_up

GROUP = "placet.commands"


def announced(name: str, missing: str) -> Any:
    """The command of this name; gives up with these words where it is not installed."""
    try:
        [found] = entry_points(group=GROUP, name=name)
        return found.load()
    except (ValueError, ModuleNotFoundError):
        give_up(f"{missing} not installed. Run: pip install 'placet[sandbox,mcp]'")
