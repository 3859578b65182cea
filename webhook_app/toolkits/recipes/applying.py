"""Making the one call of an approved plan, and saying what is certain of it."""

from proposals.canonical import JSON
from proposals.ports import Order, Outcome, PlanFailed, Returned
from proposals.tools import Tool, UnknownTool, printable
from proposals.upstreams import Unreached, Unreturned

from .calling import Call, Reach, change, world_of
from .keeping import call_back, told
from .looking import Eyes
from .returning import undo_of

_WORDS = 300


async def applied(eyes: Eyes, reach: Reach, tool: Tool, order: Order) -> Returned:
    """Make the call once. Only what is certain to have done nothing is called so."""
    try:
        call = _call(eyes, tool, order)
        heard = await reach(call.tool, call.arguments, order.key)
    except (PlanFailed, UnknownTool, Unreached) as error:
        return Returned(Outcome.DID_NOTHING, why=printable(str(error), _WORDS))
    except Unreturned as error:
        return Returned(Outcome.LOST, why=printable(str(error), _WORDS))
    if not heard.error:
        return Returned(Outcome.DONE, told(tool, order.kept, heard.value))
    words = str(told(tool, order.kept, heard.error))
    why = f"{call.tool.name} failed: {printable(words, _WORDS)}"
    if heard.refused:
        return Returned(Outcome.DID_NOTHING, why=why)
    return await _failed(eyes, tool, order, why)


def _call(eyes: Eyes, tool: Tool, order: Order) -> Call:
    if order.verb == "undo":
        return call_back(eyes.find, undo_of(order), order)
    return change(eyes.find, tool, world_of(order.plan))


async def _failed(eyes: Eyes, tool: Tool, order: Order, why: str) -> Returned:
    """A tool's own word that it failed counts as long as the world does not speak against it."""
    if not tool.recipe.pre:
        return Returned(Outcome.DID_NOTHING, why=why)
    arguments: JSON = order.plan.get("arguments")
    facts = await eyes.facts(tool, arguments)
    if facts.unclear:
        return Returned(Outcome.LOST, why=f"{why} Whether it changed something cannot be read.")
    if not facts.stand_as(order.plan.get("preconditions")):
        return Returned(Outcome.LOST, why=f"{why} Yet something has changed.")
    return Returned(Outcome.DID_NOTHING, why=why)
