"""The gate: every tool call passes it, in this order, whatever door it came through.

Is it declared, and may it run without asking? Was exactly this read done in this session? Run it,
and try a read again a few times. Fall back, reads only, and the fallback passes the gate itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from .calls import (
    Call,
    ConfirmationRequired,
    Denied,
    Entry,
    Holder,
    Log,
    Policy,
    Status,
    Transient,
)
from .canonical import JSON, digest


@dataclass(slots=True)
class Gate:
    """The one way to the tools; without a policy it denies everything."""

    entries: Mapping[str, Entry]
    holder: Holder
    policy: Policy | None = None
    log: Log = lambda _status, _call: None
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _memo: dict[tuple[str, str], JSON] = field(default_factory=dict)
    _keys: dict[tuple[str, str], tuple[str, asyncio.Future[JSON]]] = field(default_factory=dict)

    async def call(self, call: Call) -> JSON:
        """Run a call or say why not: Denied, ConfirmationRequired, or whatever the tool raises."""
        entry = self._declared(call)
        arguments = entry.tool.validate(call.arguments)
        if not self.policy or not self.policy(entry.tool):
            self.log(Status.BLOCKED, call)
            if self.policy is None:
                raise Denied("no_policy", "No policy says what may run, so nothing may.")
            proposal = await self.holder.hold(entry.tool, arguments, call.key)
            raise ConfirmationRequired(entry.tool.name, arguments, proposal)
        if entry.tool.effect == "read":
            return await self._read(entry, call, arguments)
        return await self._write(entry, call, arguments)

    async def resume(self, proposal: str) -> JSON:
        """Go on after a pause: the store says what came of it, never the agent's saved state."""
        return await self.holder.result(proposal)

    def _declared(self, call: Call) -> Entry:
        entry = self.entries.get(call.tool)
        if entry is None or entry.tool.name != call.tool:
            self.log(Status.BLOCKED, call)
            raise Denied("unknown_tool", f"No tool {call.tool!r} is declared.")
        return entry

    async def _read(self, entry: Entry, call: Call, arguments: JSON) -> JSON:
        place = (call.session or "", f"{entry.tool.name} {digest(arguments)}")
        if call.session and place in self._memo:
            self.log(Status.CACHE_HIT, call)
            return self._memo[place]
        try:
            found = await self._tried(entry, call, arguments)
        except Transient:
            self.log(Status.FAILED, call)
            return await self._instead(entry, call)
        self.log(Status.EXECUTED, call)
        if call.session:
            self._memo[place] = found
        return found

    async def _tried(self, entry: Entry, call: Call, arguments: JSON) -> JSON:
        for attempt in range(entry.retries):
            try:
                return await entry.run(arguments, None)
            except Transient:
                self.log(Status.RETRIED, call)
                await self.sleep(0.2 * 2**attempt)
        return await entry.run(arguments, None)

    async def _instead(self, entry: Entry, call: Call) -> JSON:
        """Fall back on another read, which passes the gate itself; never twice on the same one."""
        failed = call.instead_of | {entry.tool.name}
        other = self.entries.get(entry.fallback or "")
        if other is None or other.tool.effect != "read" or other.tool.name in failed:
            raise Transient(f"{entry.tool.name} could not be read.")
        self.log(Status.FALLBACK, call)
        return await self.call(Call(other.tool.name, call.arguments, call.session, None, failed))

    async def _write(self, entry: Entry, call: Call, arguments: JSON) -> JSON:
        """Run a write at most once for its key, however it comes out."""
        said = digest({"tool": entry.tool.name, "arguments": arguments})
        place = (entry.tool.name, call.key or "")
        if call.key and (known := self._keys.get(place)):
            if known[0] != said:
                raise Denied("key_conflict", "The key was used for other arguments.")
            return await asyncio.shield(known[1])
        # Whatever was read of this upstream may be untrue from now on, also if this goes wrong.
        upstream = entry.tool.name.split(".")[0] + "."
        self._memo = {p: v for p, v in self._memo.items() if not p[1].startswith(upstream)}
        running = asyncio.ensure_future(entry.run(arguments, call.key))
        if call.key:
            self._keys[place] = (said, running)
        try:
            done = await asyncio.shield(running)
        except Exception:
            self.log(Status.FAILED, call)
            raise
        self.log(Status.EXECUTED, call)
        return done
