"""References in a recipe: `{from = "/arguments/path"}` stands for a value, all else for itself.

They are found in what the operator wrote, and nowhere else: a value that they bring in is never
read as one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from proposals.canonical import JSON, MISSING, BadPointer, NotCanonical, check, pointer_get

ROOTS = ("arguments", "pre", "preview", "result")
_FORM = 'a reference is {from = "/arguments/..."}, with /pre, /preview or /result instead'


class Unfilled(LookupError):
    """A reference that points to nothing as things are; `pointer` is the reference."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"there is nothing at {pointer!a:.120}")
        self.pointer = pointer


def written(value: Any) -> Any:
    """The value as written in placet.toml, if it is JSON and its references are well-formed."""
    try:
        plain = check(value)
    except NotCanonical as error:
        raise ValueError(str(error)) from None
    for pointer in references(plain):
        _well_formed(pointer)
    return plain


def pointer(text: str) -> str:
    """A JSON Pointer (RFC 6901) as it is; ValueError for anything else."""
    try:
        pointer_get(None, text)
    except BadPointer as error:
        raise ValueError(str(error)) from None
    return text


def reference(value: JSON) -> str | None:
    """The pointer of a value that is a reference, else None."""
    if isinstance(value, dict) and value.keys() == {"from"} and isinstance(value["from"], str):
        return value["from"]
    return None


def references(value: JSON) -> Iterator[str]:
    """Every reference in a value."""
    if (found := reference(value)) is not None:
        yield found
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from references(part)


def filled(value: JSON, world: Mapping[str, JSON]) -> JSON:
    """The value with every reference replaced by what it points to in `world`; Unfilled."""
    if (at := reference(value)) is not None:
        found = pointer_get(dict(world), at)
        if found is MISSING:
            raise Unfilled(at)
        return found
    if isinstance(value, dict):
        return {key: filled(part, world) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, world) for part in value]
    return value


def root(pointer: str) -> tuple[str, str]:
    """The two first steps of a reference: where it points, and for /pre the id."""
    steps = pointer.split("/")
    return steps[1], steps[2] if len(steps) > 2 else ""  # noqa: PLR2004 (an empty step is first)


def _well_formed(at: str) -> None:
    if not at.startswith("/") or at.split("/")[1] not in ROOTS:
        raise ValueError(f"{at!a:.80}: {_FORM}")
    pointer(at)
