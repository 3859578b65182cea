"""Reading back: what must be so, and what must no longer be, once a call was made."""

import asyncio
from collections.abc import Iterable

from proposals.canonical import JSON, digest, same
from proposals.ports import Checked, Order, Reading
from proposals.tools import Tool
from proposals.tools.recipe import Check, Recipe
from proposals.tools.references import Unfilled, filled, reference, root
from webhook_app.toolkits.wire import NOTHING_TO_READ

from .calling import world_of
from .looking import ABSENT, THERE, Absent, Eyes, Facts, Known, State, Unclear, World, pinned, shown

PAUSE = 0.2  # seconds between two looks, doubled each time
LONGEST_PAUSE = 5.0
Line = dict[str, JSON]
"""One thing looked at, as a receipt shows it: {what, expected, found, ok}."""


async def checked(eyes: Eyes, tool: Tool, order: Order, result: JSON) -> Checked:
    """Read back what a call did. Without an answer (`result` null) more must be seen.

    Then it counts only if something that was read before is another by now.
    """
    world = world_of(order.plan) | {"result": result}
    recipe, pins = tool.recipe, order.plan.get("preconditions")
    said = await verdict(eyes, recipe, recipe.verify, world, pins)
    if said.reading is Reading.CONTRADICTED:
        return said
    facts = await eyes.facts(tool, world["arguments"])
    if result is None and said.reading is Reading.VERIFIED and not _moved(facts, order):
        why = "It is as it should be, but nothing shows that this call made it so."
        return Checked(Reading.UNVERIFIED, said.checks, why)
    return Checked(said.reading, said.checks, said.why, {} if facts.unclear else facts.pins)


async def verdict(
    eyes: Eyes, recipe: Recipe, checks: Iterable[Check], world: World, pins: JSON
) -> Checked:
    """What these checks show together: one that fails is enough, all must hold."""
    return together([await _patiently(eyes, recipe, check, world, pins) for check in checks])


def together(found: list[Line | str]) -> Checked:
    """What checks show together; a check that shows nothing is the reason why."""
    lines = [one for one in found if isinstance(one, dict)]
    unclear = [one for one in found if isinstance(one, str)]
    if wrong := [line for line in lines if not line["ok"]]:
        why = f"{wrong[0]['what']}: it is {wrong[0]['found']}, not {wrong[0]['expected']}."
        return Checked(Reading.CONTRADICTED, lines, why)
    if unclear or not lines:
        return Checked(Reading.UNVERIFIED, lines, unclear[0] if unclear else NOTHING_TO_READ)
    return Checked(Reading.VERIFIED, lines)


def line(what: str, expected: JSON, found: JSON, *, ok: bool) -> Line:
    """One line of a receipt."""
    return {"what": what, "expected": expected, "found": found, "ok": ok}


def brief(pin: JSON) -> JSON:
    """A pin in a receipt, texts by their hash: what is found now was approved by nobody."""
    if pin in (ABSENT, THERE):
        return word(there=pin == THERE)
    value = shown(pin)
    hashed = isinstance(pin, dict) and "sha256" in pin
    return value if hashed or isinstance(value, bool | int | float) else digest(value)


def word(*, there: bool) -> str:
    """Whether something is there, in words."""
    return "there" if there else "not there"


async def _patiently(
    eyes: Eyes, recipe: Recipe, check: Check, world: World, pins: JSON
) -> Line | str:
    """Look until it is as it must be, or its time is up; what was seen last counts."""
    clock = asyncio.get_running_loop().time
    until = clock() + (check.within.total_seconds() if check.within else 0.0)
    pause = PAUSE
    while True:
        seen = _judged(recipe, check, await eyes.look(check, world), world, pins)
        left = until - clock()
        if left <= 0 or (isinstance(seen, dict) and seen["ok"]):
            return seen
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 2, LONGEST_PAUSE)


def _judged(recipe: Recipe, check: Check, state: State, world: World, pins: JSON) -> Line | str:
    if isinstance(state, Unclear):
        return state.why
    what = f"{check.tool} {check.take}".strip()
    if check.exists is not None:
        there = not isinstance(state, Absent)
        expected, found = word(there=check.exists), word(there=there)
        return line(what, expected, found, ok=there is check.exists)
    try:
        wanted = _expected(recipe, check, world, pins)
    except Unfilled as error:
        return f"{what}: {error}"
    seen = _seen(recipe, check, state)
    alike = same(seen, wanted)
    if check.differs is None:
        return line(what, brief(wanted), brief(seen), ok=alike)
    ok = not alike and not isinstance(state, Absent)
    return line(what, f"other than {brief(wanted)}", brief(seen), ok=ok)


def _expected(recipe: Recipe, check: Check, world: World, pins: JSON) -> JSON:
    """What it is compared with, as a pin; a precondition is known by its pin alone."""
    wanted = check.equals if check.differs is None else check.differs
    if id_ := _whole(recipe, wanted):
        pin = pins.get(id_) if isinstance(pins, dict) else None
        if pin is None:
            raise Unfilled(f"/pre/{id_}")
        return pin
    return {"value": filled(wanted, world)}


def _seen(recipe: Recipe, check: Check, state: Known) -> JSON:
    """What was found, pinned like what it is compared with."""
    fact = recipe.fact(_whole(recipe, check.equals if check.differs is None else check.differs))
    if fact is not None:
        return pinned(fact, state)
    return ABSENT if isinstance(state, Absent) else {"value": state.value}


def _whole(recipe: Recipe, wanted: JSON) -> str:
    """The precondition that a reference names as a whole; empty for anything else."""
    at = reference(wanted)
    if at is None or at.count("/") != 2 or root(at)[0] != "pre":  # noqa: PLR2004 (/pre/id)
        return ""
    return root(at)[1] if recipe.fact(root(at)[1]) else ""


def _moved(facts: Facts, order: Order) -> bool:
    """Whether something that the plan started from is another by now."""
    return not facts.unclear and not facts.stand_as(order.plan.get("preconditions"))
