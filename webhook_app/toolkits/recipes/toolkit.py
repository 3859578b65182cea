"""The toolkit of every tool that lives in an upstream: its recipe, played step by step."""

from collections.abc import Mapping

from proposals.canonical import JSON
from proposals.plan import Planned
from proposals.ports import Checked, Done, Order, PlanFailed, Returned
from proposals.tools import Tool
from proposals.upstreams import Heard, Unreached, Upstream

from .applying import applied
from .checking import checked
from .looking import Eyes, Find, Read
from .planning import planned, reached
from .returning import put_back, undo_planned


class RecipeToolkit:
    """Plays recipes over `upstreams`, which are by the kind of their tools.

    `find` gives a declared tool as it is now, `read` calls any declared read, of whatever kind.
    """

    def __init__(self, upstreams: Mapping[str, Upstream], find: Find, read: Read) -> None:
        self._upstreams = upstreams
        self._eyes = Eyes(find, read)

    async def plan(self, tool: Tool, arguments: JSON) -> Planned:
        """Read what it starts from, and run the dry run if there is one; PlanFailed.

        A tool that cannot be called has no plan, also where planning would not call it.
        """
        if upstream := self._upstreams.get(tool.kind):
            try:
                await upstream.ready(tool)
            except Unreached as error:
                raise PlanFailed(reached(error), str(error), "Try again later.") from None
        return await planned(self._eyes, self._reach, tool, arguments)

    async def undo_plan(self, tool: Tool, done: Done) -> Planned:
        """Find the way back, as the world is now; PlanFailed."""
        return await undo_planned(self._eyes, tool, done)

    async def apply(self, tool: Tool, order: Order) -> Returned:
        """Make the one call, once; anything but an answer is LOST."""
        return await applied(self._eyes, self._reach, tool, order)

    async def verify(self, tool: Tool, order: Order, result: JSON) -> Checked:
        """Read back what the call, or the undo, did."""
        if order.verb == "undo":
            return await put_back(self._eyes, tool, order)
        return await checked(self._eyes, tool, order, result)

    async def read(self, tool: Tool, arguments: JSON) -> Heard:
        """Call a tool that only reads; Unreached and Unreturned."""
        return await self._reach(tool, arguments if isinstance(arguments, dict) else {}, None)

    async def close(self) -> None:
        """Upstreams are closed by whoever opened them."""

    async def _reach(self, tool: Tool, arguments: dict[str, JSON], key: str | None) -> Heard:
        upstream = self._upstreams.get(tool.kind)
        if upstream is None:
            raise Unreached("tool_not_started", f"Nothing here runs tools of kind {tool.kind}.")
        return await upstream.call(tool, arguments, key)
