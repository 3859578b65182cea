"""The gate: every tool call passes it, in this order, whatever door it came through.

Is it declared, and may it run without asking? Was exactly this read done in this session? Run it,
and try a read again a few times. Fall back, reads only, and the fallback passes the gate itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from .calls import Call, ConfirmationRequired, Denied, Entry, Holder, Log, Policy, Status
from .canonical import JSON, digest
from .memo import Memo
from .tools import BadArguments, missing
from .upstreams import Heard, Unreached, Unreturned


@dataclass(slots=True)
class Gate:
    """The one way to the tools; without a policy it denies everything."""

    entries: Mapping[str, Entry]
    holder: Holder
    policy: Policy | None = None
    memo: Memo = field(default_factory=Memo)
    log: Log = lambda _status, _call: None
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _keys: dict[tuple[str, str], tuple[str, asyncio.Future[Heard]]] = field(default_factory=dict)

    async def call(self, call: Call) -> Heard:
        """Run a call; Denied, BadArguments or ConfirmationRequired when it does not run.

        Unreached: nothing was done. Unreturned: the outcome is unknown.
        """
        entry, call = self._declared(call)
        if not self.policy or not self.policy(entry.tool):
            self.log(Status.BLOCKED, call)
            if self.policy is None:
                raise Denied("no_policy", "No policy says what may run, so nothing may.")
            proposal = await self.holder.hold(call)
            raise ConfirmationRequired(entry.tool.name, call.arguments, proposal)
        if entry.tool.effect == "read":
            return await self._read(entry, call)
        return await self._write(entry, call)

    async def resume(self, proposal: str) -> Heard:
        """Go on after a pause: the store says what came of it, never the agent's saved state."""
        return await self.holder.result(proposal)

    def _declared(self, call: Call) -> tuple[Entry, Call]:
        """The entry of exactly this name, and the call with its arguments as they fit."""
        entry = self.entries.get(call.tool)
        if entry is None or entry.tool.name != call.tool:
            self.log(Status.BLOCKED, call)
            error = missing(call.tool, self.entries)
            raise Denied(error.code, str(error), error.hint)
        try:
            return entry, replace(call, arguments=entry.tool.validate(call.arguments))
        except BadArguments:
            self.log(Status.BLOCKED, call)
            raise

    async def _read(self, entry: Entry, call: Call) -> Heard:
        session = f"{call.agent} {call.session}" if call.session else ""
        place = (session, entry.tool.name, digest(call.arguments))
        if session and (known := self.memo.recall(place)):
            self.log(Status.CACHE_HIT, call)
            return known
        mark = self.memo.mark(entry.tool.name)
        try:
            heard = await self._tried(entry, call)
        except (Unreached, Unreturned) as error:
            self.log(Status.FAILED, call)
            return await self._instead(entry, call, error)
        self.log(Status.FAILED if heard.error else Status.EXECUTED, call)
        if session:
            self.memo.keep(place, heard, entry.memo, mark)
        return heard

    async def _tried(self, entry: Entry, call: Call) -> Heard:
        for attempt in range(entry.retries):
            try:
                return await entry.run(call.arguments, None)
            except (Unreached, Unreturned):
                self.log(Status.RETRIED, call)
                await self.sleep(0.2 * 2**attempt)
        return await entry.run(call.arguments, None)

    async def _instead(self, entry: Entry, call: Call, error: Exception) -> Heard:
        """Fall back on another read, which passes the gate itself; never twice on the same one."""
        failed = call.instead_of | {entry.tool.name}
        other = self.entries.get(entry.fallback or "")
        if other is None or other.tool.effect != "read" or other.tool.name in failed:
            raise error
        self.log(Status.FALLBACK, call)
        return await self.call(replace(call, tool=other.tool.name, instead_of=failed))

    async def _write(self, entry: Entry, call: Call) -> Heard:
        """Run a write at most once for its key, however it comes out."""
        said = digest({"tool": entry.tool.name, "arguments": call.arguments})
        place = (call.agent, call.key or "")
        if call.key and (known := self._keys.get(place)):
            if known[0] != said:
                raise Denied("key_conflict", "The key was used for another call.", "Use a new key.")
            return await asyncio.shield(known[1])
        running = asyncio.ensure_future(self._changed(entry, call.arguments, call.key))
        if call.key:
            self._keys[place] = (said, running)
        try:
            done = await asyncio.shield(running)
        except Exception:
            self.log(Status.FAILED, call)
            raise
        self.log(Status.FAILED if done.error else Status.EXECUTED, call)
        return done

    async def _changed(self, entry: Entry, arguments: JSON, key: str | None) -> Heard:
        """What was read of this upstream may be untrue from here on, however this comes out."""
        self.memo.forget(entry.tool.name)
        try:
            return await entry.run(arguments, key)
        finally:
            self.memo.forget(entry.tool.name)
