"""Taking back by a recipe: the first way that fits, unless the world has moved on since."""

from proposals.canonical import JSON, same
from proposals.plan import Planned
from proposals.ports import Checked, Done, Order, PlanFailed, Reading
from proposals.tools import Tool, UnknownTool, printable
from proposals.tools.recipe import Check, Undo
from proposals.tools.references import Unfilled, filled

from .calling import OPERATOR, Call, change, world_of
from .checking import Line, brief, line, together, verdict, word
from .keeping import held, hidden, places
from .looking import ABSENT, Absent, Eyes, Facts, Unclear, World
from .planning import unreadable

CANNOT_TELL = "Whether it was changed since cannot be told: nothing that is read shows it."


async def undo_planned(eyes: Eyes, tool: Tool, done: Done) -> Planned:
    """The plan of taking back what was done, as the world is now; PlanFailed.

    Its preview holds the call itself, and what must be so afterwards. What was kept for it stands
    there by its hash.
    """
    way = _way(tool, done)
    facts = await eyes.facts(tool, done.plan.get("arguments"))
    if facts.unclear:
        raise unreadable(facts.unclear)
    warnings = await _still_so(eyes, tool, done, facts)
    world = world_of(done.plan) | {"result": done.result}
    call, pins = await _call(eyes, tool, way, world, done)
    put = places(tool.recipe, way.args)
    undo: dict[str, JSON] = {"call": hidden(call, put, done.kept), "kept": [*put]}
    undo |= {"back_to": _back_to(tool, done), "gone": [*_gone(tool, world)]}
    return Planned(
        effects=_reversed(done.plan.get("effects")),
        preview={"undo": {name: part for name, part in undo.items() if part}},
        preconditions=facts.pins | pins,
        cost=_cost(tool, done),
        warnings=warnings,
        kept=held(put, done.kept),
    )


async def put_back(eyes: Eyes, tool: Tool, order: Order) -> Checked:
    """Read back whether an undo left things as they were; what is merely still there proves little.

    The record may have been there before as well: then nobody can tell.
    """
    undo = undo_of(order)
    back_to, gone = undo.get("back_to"), undo.get("gone")
    found: list[Line | str] = []
    facts = await eyes.facts(tool, order.plan.get("arguments"))
    for id_, pin in back_to.items() if isinstance(back_to, dict) else ():
        what = f"{_tool_of(tool, id_)} ({id_})"
        now = facts.pins.get(id_)
        shown = None if now is None else line(what, brief(pin), brief(now), ok=same(now, pin))
        found.append(shown or f"{what}: {facts.unclear}")
    looks = gone if isinstance(gone, list) else []
    return together(found + [await _no_more(eyes, look) for look in looks])


def undo_of(order: Order) -> dict[str, JSON]:
    """What the plan of an undo says of the way back."""
    preview = order.plan.get("preview")
    undo = preview.get("undo") if isinstance(preview, dict) else None
    return undo if isinstance(undo, dict) else {}


def _way(tool: Tool, done: Done) -> Undo:
    pins = done.plan.get("preconditions")
    pins = pins if isinstance(pins, dict) else {}
    fits = [
        w for w in tool.recipe.undo if w.when_absent is None or pins.get(w.when_absent) == ABSENT
    ]
    if not fits:
        raise PlanFailed("irreversible", "None of the tool's ways back fits what was done.")
    if fits[0].irreversible:
        raise PlanFailed("irreversible", f"It cannot be taken back: {fits[0].irreversible}.")
    return fits[0]


async def _still_so(eyes: Eyes, tool: Tool, done: Done, facts: Facts) -> list[str]:
    """Whether the world is as the call left it: warnings if that cannot be told; PlanFailed."""
    before, after = done.plan.get("preconditions"), done.receipt.get("after")
    tells = bool(facts.pins) and not same(after, before)
    if tells and same(facts.pins, before):
        raise _already()
    if tells and isinstance(after, dict):
        if same(facts.pins, after):
            return []
        raise _conflict(tool, facts, after)
    world = world_of(done.plan) | {"result": done.result}
    at_once = [check.model_copy(update={"within": None}) for check in tool.recipe.verify]
    said = await verdict(eyes, tool.recipe, at_once, world, before)
    if said.reading is Reading.CONTRADICTED:
        raise _already() if _vanished(at_once, said) else _changed(said.why)
    if said.reading is Reading.UNVERIFIED and at_once:
        raise unreadable(said.why)
    return [] if any(check.differs is None for check in at_once) else [CANNOT_TELL]


