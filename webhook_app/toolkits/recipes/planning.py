"""A plan by a recipe: what was read before, what the dry run said, and the exact call."""

from proposals.canonical import JSON, canonical, pointer_split
from proposals.plan import Planned
from proposals.ports import PlanFailed
from proposals.tools import BadArguments, Tool, UnknownTool, printable
from proposals.tools.recipe import Recipe
from proposals.tools.references import Unfilled, filled
from proposals.upstreams import Unreached, Unreturned
from webhook_app.toolkits.wire import UNCHECKED

from .calling import OPERATOR, Call, Reach, change, dry_run, refuse_unturned
from .looking import Absent, Eyes, Facts, Found, Unclear, World, taken

NO_DRY_RUN = (
    "This tool has no dry run: shown are the exact call and what was read before it; what it"
    " changes is as its operator declared it."
)
NOT_ISOLATED = (
    "The preview is not isolated: the server that will make the change made it, with the same"
    " credentials."
)


async def planned(eyes: Eyes, reach: Reach, tool: Tool, arguments: JSON) -> Planned:
    """The plan of a call; PlanFailed when there is none."""
    facts = await eyes.facts(tool, arguments)
    require(tool, facts)
    world = {"arguments": arguments, "pre": facts.values}
    try:
        dry = dry_run(eyes.find, tool, world)
        if dry:
            refuse_unturned(tool, dry, world)
        preview = await _said(eyes, reach, tool, dry) if dry else None
        # What may vary is shown beside the plan: a call that is made of the plan has nothing of it.
        lasting, _ = pointer_split({"preview": preview}, _inside(tool))
        world |= lasting if isinstance(lasting, dict) else {}
        call = change(eyes.find, tool, world)
    except UnknownTool as error:
        raise PlanFailed("tool_changed", str(error), OPERATOR) from None
    if dry and dry == call:
        raise PlanFailed("flag_not_flipped", "The dry run is the change itself.", OPERATOR)
    effects = _effects(tool.recipe, world | {"pre": facts.shown})
    if not dry and (not effects or call != Call(tool, _plain(arguments))):
        preview = {"call": call.shown}
    return Planned(
        effects=effects,
        preview=preview,
        preconditions=facts.pins,
        cost=_cost(tool.recipe, world),
        warnings=_warnings(tool, dry),
        kept=kept(tool, facts),
    )


def _warnings(tool: Tool, dry: Call | None) -> list[str]:
    """What an approver should know of how the plan was made; a proven preview needs no word."""
    after = [] if tool.recipe.verify else [UNCHECKED]
    if dry is None:
        return [NO_DRY_RUN, *after]
    return after if tool.isolated else [NOT_ISOLATED, *after]


def require(tool: Tool, facts: Facts) -> None:
    """Refuse to plan on what nobody can tell, and on what must be otherwise; PlanFailed."""
    if facts.unclear:
        raise unreadable(facts.unclear)
    for fact in tool.recipe.pre:
        absent = isinstance(facts.states[fact.id], Absent)
        if fact.require and absent != (fact.require == "absent"):
            must = "must be there, and is not" if absent else "must not be there yet, and is"
            hint = "Look at how things are, and call for something else."
            raise PlanFailed("precondition_failed", f'"{fact.id}" ({fact.tool}) {must}.', hint)


def unreadable(why: str) -> PlanFailed:
    """No plan, as nobody can tell what it would start from."""
    hint = "Ask again; if it stays so, the tool's operator must look."
    return PlanFailed("not_readable", f"What it starts from cannot be read: {why}", hint)


def kept(tool: Tool, facts: Facts) -> dict[str, JSON]:
    """What is kept whole, in the store only."""
    states = {fact.id: facts.states[fact.id] for fact in tool.recipe.pre if fact.keep}
    return {id_: state.value for id_, state in states.items() if isinstance(state, Found)}


async def _said(eyes: Eyes, reach: Reach, tool: Tool, dry: Call) -> JSON:
    """What the dry run shows; PlanFailed when it failed, or nobody can tell."""
    try:
        if dry.tool.effect == "read":
            heard = await eyes.read(dry.tool, dry.arguments)
        else:
            heard = await reach(dry.tool, dry.arguments, None)
    except BadArguments as error:
        raise PlanFailed("bad_call", f"{dry.tool.name}: {error}", OPERATOR) from None
    except Unreached as error:
        raise PlanFailed(reached(error), f"{dry.tool.name}: {error}", OPERATOR) from None
    except Unreturned as error:
        raise PlanFailed("tool_failed", f"The dry run: {error}", OPERATOR) from None
    if heard.error:
        words = printable(heard.error, 300)
        raise PlanFailed("preview_failed", f"The dry run failed: {words}", "Change the arguments.")
    take = tool.recipe.preview.take if tool.recipe.preview else ""
    found = taken(heard.value, take)
    if isinstance(found, Unclear):
        raise PlanFailed("bad_plan", f"The dry run: {found.why}.", OPERATOR)
    return found.value


def reached(error: Unreached) -> str:
    """The code of a plan that could not be made because nothing was reached."""
    return error.code if error.code == "tool_changed" else "upstream_down"


def _effects(recipe: Recipe, world: World) -> list[dict[str, JSON]]:
    try:
        return [
            {
                "what": _text(filled(effect.what, world)),
                "before": filled(effect.before, world),
                "after": filled(effect.after, world),
            }
            for effect in recipe.effects
        ]
    except Unfilled as error:
        raise PlanFailed("bad_plan", f"effects: {printable(str(error))}.", OPERATOR) from None


def _cost(recipe: Recipe, world: World) -> dict[str, JSON] | None:
    if recipe.cost is None:
        return None
    try:
        amount, unit = filled(recipe.cost.amount, world), filled(recipe.cost.unit, world)
    except Unfilled as error:
        raise PlanFailed("bad_plan", f"cost: {printable(str(error))}.", OPERATOR) from None
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        raise PlanFailed("bad_plan", "cost: its amount is neither a number nor a text.", OPERATOR)
    return {"amount": amount, "unit": _text(unit)}


def _inside(tool: Tool) -> list[str]:
    return [pointer for pointer in tool.volatile if pointer.startswith("/preview")]


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else canonical(value).decode()


def _plain(arguments: JSON) -> dict[str, JSON]:
    return arguments if isinstance(arguments, dict) else {}
