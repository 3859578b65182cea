"""What an MCP server says of its tools, and which of them cannot be used, each for its reason."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proposals.canonical import JSON, NotCanonical, canonical, loads, same
from proposals.tools import printable
from proposals.tools.arguments import closed

Definition = dict[str, JSON]
"""{name, title, description, inputSchema, outputSchema, annotations} of MCP, and its `server`."""
RESERVED = "placet"
MAX_DEFINITION = 50_000  # bytes; it is hashed for every plan, and agents are told it
_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
_KEPT = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_TEXTS = ("title", "description")
_CHOICES = ("allOf", "anyOf", "oneOf")
# What the TypeScript libraries write; the keywords that they use mean the same in 2020-12.
_DRAFT_7 = frozenset({f"http://json-schema.org/draft-07/schema{end}" for end in ("", "#")})


@dataclass(frozen=True, slots=True)
class Listing:
    """The usable tools by their names on the server, and why the others are not."""

    tools: Mapping[str, Definition] = field(default_factory=dict)
    quarantined: Mapping[str, str] = field(default_factory=dict)


def listing(said: Iterable[object], server: Mapping[str, str]) -> Listing:
    """Read a whole listing; one tool that cannot be used takes no other with it.

    Each definition has the identity of the `server`: another server's tool is another tool.
    """
    tools: dict[str, Definition] = {}
    quarantined: dict[str, str] = {}
    for number, tool in enumerate(said, 1):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not (isinstance(tool, dict) and isinstance(name, str) and _NAME.fullmatch(name)):
            label = printable(name, 80) if isinstance(name, str) else f"number {number}"
            quarantined[label] = "it has no name that can be declared"
        elif name not in quarantined:
            try:
                found = _definition(tool, server)
                if not same(tools.setdefault(name, found), found):
                    raise ValueError("the server lists two tools of this name")  # noqa: TRY301
            except ValueError as error:
                tools.pop(name, None)
                quarantined[name] = printable(str(error))
    return Listing(tools, quarantined)


def _definition(tool: Mapping[str, Any], server: Mapping[str, str]) -> Definition:
    """The part of it that says what the tool is; ValueError says why it cannot be used."""
    kept = {key: tool[key] for key in _KEPT if tool.get(key) is not None}
    for key in _TEXTS:
        if not isinstance(kept.get(key, ""), str):
            raise ValueError(f"its {key} is no text")  # noqa: TRY004 (one kind for them all)
    if not isinstance(kept.get("annotations", {}), dict):
        raise ValueError("its annotations are no object")  # noqa: TRY004 (one kind for them all)
    schema = kept.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ValueError('its inputSchema is no schema of type "object"')
    if RESERVED in arguments(kept)["properties"]:
        raise ValueError(f'it has an argument "{RESERVED}", a name that Placet needs itself')
    try:
        text = canonical({**kept, "server": dict(server)})
    except NotCanonical as error:
        raise ValueError(f"its definition is not plain JSON: {error}") from None
    if len(text) > MAX_DEFINITION:
        raise ValueError(f"its definition has {len(text):,} bytes; {MAX_DEFINITION:,} are taken")
    plain = loads(text)
    return plain if isinstance(plain, dict) else {}


def arguments(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that arguments are held to; ValueError when it cannot be used."""
    schema = dict(definition["inputSchema"])
    if schema.get("$schema") in _DRAFT_7:
        del schema["$schema"]
    for key in _CHOICES:
        parts = schema.get(key)
        if isinstance(parts, list) and any("properties" in p for p in parts if isinstance(p, dict)):
            raise ValueError(
                f"its arguments are named inside {key}, where none can be held unknown"
            )
    return closed(schema)
