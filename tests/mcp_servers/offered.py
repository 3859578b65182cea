"""The servers of this folder as placet.toml declares them, for tests."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
READS = ("list_events", "get_event", "picture", "slow", "crash", "big", "surroundings", "grow")
WRITES = ("create_event", "delete_event", "push_workout")
TOOLS = {name: {"effect": "read" if name in READS else "write"} for name in (*READS, *WRITES)}
"""The calendar's tools as `[tool.cal.NAME]` has them."""


def calendar(folder: Path, *, http: bool = False) -> tuple[str, ...]:
    """The command of the calendar that keeps its events in this folder."""
    return (sys.executable, str(HERE / "cal.py"), str(folder), *(["--http"] if http else []))


def hostile() -> tuple[str, ...]:
    """The command of the server whose tools and answers are broken."""
    return (sys.executable, "-I", "-S", str(HERE / "hostile.py"))


def calls(folder: Path) -> list[str]:
    """What the calendar was asked so far, one line of JSON each."""
    file = folder / "calls"
    return file.read_text().splitlines() if file.exists() else []
