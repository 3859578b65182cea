"""The starter file: TOML in which nothing is in force until the operator says so.

What a server says of itself stands in comments and strings only, and cannot end either.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from proposals.canonical import pointer_of
from proposals.tools import BadDeclaration, declared, printable
from webhook_app.settings import MAX_WIRE_NAME, Upstream
from webhook_app.settings.toml import table, value
from webhook_app.toolkits.mcp.listing import Listing

from .guessing import Guess, guess

HEAD = """\
## A start for placet.toml, by `placet tools suggest`. Every line was guessed, from what the server
## says of itself. Nothing is declared yet, so every tool is denied. Confirm a tool by taking the
## one # away from each line of its entry; lines with ## are for you. What you leave stays denied.
## It goes into placet.toml, which needs a [repository.default] as well.
"""
_SAID = 160  # characters of a description


def starter(name: str, upstream: Upstream, listing: Listing) -> str:
    """The file for one upstream by this name; `confirmed` is what it would come to."""
    fields = upstream.model_dump(mode="json", exclude_defaults=True)
    lines = [HEAD.rstrip(), "", *table(["upstream", name], fields)]
    for tool in sorted(listing.tools):
        lines += ["", *_entry(name, upstream, tool, listing)]
    for tool, why in sorted(listing.quarantined.items()):
        lines += ["", f"## {printable(tool, 80)} cannot be used: {printable(why)}."]
    return "\n".join(lines) + "\n"


def confirmed(text: str) -> str:
    """The file as it is once every entry has been confirmed."""
    lines = text.split("\n")
    return "\n".join(ln[1:] if ln[:1] == "#" and ln[:2] != "##" else ln for ln in lines)


def _entry(name: str, upstream: Upstream, tool: str, listing: Listing) -> Iterator[str]:
    definition = listing.tools[tool]
    found = guess(definition)
    said = printable(str(definition.get("description") or "nothing"), _SAID)
    yield f"## {tool} says of itself: {said}"
    if fault := _undeclarable(name, upstream, tool, found):
        yield f"## It cannot be declared: {printable(fault)}"
        return
    yield f"## Guessed {found.effect}: {printable(found.why, 300)}."
    yield from _notes(found)
    yield from (f"#{line}" for line in table(["tool", name, tool], found.fields()))
    yield from _looks(name, definition, listing, found)


def _notes(found: Guess) -> Iterator[str]:
    for flag in found.flags:
        default = "no default" if flag.default is None else f"the default {value(flag.default)}"
        shown, said = value(flag.preview), printable(flag.name, 80)
        yield f"## Seems a preview with {said} = {shown} ({default}). Prove it: placet tools check."
    if "unknown" in found.cost.values():
        yield "## What it costs could not be guessed. Say it, or people are shown: unknown."


def _undeclarable(name: str, upstream: Upstream, tool: str, found: Guess) -> str:
    """Why the real loader would refuse the entry; empty when it would not."""
    wire = upstream.wire(f"{name}.{tool}")
    if len(wire) > MAX_WIRE_NAME or wire.startswith("placet_"):
        return f"agents would call it {wire}, which is too long or a name of Placet's own."
    try:
        declared({name: {tool: found.fields()}}, {name: upstream.kind})
    except BadDeclaration as error:
        return str(error)
    return ""


def _looks(
    name: str, definition: Mapping[str, Any], listing: Listing, found: Guess
) -> Iterator[str]:
    """A read of the same thing, if there is one: what could be pinned before, and read back."""
    if found.effect == "read":
        return
    known = definition["inputSchema"].get("properties", {})
    for other in sorted(listing.tools):
        only = _only(listing.tools[other])
        if only is not None and only in known and guess(listing.tools[other]).effect == "read":
            args = {only: {"from": "/arguments" + pointer_of([only])}}
            look = value([{"id": "old", "tool": f"{name}.{other}", "args": args}])
            yield f"## Perhaps pin what is there before: pre = {look}"
            return


def _only(definition: Mapping[str, Any]) -> str | None:
    """The one argument that a tool needs; None when it needs another number."""
    required = definition["inputSchema"].get("required", [])
    return str(required[0]) if isinstance(required, list) and len(required) == 1 else None
