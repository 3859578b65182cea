"""Servers that a client still reaches without Placet."""

from .document import Document, Original


def ungated(document: Document, url: str) -> list[Original]:
    """The servers of a client's file that are in use and are not Placet at this address."""
    return [one for one in document.originals() if one.on and not gate(one, url)]


def gate(one: Original, url: str) -> bool:
    """Whether this is the way to Placet: its bridge, or its own address."""
    return one.bridge or (bool(url) and one.said.get("url") == f"{url.rstrip('/')}/mcp")
