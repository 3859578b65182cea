"""Others' text inside sentences of ours, and moments as the contract writes them. Pure."""

from datetime import datetime


def stamp(moment: datetime) -> str:
    """Write a moment as the contract does: UTC, in whole seconds."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def line(text: str, limit: int = 200) -> str:
    """Text of an agent, a tool or a plan as one bounded line: it starts no line of its own."""
    whole = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"


def quoted(text: str, limit: int = 200) -> str:
    """Text of an agent or a plan inside a sentence of ours: one line, marked as not ours."""
    return "`" + line(text, limit).replace("`", "'") + "`"
