"""Values that were kept for an undo: they stand in its plan by their hash, and are put in last."""

from collections.abc import Iterator, Mapping, Sequence

from proposals.canonical import (
    JSON,
    MISSING,
    Missing,
    canonical,
    digest,
    pointer_get,
    pointer_of,
    pointer_put,
    same,
)
from proposals.ports import Order, PlanFailed
from proposals.tools import Tool
from proposals.tools.recipe import Recipe
from proposals.tools.references import reference, root

from .calling import OPERATOR, Call
from .looking import Find

SHORTEST = 6  # bytes of a kept value that is looked for in answers
Place = dict[str, JSON]
"""`at`, a pointer into the arguments, and `from`, the reference that stands there."""


def places(recipe: Recipe, args: JSON) -> list[Place]:
    """Where an undo's arguments take what is pinned by its hash only."""
    hashed = {fact.id for fact in recipe.pre if fact.pin == "sha256"}
    return [
        {"at": pointer_of(path), "from": at}
        for path, at in _references((), args)
        if root(at)[0] == "pre" and root(at)[1] in hashed
    ]


def held(put: Sequence[Place], kept: Mapping[str, JSON]) -> dict[str, JSON]:
    """What of the kept values these places need."""
    needed = sorted({root(str(place["from"]))[1] for place in put})
    return {id_: kept[id_] for id_ in needed if id_ in kept}


def hidden(call: Call, put: Sequence[Place], kept: Mapping[str, JSON]) -> dict[str, JSON]:
    """The call as a plan shows it: a hash in each of the places; PlanFailed."""
    shown: JSON = call.arguments
    for place in put:
        at, value = str(place["at"]), _value(place, kept)
        if value is MISSING or not _is(pointer_get(shown, at), value):
            message = f"{call.tool.name}: its own flags replace what was kept at {at}."
            raise PlanFailed("bad_plan", message, OPERATOR)
        shown = pointer_put(shown, at, digest(value))
    return {"tool": call.tool.name, "arguments": shown}


def call_back(find: Find, undo: Mapping[str, JSON], order: Order) -> Call:
    """The call of an approved undo, what was kept put in where its hash stands; PlanFailed."""
    call, put = undo.get("call"), undo.get("kept", [])
    if not isinstance(call, dict) or not isinstance(put, list):
        raise PlanFailed("bad_plan", "The plan of the undo names no call.", OPERATOR)
    arguments = call.get("arguments")
    for place in put:
        value = _value(place, order.kept) if isinstance(place, dict) else MISSING
        at = str(place["at"]) if isinstance(place, dict) else ""
        if value is MISSING or not _is(pointer_get(arguments, at), digest(value)):
            message = "What was kept for the undo is not what its plan names."
            raise PlanFailed("bad_plan", message, OPERATOR)
        arguments = pointer_put(arguments, at, value)
    return Call(find(str(call.get("tool"))), arguments if isinstance(arguments, dict) else {})


def told(tool: Tool, kept: Mapping[str, JSON], value: JSON) -> JSON:
    """What an upstream answered, what was kept and pinned by its hash replaced by that hash.

    An answer is told to agents and in receipts; a value of a few characters is not told apart.
    """
    hashed = [fact.id for fact in tool.recipe.pre if fact.pin == "sha256" and fact.id in kept]
    held = [kept[id_] for id_ in hashed if len(canonical(kept[id_])) >= SHORTEST]
    return _covered(value, held) if held else value


def _covered(value: JSON, held: list[JSON]) -> JSON:
    for one in held:
        if value == one:
            return digest(one)
        if isinstance(value, str) and isinstance(one, str):
            value = value.replace(one, digest(one))
    if isinstance(value, dict):
        return {key: _covered(part, held) for key, part in value.items()}
    if isinstance(value, list):
        return [_covered(part, held) for part in value]
    return value


def _references(
    path: tuple[str | int, ...], value: JSON
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if (at := reference(value)) is not None:
        yield path, at
    elif isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in parts:
            yield from _references((*path, step), part)


def _value(place: Place, kept: Mapping[str, JSON]) -> JSON | Missing:
    return pointer_get({"pre": dict(kept)}, str(place["from"]))


def _is(a: JSON | Missing, b: JSON | Missing) -> bool:
    return not isinstance(a, Missing) and not isinstance(b, Missing) and same(a, b)
