"""The one call that a plan comes to, and the dry run of it: never the same call."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from proposals.canonical import JSON, MISSING, Missing, same
from proposals.ports import PlanFailed
from proposals.tools import BadArguments, Tool, printable
from proposals.tools.arguments import fitting
from proposals.tools.recipe import Flags
from proposals.tools.references import Unfilled, filled, references, root
from proposals.upstreams import Heard

from .looking import Find, World, values

Reach = Callable[[Tool, dict[str, JSON], str | None], Awaitable[Heard]]
"""Calls a tool where it lives, once, with an idempotency key or without."""
OPERATOR = "The tool's operator must look."


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one tool, nothing left to fill in."""

    tool: Tool
    arguments: dict[str, JSON]

    @property
    def shown(self) -> dict[str, JSON]:
        """How a plan shows it."""
        return {"tool": self.tool.name, "arguments": self.arguments}


def world_of(plan: Mapping[str, JSON]) -> dict[str, JSON]:
    """What references of a call point into: nothing but the pinned plan."""
    arguments = plan.get("arguments")
    return {
        "arguments": arguments if isinstance(arguments, dict) else {},
        "pre": values(plan.get("preconditions")),
        "preview": plan.get("preview"),
    }


def change(find: Find, tool: Tool, world: World) -> Call:
    """The call that changes something; PlanFailed when there is none to make."""
    own = tool.recipe.apply
    if own.tool is None:
        return fit(tool, _flagged(tool, own, world))
    return fit(find(own.tool), _filled(tool, own.args, world))


def dry_run(find: Find, tool: Tool, world: World) -> Call | None:
    """The call that shows what would happen, None when there is no such thing; PlanFailed.

    It differs from the call that changes something in each flag that is the operator's, whatever
    the tool takes for one that is left out.
    """
    preview = tool.recipe.preview
    if preview is None:
        return None
    if preview.tool is not None:
        return Call(find(preview.tool), _filled(tool, preview.args, world))
    return fit(tool, _flagged(tool, preview, world))


def refuse_unturned(tool: Tool, dry: Call, world: World) -> None:
    """Refuse a dry run that is, or may be, the change itself; before it is called. PlanFailed.

    A flag that is left out is what the tool takes it for: the default of its schema.
    """
    preview = tool.recipe.preview
    if preview is None or dry.tool.name != (tool.recipe.apply.tool or tool.name):
        return
    flags = {*preview.set, *preview.unset}
    turned = {
        n for n in flags if not _alike(_taken(tool, n, dry.arguments), _later(tool, n, world))
    }
    stuck = (flags & set(tool.recipe.forbid)) - turned or (set() if turned else flags)
    if stuck:
        raise PlanFailed(
            "flag_not_flipped",
            f"The dry run and the change would be one call: {min(stuck)!a:.80} is the same.",
            OPERATOR,
        )


def fit(tool: Tool, arguments: dict[str, JSON]) -> Call:
    """The call, if the tool takes it; PlanFailed."""
    if tool.kind == "mcp" and not tool.published:
        message = f"The upstream of {tool.name} is down, or does not offer this tool now."
        raise PlanFailed("upstream_down", message, "Try again later.")
    if fault := tool.unflippable():
        raise PlanFailed("flag_not_there", f"{tool.name}: {fault}", OPERATOR)
    needs = {tool.key_argument: "key"} if tool.key_argument else {}
    try:
        fitting(tool.arguments, {**arguments, **needs})
    except BadArguments as error:
        raise PlanFailed("bad_call", f"{tool.name}: {error}", error.hint or OPERATOR) from None
    return Call(tool, arguments)


def _flagged(tool: Tool, flags: Flags, world: World) -> dict[str, JSON]:
    given = world["arguments"]
    kept = given if isinstance(given, dict) else {}
    return {k: v for k, v in kept.items() if k not in flags.unset} | _filled(tool, flags.set, world)


def _filled(tool: Tool, said: dict[str, JSON], world: World) -> dict[str, JSON]:
    try:
        made = filled(said, world)
    except Unfilled as error:
        raise PlanFailed("bad_call", f"{tool.name}: {printable(str(error))}.", OPERATOR) from None
    return made if isinstance(made, dict) else {}


def _later(tool: Tool, name: str, world: World) -> JSON | Missing:
    """What a flag will be in the change; what only the dry run can tell is no value yet."""
    said = tool.recipe.apply.set.get(name)
    if any(root(at)[0] == "preview" for at in references(said)):
        return MISSING
    return _taken(tool, name, _flagged(tool, tool.recipe.apply.only(name), world))


def _taken(tool: Tool, name: str, arguments: Mapping[str, JSON]) -> JSON | Missing:
    """What the tool takes an argument for: the given value, else the default of its schema."""
    schema = tool.arguments["properties"].get(name)
    default = schema.get("default", MISSING) if isinstance(schema, dict) else MISSING
    return arguments.get(name, default)


def _alike(a: JSON | Missing, b: JSON | Missing) -> bool:
    if isinstance(a, Missing) or isinstance(b, Missing):
        return a is b
    return same(a, b)
