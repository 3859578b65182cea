"""Tools that are commands: an argv list, JSON on standard input and output, no shell."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from proposals.canonical import JSON
from proposals.plan import Planned
from proposals.ports import Checked, Done, Order, Reading, Returned
from proposals.tools import BadDeclaration, Tool, printable
from proposals.upstreams import Heard

from .process import Ran, environment, run
from .wire import NOTHING_TO_READ, applied, checked, heard, planned, request, unchecked

LOG = logging.getLogger("placet.tools")
CHANGES = frozenset({"apply", "undo"})  # the verbs that may change the world


class CommandToolkit:
    """Runs each verb of a tool in a child process of its own.

    `folder` is where placet.toml lies and where tools run; `server` is the server's environment, of
    which a tool sees PATH, HOME, LANG and what its declaration names. Only apply and undo see
    `apply_env`. One command answers undo_plan and undo: the request's `verb` says which.
    """

    def __init__(self, folder: Path, server: Mapping[str, str]) -> None:
        self.folder = folder
        self.server = server

    async def ready(self, tool: Tool) -> Tool:
        """The tool as it can be used, asked once at start; BadDeclaration when it cannot be."""
        for name in ("plan_env", "apply_env"):
            _, lacking = environment(self.server, getattr(tool, name))
            if lacking:
                raise BadDeclaration(
                    f"[tool.{tool.name}] {name} names the environment variable {lacking[0]}, which"
                    " the server does not have; set it and start again."
                )
        return tool

    async def plan(self, tool: Tool, arguments: JSON) -> Planned:
        """Run the dry run; PlanFailed when it gives no plan."""
        plan = planned(await self._logged(tool, "plan", {"arguments": arguments}))
        return plan if self.reads_back(tool) else unchecked(plan)

    async def undo_plan(self, tool: Tool, done: Done) -> Planned:
        """Run the dry run of the undo, which looks at what was done and at the world as it is."""
        asked = {
            "arguments": done.plan.get("arguments"),
            "plan": dict(done.plan),
            "result": done.result,
            "receipt": dict(done.receipt),
        }
        plan = planned(await self._logged(tool, "undo_plan", asked))
        return plan if self.reads_back(tool) else unchecked(plan)

    def reads_back(self, tool: Tool) -> bool:
        """Whether there is anything that looks afterwards whether it worked."""
        return bool(self.argv(tool, "verify"))

    async def apply(self, tool: Tool, order: Order) -> Returned:
        """Run the change, or its undo, once; anything but an answer in time is LOST."""
        asked = {**self._of(order), "key": order.key}
        return applied(await self._logged(tool, order.verb, asked))

    async def verify(self, tool: Tool, order: Order, result: JSON) -> Checked:
        """Read the world back; UNVERIFIED when there is nothing to look at."""
        if not self.argv(tool, "verify"):
            return Checked(Reading.UNVERIFIED, why=NOTHING_TO_READ)
        return checked(await self._logged(tool, "verify", {**self._of(order), "result": result}))

    async def read(self, tool: Tool, arguments: JSON) -> Heard:
        """Call a tool that only reads; upstreams.Unreached and Unreturned."""
        return heard(await self._logged(tool, "read", {"arguments": arguments}))

    async def close(self) -> None:
        """Nothing is kept warm."""

    def argv(self, tool: Tool, verb: str) -> Sequence[str]:
        """The command for a verb; empty when the tool has none."""
        commands = {
            "read": tool.read,
            "plan": tool.plan,
            "apply": tool.apply,
            "verify": tool.verify_command,
            "undo_plan": tool.undo_command,
            "undo": tool.undo_command,
        }
        return commands[verb]

    async def ask(self, tool: Tool, verb: str, given: bytes, env: Mapping[str, str]) -> Ran:
        """Run one verb in exactly this environment."""
        seconds = tool.timeout.total_seconds()
        return await run(self.argv(tool, verb), given, self.folder, env, seconds)

    async def _logged(self, tool: Tool, verb: str, members: dict[str, JSON]) -> Ran:
        declared = tool.apply_env if verb in CHANGES else tool.plan_env
        env, lacking = environment(self.server, declared)
        if lacking:
            problem = f"The server's environment variable {lacking[0]} is not set."
            return Ran(problem=problem, started=False)
        ran = await self.ask(tool, verb, request(verb, tool, members), env)
        if ran.noise:
            said = printable(ran.noise.decode(errors="replace"), 8_000)
            if tool.secrets:
                said = f"{len(ran.noise):,} bytes, not told here: it is given secrets"
            LOG.warning("%s %s wrote on stderr: %s", tool.name, verb, said)
        return ran

    def _of(self, order: Order) -> dict[str, JSON]:
        return {"arguments": order.plan.get("arguments"), "plan": dict(order.plan)}
