"""What a tool of somebody else's seems to be, by its name, its arguments and its hints.

A guess decides nothing: the operator does. What a server says of itself can make a guess stricter
and never milder, so a hint that a tool only reads is not even looked at.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from proposals.canonical import JSON

from .words import (
    ACTS,
    ANYTHING,
    ARGUMENTS,
    DRY,
    PRIVATE,
    PUSH,
    READ,
    REAL,
    SAYS,
    THINGS,
    joined,
    words,
)

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Flag:
    """An argument that seems to make a call a preview: its value there, and in the change."""

    name: str
    preview: JSON
    apply: JSON
    default: JSON = None


@dataclass(frozen=True, slots=True)
class Guess:
    """What a tool seems to be, and why; `flags` are those that seem to make a call a preview."""

    effect: Literal["read", "write", "destructive"]
    why: str
    touches: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    take: str = ""
    cost: Mapping[str, JSON] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """As `[tool.<upstream>.<name>]` has it."""
        said: dict[str, Any] = {"effect": self.effect}
        if self.touches:
            said["touches"] = list(self.touches)
        if self.cost:
            said["cost"] = dict(self.cost)
        if self.flags:
            said["forbid"] = [flag.name for flag in self.flags]
            said["preview"] = _set(self.flags, "preview")
            if self.take:
                said["preview"]["take"] = self.take
            said["apply"] = _set(self.flags, "apply")
        return said


def guess(definition: Definition) -> Guess:
    """Guess what a listed tool is."""
    reason = _changes(definition)
    if reason is None:
        return Guess("read", "its name says that it reads, and nothing says otherwise")
    known = _properties(definition)
    touched = dict(_touches(definition))
    destructive = ANYTHING & _named(known) or ACTS["delete"] & {*words(_name(definition))}
    because = "; ".join([reason, *(f"{touch}: {why}" for touch, why in touched.items())])
    return Guess(
        "destructive" if destructive else "write",
        because,
        tuple(touched),
        tuple(_flags(known)),
        _take(definition),
        _cost(known) if "spend" in touched else {},
    )


def _changes(definition: Definition) -> str | None:
    """Why it is not taken for a read; None when it is."""
    name = words(_name(definition))
    if anything := sorted(ANYTHING & _named(_properties(definition))):
        return f'it takes "{anything[0]}", which may say anything'
    if private := [word for word in name if word in PRIVATE]:
        return f'"{private[0]}" may show what is nobody\'s business: each call waits for a person'
    strong = frozenset[str]().union(*ACTS.values())
    if acts := [word for word in name if word in strong]:
        return f'"{acts[0]}" in its name changes something'
    if not READ & set(name):
        return "nothing in its name says that it only reads"
    return _says_more(definition, strong)


def _says_more(definition: Definition, strong: frozenset[str]) -> str | None:
    """Why a tool that is named like a read is not taken for one."""
    first = words(str(definition.get("description", "")))[:1]
    if first and first[0] in strong:
        return f'its description begins with "{first[0]}"'
    hints = definition.get("annotations") or {}
    if hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True:
        return "its server says that it does not only read"
    return None


def _touches(definition: Definition) -> Iterator[tuple[str, str]]:
    """What a change seems to touch, each with the reason."""
    name, text = set(words(_name(definition))), str(definition.get("description", ""))
    arguments = {word for said in _properties(definition) for word in words(said)}
    hints = definition.get("annotations") or {}
    for touch in ("spend", "contact", "start", "delete"):
        acts = ACTS[touch] | (frozenset() if READ & name else THINGS.get(touch, frozenset()))
        if named := sorted(name & acts):
            yield touch, f'"{named[0]}" in its name'
        elif taken := sorted(arguments & ARGUMENTS.get(touch, frozenset())):
            yield touch, f'it takes "{taken[0]}"'
        elif touch in ("start", "delete") and ANYTHING & _named(_properties(definition)):
            yield touch, "whatever it is told may do that"
        elif SAYS[touch].search(text):
            yield touch, "its description speaks of it"
        elif touch == "delete" and hints.get("destructiveHint") is True:
            yield touch, "its server marks it as destructive"


def _flags(known: Mapping[str, Any]) -> Iterator[Flag]:
    for name, schema in known.items():
        plain = joined(name)
        dry, real = plain in DRY, plain in REAL or plain.startswith(PUSH)
        if not (dry or real) or not isinstance(schema, dict):
            continue
        if schema.get("type") == "boolean":
            yield Flag(name, dry, not dry, schema.get("default"))


def _set(flags: tuple[Flag, ...], part: Literal["preview", "apply"]) -> dict[str, Any]:
    return {"set": {flag.name: getattr(flag, part) for flag in flags}}


def _take(definition: Definition) -> str:
    """Where its answer has what counts, as far as its output schema says."""
    schema = definition.get("outputSchema")
    if not isinstance(schema, dict):
        return ""
    known = schema.get("properties")
    only = isinstance(known, dict) and [*known] == ["content"]
    return "/structuredContent/content" if only else "/structuredContent"


def _cost(known: Mapping[str, Any]) -> dict[str, JSON]:
    """What it says of its cost, by the arguments that seem to; "unknown" is shown to people."""
    amount = next((n for n in known if joined(n) in ("amount", "price", "total")), None)
    unit = next((n for n in known if joined(n) in ("currency", "unit")), None)
    return {
        "amount": {"from": f"/arguments/{amount}"} if amount else "unknown",
        "unit": {"from": f"/arguments/{unit}"} if unit else "unknown",
    }


def _name(definition: Definition) -> str:
    return str(definition.get("name", ""))


def _named(known: Mapping[str, Any]) -> set[str]:
    return {joined(name) for name in known}


def _properties(definition: Definition) -> dict[str, Any]:
    schema = definition.get("inputSchema")
    known = schema.get("properties") if isinstance(schema, dict) else None
    return known if isinstance(known, dict) else {}
