"""Runs tools: plans that must come out the same twice, an apply that never raises."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from .canonical import JSON, NotCanonical, canonical
from .memo import Memo
from .plan import Pinned, Planned, difference, drifted, pin
from .ports import Checked, Done, Order, Outcome, PlanFailed, Reading, Returned, Toolkit
from .tools import BadArguments, Tool, printable
from .upstreams import Heard, Unreached
from .veil import Veil

MAX_KEPT = 1_000_000  # canonical bytes that the store keeps for an undo
MAX_PLAN = 400_000  # canonical bytes, what may vary included; a person must be able to read it
_SHOWN = 5
_OPERATOR = "The tool's operator must look."


class Runner:
    """The tools of every kind behind one door; `toolkits` are by the kind they run.

    `memo` is what reads found; each apply empties it of what its tool may have changed.
    """

    def __init__(self, toolkits: Mapping[str, Toolkit], memo: Memo | None = None) -> None:
        self._toolkits = toolkits
        self.memo = memo or Memo()
        self._veil: Veil | None = None

    def under(self, veil: Veil | None) -> "Runner":
        """The same, but its plans come out veiled: the digest is that of what people see."""
        other = Runner(self._toolkits, self.memo)
        other._veil = veil
        return other

    async def plan_twice(self, tool: Tool, arguments: object, done: Done | None = None) -> Pinned:
        """The plan that a person is asked about. BadArguments, and PlanFailed when there is none.

        Planning the same world twice must give one digest; else code nondeterministic_plan. With
        `done` it is the plan of taking that back.
        """
        plain = tool.validate(arguments)
        first = await self._plan(tool, plain, done)
        second = await self._plan(tool, plain, done)
        if drifted(first, second):
            raise _nondeterministic(first, second)
        return second

    async def plan_again(self, tool: Tool, arguments: object, done: Done | None = None) -> Pinned:
        """The plan as it would be now; PlanFailed, also for arguments that no longer fit."""
        try:
            plain = tool.validate(arguments)
        except BadArguments as error:
            raise PlanFailed(error.code, str(error), error.hint) from None
        return await self._plan(tool, plain, done)

    async def read(self, tool: Tool, arguments: object) -> Heard:
        """Call a tool that only reads. BadArguments, Unreached and Unreturned."""
        if tool.effect != "read":
            raise Unreached("not_a_read", f"{tool.name} is not declared as a read.")
        plain = tool.validate(arguments)
        try:
            toolkit = self._toolkit(tool)
        except PlanFailed as error:
            raise Unreached(error.code, str(error)) from None
        return await toolkit.read(tool, plain)

    async def apply(self, tool: Tool, order: Order) -> Returned:
        """Run the change once. Whatever goes wrong in here, it may have happened: LOST."""
        try:
            toolkit = self._toolkit(tool)
        except PlanFailed as error:
            return Returned(Outcome.DID_NOTHING, why=str(error))
        self._forget(tool)
        try:
            return await toolkit.apply(tool, order)
        except Exception as error:  # noqa: BLE001 (an apply that raises would look like none)
            return Returned(Outcome.LOST, why=f"Applying broke off: {type(error).__name__}.")
        finally:
            self._forget(tool)

    async def verify(self, tool: Tool, order: Order, result: JSON) -> Checked:
        """Read the world back; a reading that breaks off shows nothing."""
        try:
            return await self._toolkit(tool).verify(tool, order, result)
        except Exception as error:  # noqa: BLE001 (the outcome of the apply stands without it)
            why = f"Reading back broke off: {type(error).__name__}."
            return Checked(Reading.UNVERIFIED, why=why)

    async def close(self) -> None:
        """Stop what is kept warm."""
        for toolkit in self._toolkits.values():
            await toolkit.close()

    def _forget(self, tool: Tool) -> None:
        """Forget what was read where a tool writes, itself or by the tools that it calls."""
        called = (tool.recipe.apply.tool, *(way.tool for way in tool.recipe.undo))
        for name in {tool.name, *filter(None, called)}:
            self.memo.forget(name)

    def _toolkit(self, tool: Tool) -> Toolkit:
        if tool.kind not in self._toolkits:
            message = f"Nothing here runs tools of kind {tool.kind}."
            raise PlanFailed("tool_not_started", message, _OPERATOR)
        return self._toolkits[tool.kind]

    async def _plan(self, tool: Tool, arguments: JSON, done: Done | None) -> Pinned:
        planned, identity = await self._planned(tool, arguments, done)
        if "spend" in tool.touches and planned.cost is None:
            message = "The tool spends, but its plan names no cost."
            raise PlanFailed("bad_plan", message, _OPERATOR)
        try:
            # Off the event loop: canonicalising takes 10 ms for each 90 kB.
            pinned, size, kept = await asyncio.to_thread(
                lambda: _measured(self._pinned(identity, arguments, planned, tool.volatile))
            )
        except NotCanonical as error:
            raise PlanFailed("bad_plan", f"The tool's plan: {error}", _OPERATOR) from None
        if size > MAX_PLAN:
            message = f"The plan has {size:,} bytes; a person can be shown {MAX_PLAN:,}."
            raise PlanFailed("plan_too_large", message, "Ask for less at once.")
        if kept > MAX_KEPT:
            message = f"{kept:,} bytes would be kept for the undo; at most {MAX_KEPT:,} are."
            raise PlanFailed("plan_too_large", message, "Ask for less at once.")
        return pinned

    def _pinned(
        self, identity: Mapping[str, JSON], arguments: JSON, planned: Planned, may: tuple[str, ...]
    ) -> Pinned:
        """The pinned plan as people see it, and beside it the real one when something is hidden."""
        real = pin(identity, arguments, planned, may)
        if self._veil is None:
            return real
        shown = pin(identity, *self._veil.plan(arguments, planned), may)
        return replace(shown, real=real.plan)

    async def _planned(
        self, tool: Tool, arguments: JSON, done: Done | None
    ) -> tuple[Planned, dict[str, JSON]]:
        """What the dry run says, and of whom: the tool, or the undo of it."""
        toolkit = self._toolkit(tool)
        if done is None:
            return await toolkit.plan(tool, arguments), tool.identity()
        if not tool.undo:
            raise PlanFailed("irreversible", f"The tool {tool.name} has no undo.")
        return await toolkit.undo_plan(tool, done), tool.undo_identity()


def _measured(pinned: Pinned) -> tuple[Pinned, int, int]:
    shown = canonical([pinned.plan, pinned.volatile])
    return pinned, len(shown), len(canonical(pinned.kept))


def _nondeterministic(first: Pinned, second: Pinned) -> PlanFailed:
    differing = [printable(change.pointer, 120) for change in difference(first, second)]
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return PlanFailed(
        "nondeterministic_plan",
        f"Planned twice, it came out differently at {', '.join(differing[:_SHOWN])}{more}.",
        "Ask again if the data changed just then. If not, the tool's operator must make its plan"
        " repeatable; only what is below /preview and /warnings may be declared volatile.",
    )