def _vanished(checks: list[Check], said: Checked) -> bool:
    """Whether all that was made to be there is not there any more."""
    return all(check.exists for check in checks) and not any(one["ok"] for one in said.checks)


def _already() -> PlanFailed:
    return PlanFailed(
        "already_undone", "It is as it was before already.", "There is nothing to do."
    )


def _conflict(tool: Tool, facts: Facts, after: dict[str, JSON]) -> PlanFailed:
    differing = [
        f'"{id_}" ({_tool_of(tool, id_)}) is {brief(pin)}, and was left as {brief(after.get(id_))}'
        for id_, pin in facts.pins.items()
        if not same(pin, after.get(id_))
    ]
    return _changed(printable("; ".join(differing), 600))


def _changed(what: str) -> PlanFailed:
    hint = "A person must look; taking it back now would overwrite a later change."
    return PlanFailed("undo_conflict", f"It was changed since: {what}", hint)


async def _call(
    eyes: Eyes, tool: Tool, way: Undo, world: World, done: Done
) -> tuple[Call, dict[str, JSON]]:
    """The call of the way back, and what was read for it beyond the tool's own preconditions."""
    pre = world["pre"]
    known_then = (pre if isinstance(pre, dict) else {}) | dict(done.kept)
    try:
        arguments = filled(way.args, {**world, "pre": known_then})
        other = eyes.find(way.tool or "")
    except Unfilled as error:
        why = f"It cannot be taken back: {printable(str(error))}."
        raise PlanFailed("irreversible", why) from None
    except UnknownTool as error:
        raise PlanFailed("tool_changed", str(error), OPERATOR) from None
    facts = await eyes.facts(other, arguments) if other.recipe.apply.set else Facts()
    if facts.unclear:
        raise unreadable(facts.unclear)
    call = change(eyes.find, other, {"arguments": arguments, "pre": facts.values})
    pins = {} if other.name == tool.name else facts.pins
    return call, {f"{id_} of {other.name}": pin for id_, pin in pins.items()}


def _back_to(tool: Tool, done: Done) -> dict[str, JSON]:
    """What must be as before: what was kept for this, and what was not there.

    Anything else (an etag, a version) is another for ever.
    """
    pins = done.plan.get("preconditions")
    before = pins if isinstance(pins, dict) else {}
    named = [fact.id for fact in tool.recipe.pre if fact.keep or before.get(fact.id) == ABSENT]
    return {id_: before[id_] for id_ in named if id_ in before}


def _gone(tool: Tool, world: World) -> list[JSON]:
    """What was made to be there, and must not be afterwards, where nothing else tells."""
    looks: list[JSON] = []
    for check in tool.recipe.verify if not tool.recipe.pre else ():
        if check.exists:
            try:
                looks.append({"tool": check.tool, "arguments": filled(check.args, world)})
            except Unfilled:
                continue
    return looks


async def _no_more(eyes: Eyes, look: JSON) -> Line | str:
    if not isinstance(look, dict):
        return "the plan names nothing to look at"
    name = str(look.get("tool"))
    state = await eyes.at(name, look.get("arguments"), "")
    if isinstance(state, Unclear):
        return state.why
    if isinstance(state, Absent):
        return line(name, word(there=False), word(there=False), ok=True)
    return f"{name}: it is still there"


def _tool_of(tool: Tool, id_: str) -> str:
    fact = tool.recipe.fact(id_)
    return fact.tool if fact else "?"


def _reversed(effects: JSON) -> list[dict[str, JSON]]:
    listed = [e for e in effects if isinstance(e, dict)] if isinstance(effects, list) else []
    return [
        {"what": e.get("what"), "before": e.get("after"), "after": e.get("before")}
        for e in reversed(listed)
    ]


def _cost(tool: Tool, done: Done) -> dict[str, JSON] | None:
    """Taking back what was spent: nobody can say beforehand what that comes to."""
    said = done.plan.get("cost")
    unit = said.get("unit") if isinstance(said, dict) else None
    return {"amount": "not known", "unit": unit} if "spend" in tool.touches else None
