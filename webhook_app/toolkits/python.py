"""Tools that are Python modules: a model `Arguments`, and functions plan, apply and verify.

    plan(arguments)                  {"effects": [...], "preconditions": {...}, ...}
    apply(arguments, plan, key)      {"ok": True, "result": ...}, or ok False and did_nothing True
    verify(arguments, plan, result)  {"verdict": "verified", "checks": [...]}; it may be absent
    read(arguments)                  any JSON value; all that a tool needs that only reads
    undo_plan(arguments, plan, result), undo(arguments, plan, key)   both, or neither

A module whose arguments hold a flag that makes a call a preview has, instead of plan and apply,

    is_preview(arguments)   whether these would change nothing
    apply_push(arguments)   the same with the flag turned; a preview still: nothing is run
    run(arguments)          any JSON value: the preview, or the result

They answer what a command would. `undo_plan` gets the plan that was applied and plans to take it
back; `undo` and `verify` then get that plan, whose tool says `"verb": "undo"`. apply and undo run
in a fresh process; what only looks in one kept warm.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from proposals.tools import BadDeclaration, Tool

from .command import CHANGES, CommandToolkit
from .process import GRACE, Child, Ran, not_started, ran, run
from .wire import published

_OURS = str(Path(__file__).parents[2])  # the child finds us wherever it is started
_MODULE = "webhook_app.toolkits.child"


class PythonToolkit(CommandToolkit):
    """A command toolkit whose command is ours; its modules are found beside placet.toml."""

    def __init__(self, folder: Path, server: Mapping[str, str]) -> None:
        super().__init__(folder, server)
        self._warm: dict[str, tuple[Child, Mapping[str, str]]] = {}
        self._unread: set[str] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ready(self, tool: Tool) -> Tool:
        """The tool with the argument schema and the undo of its module; BadDeclaration."""
        await super().ready(tool)
        try:
            said = published(await self._logged(tool, "schema", {}))
        except ValueError as error:
            raise BadDeclaration(f"[tool.{tool.name}] module {tool.module}: {error}") from None
        if tool.effect == "read" and not said.read:
            raise BadDeclaration(
                f"[tool.{tool.name}] module {tool.module} has no read(arguments); a tool that only"
                " reads needs it."
            )
        if not said.verify:
            self._unread.add(tool.name)
        return tool.with_schema(said.schema_, undoable=said.undo)

    def reads_back(self, tool: Tool) -> bool:
        """Whether its module has a verify."""
        return tool.name not in self._unread

    def argv(self, tool: Tool, verb: str) -> Sequence[str]:
        """Our own program; -P keeps the folder's files from taking the place of its imports."""
        return (sys.executable, "-P", "-m", _MODULE, tool.module or "", verb)

    async def ask(self, tool: Tool, verb: str, given: bytes, env: Mapping[str, str]) -> Ran:
        """Apply in a fresh process; look in the warm one, one question at a time."""
        env = {**env, "PYTHONPATH": _OURS}
        seconds = tool.timeout.total_seconds()
        if verb in CHANGES:
            return await run(self.argv(tool, verb), given, self.folder, env, seconds)
        async with self._turns[tool.name]:
            try:
                child = await self._child(tool, env)
            except OSError as error:
                return not_started(sys.executable, error)
            return await self._answer(tool.name, child, given, seconds)

    async def close(self) -> None:
        """End the warm ones."""
        for name in list(self._warm):
            await self._drop(name)

    async def _child(self, tool: Tool, env: Mapping[str, str]) -> Child:
        child, had = self._warm.get(tool.name, (None, None))
        if child and not child.exited and had == env:
            return child
        await self._drop(tool.name)
        child = await Child.start(self.argv(tool, "serve"), self.folder, env)
        self._warm[tool.name] = (child, env)
        return child

    async def _answer(self, name: str, child: Child, given: bytes, seconds: float) -> Ran:
        clean = False
        try:
            child.send(given, last=False)
            in_time = await child.until(
                lambda: b"\n" in child.output or child.loud or child.exited, seconds
            )
            clean = child.output.endswith(b"\n") and child.output.count(b"\n") == 1
        finally:
            if not clean:
                await self._drop(name)
        problem = (
            "" if in_time else f"The tool did not answer within {seconds:g} s and was stopped."
        )
        came = ran(child, bytes(child.output), problem)
        child.output.clear()
        child.noise.clear()
        return came

    async def _drop(self, name: str) -> None:
        child, _ = self._warm.pop(name, (None, None))
        if child:
            await child.end(GRACE)
