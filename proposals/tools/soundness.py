"""Whether a recipe can be followed: what it refers to exists by then, what it calls is declared."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from proposals.canonical import JSON

from .arguments import nearest
from .recipe import Recipe
from .references import references, root

if TYPE_CHECKING:
    from .declaration import Tool

IMPLIED = frozenset({"pre", "verify", "undo"})
"""Where naming a tool of an MCP server is declaring it, for that use alone (see `named`)."""
_SAY = "what it calls is what it does, so declare it as grave, or call something lighter"
Part = tuple[str, JSON, frozenset[str], frozenset[str]]
"""Where it stands, what is written, and the roots and ids of `pre` that exist by then."""


def sound(recipe: Recipe) -> Recipe:
    """The recipe itself; ValueError says which part of it could never be filled in."""
    ids = [fact.id for fact in recipe.pre]
    if twice := {i for i in ids if ids.count(i) > 1}:
        raise ValueError(f"pre: two have the id {min(twice)!a}")
    for part in _parts(recipe):
        _known(recipe, *part)
    if recipe.preview and not recipe.apply.tool:
        silent = {*recipe.preview.set, *recipe.preview.unset} - {*recipe.apply.set}
        if silent := silent - {*recipe.apply.unset}:
            raise ValueError(f"apply: say what {min(silent)!a:.80} is then, with set or unset")
    for way in recipe.undo:
        if way.when_absent and way.when_absent not in ids:
            raise ValueError(f"undo: when_absent names no id of pre: {way.when_absent!a:.80}")
    return recipe


def together(tools: Mapping[str, "Tool"], own: Mapping[str, "Tool"], tool: "Tool") -> str:
    """What a tool calls that is not declared, as a sentence; empty when it lacks nothing.

    `own` are the tools that are declared by being named. ValueError for one that is declared, but
    as something that may not be called there.
    """
    lacking = ""
    for where, name, reads in called(tool):
        if where in IMPLIED and name in own:
            continue
        if name not in tools:
            near = nearest(name, list(tools))
            missing = f'{where}: "{name}" is not declared.{near} Write [tool.{name}], effect first.'
            lacking = lacking or missing
        elif fault := _fault(tools[name], reads=reads) or _graver(tool, where, tools[name]):
            raise ValueError(f'{where}: "{name}" {fault}')
    return lacking


def _known(
    recipe: Recipe, where: str, value: JSON, roots: frozenset[str], ids: frozenset[str]
) -> None:
    for pointer in references(value):
        first, id_ = root(pointer)
        if first not in roots:
            exist = ", ".join(f"/{name}" for name in sorted(roots))
            raise ValueError(f"{where}: {pointer!a:.80} is not known then; known are {exist}")
        if first == "pre" and id_ not in ids:
            raise ValueError(f"{where}: {pointer!a:.80} {_why(recipe, id_)}")


def _parts(recipe: Recipe) -> Iterator[Part]:
    """Every place where references may stand, in the order of the moments."""
    plain = frozenset(fact.id for fact in recipe.pre if fact.pin == "value")
    kept = plain | {fact.id for fact in recipe.pre if fact.keep}
    before = frozenset({"arguments", "pre"})
    planned = before | {"preview"} if recipe.preview else before
    after = planned | {"result"}
    earlier: frozenset[str] = frozenset()
    for fact in recipe.pre:
        yield f"pre {fact.id}", fact.args, before, earlier & plain
        earlier |= {fact.id}
    if recipe.preview:
        yield "preview", [recipe.preview.set, recipe.preview.args], before, plain
    yield "apply", [recipe.apply.set, recipe.apply.args], planned, plain
    for effect in recipe.effects:
        said = [effect.what, effect.before, effect.after]
        yield "effects", said, planned, plain | _whole(recipe, said)
    if recipe.cost:
        yield "cost", [recipe.cost.amount, recipe.cost.unit], planned, plain
    for check in recipe.verify:
        expected = [check.equals, check.differs]
        yield "verify", check.args, after, plain
        yield "verify", expected, after, plain | _whole(recipe, expected)
    for way in recipe.undo:
        yield "undo", way.args, after, kept


def _whole(recipe: Recipe, value: JSON) -> set[str]:
    """The ids that are referred to as a whole: their hash can stand for them."""
    named = set(references(value))
    inside = {root(pointer)[1] for pointer in named if pointer.count("/") > 2}  # noqa: PLR2004
    return {fact.id for fact in recipe.pre if f"/pre/{fact.id}" in named} - inside


def _why(recipe: Recipe, id_: str) -> str:
    fact = recipe.fact(id_)
    if fact is None:
        return "names no id of pre"
    if fact.pin == "sha256":
        return 'is pinned by its hash only; write pin = "value", or keep = true for an undo'
    return "is read later than this"


def called(tool: "Tool") -> Iterator[tuple[str, str, bool]]:
    """Every other tool that it calls: where, its name, and whether it must be a read."""
    recipe = tool.recipe
    if tool.fallback:
        yield "fallback", tool.fallback, True
    for fact in recipe.pre:
        yield "pre", fact.tool, True
    if recipe.preview and recipe.preview.tool:
        yield "preview", recipe.preview.tool, True
    if recipe.apply.tool:
        yield "apply", recipe.apply.tool, False
    for check in recipe.verify:
        yield "verify", check.tool, True
    for way in recipe.undo:
        if way.tool:
            yield "undo", way.tool, False


def _fault(tool: "Tool", *, reads: bool) -> str:
    """Why a declared tool cannot be called there; empty when it can."""
    if reads and tool.effect != "read":
        return 'is not declared effect = "read", so it is not called without approval.'
    if not reads and tool.effect == "read":
        return 'is declared effect = "read"; it changes nothing.'
    if not reads and tool.kind not in ("mcp", "http"):
        return "is no tool of an upstream, so it cannot be called there."
    return ""


def through(tool: "Tool", find: Callable[[str], "Tool | None"]) -> dict[str, "Tool"]:
    """The other tools that make its change or take it back, by name; each without its own.

    A way back is the other tool's change, which may be a call of a third.
    """
    back = [find(way.tool) for way in tool.recipe.undo if way.tool]
    firsts = [tool.recipe.apply.tool, *(other.name for other in back if other)]
    thirds = [other.recipe.apply.tool for other in back if other]
    found = [find(name) for name in sorted({name for name in (*firsts, *thirds) if name})]
    others = [other for other in found if other and other.name != tool.name]
    return {other.name: other.model_copy(update={"through": ()}) for other in others}


def _graver(tool: "Tool", where: str, other: "Tool") -> str:
    """Why what is called is too grave for what the calling tool says; empty when it is not.

    People who are asked about an undo are told how grave it is, but not what it spends.
    """
    if where not in ("apply", "undo"):
        return ""
    asked = where == "undo" and tool.mode != "announce"
    if other.effect == "destructive" != tool.effect and not asked:
        return f'is declared effect = "destructive", and this tool is "{tool.effect}": {_SAY}.'
    more = {*other.touches} - {*tool.touches}
    if more := more & {"spend"} if asked else more:
        return f"touches {', '.join(sorted(more))}, and this tool does not say so: {_SAY}."
    return ""
