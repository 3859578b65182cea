"""A club's register behind the real gate and the real store: what the loop calls, in tests."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from proposals.agent_ports import Facts, Offer
from proposals.answer import answer, denied
from proposals.calls import Call, ConfirmationRequired, Denied, Entry, deny_destructive
from proposals.canonical import JSON
from proposals.drafts import MISSING_INPUT, Draft, named, pending
from proposals.gate import Gate
from proposals.lifecycle import Event, State
from proposals.plan import Planned, Proposal, pin
from proposals.store import Started, Store
from proposals.tools import BadArguments, Tool
from proposals.transcript import Result, Use
from proposals.turn import Scope, text
from proposals.upstreams import Heard

ATHLETES = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "year": {"type": "integer"}},
    "required": ["name", "year"],
}


def tool(name: str, effect: Literal["read", "write"], section: str = "") -> Tool:
    return Tool(
        name=name, kind="python", module="club", effect=effect, arguments=ATHLETES,
        section=section,
    )  # fmt: skip


@dataclass
class Club:
    """The register, and the desk in front of it. What would write waits until `yes` is called."""

    store: Store
    now: datetime
    scope: Scope = field(default_factory=lambda: Scope("bot", "s1"))
    register: dict[str, int] = field(default_factory=dict)
    fault: str = ""

    def __post_init__(self) -> None:
        entries = {
            "club.find": Entry(tool("club.find", "read"), self._find),
            "club.enter": Entry(tool("club.enter", "write", "member"), self._find),
        }
        self.entries = entries
        self.gate = Gate(entries, self, deny_destructive)

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    async def begin(self) -> Facts:
        return self._facts(
            self.store.open_turn(self.scope, f"t_{secrets.token_hex(4)}", self.tick())
        )

    async def facts(self) -> Facts:
        return self._facts(self.store.turn_report(self.scope, self.tick()))

    async def end(self) -> Facts:
        told = self.store.close_turn(self.scope, self.tick())
        assert told is not None
        return self._facts(told)

    async def correction(self) -> str | None:
        found = self.store.confront(self.scope)
        return found.words if found else None

    async def tools(self) -> list[Offer]:
        mine = Offer("placet_discard_draft", "Let a draft go.", {"type": "object"})
        wired = [n.replace(".", "__") for n in self.entries]
        return [Offer(n, n, ATHLETES) for n in wired] + [mine]

    async def call(self, use: Use) -> Result:
        name, arguments = use.tool.replace("__", "."), dict(use.arguments)
        if name == "placet_discard_draft":
            done = self.store.discard_draft(self.scope, str(arguments.get("draft")))
            verdict = {"verdict": "verified" if done else "contradicted", "ok": done}
            return Result("", json.dumps({"_verification": verdict}), "" if done else "no_draft")
        try:
            found = await self.gate.call(Call(name, arguments))
        except ConfirmationRequired as pause:
            return self._held(pause.proposal)
        except BadArguments as error:
            return self._lacking(name, arguments, error)
        except Denied as error:
            return self._refused(name, error.code, str(error))
        return Result("", json.dumps(found.value))

    async def hold(self, call: Call) -> str:
        """Propose the call for real: stored, planned, pinned."""
        now, tool, arguments = self.tick(), self.entries[call.tool].tool, call.arguments
        fresh = Proposal(
            id="p_" + secrets.token_hex(4), agent=self.scope.agent, tool=tool.name,
            arguments=arguments, state=State.PLANNING, repository=5, identities=frozenset({11}),
            created=now, expires=now + timedelta(hours=1), salt="00", key=call.key,
        )  # fmt: skip
        kept = self.store.add(fresh, now)
        if kept.id == fresh.id:
            pinned = pin(tool.identity(), arguments, Planned())
            self.store.move(kept.id, Event.PLANNED, now, pinned=pinned, summary=f"{tool.name}")
        return kept.id

    async def result(self, proposal: str) -> Heard:
        known = self.store.proposal(proposal)
        assert known is not None
        return Heard((known.outcome or {}).get("result"))

    def yes(self) -> None:
        """Somebody approves everything that waits; it is applied and read back."""
        for waiting in self.store.alive():
            id_, now = waiting.id, self.tick()
            claimed = self.store.move(id_, Event.GRANTED, now, nonce="n")
            until = now + timedelta(minutes=1)
            given = Started("n", waiting.plan.digest, claimed.evidence_rev, until)
            assert self.store.start(id_, given, now)
            self._apply(waiting)

    def _apply(self, proposal: Proposal) -> None:
        arguments = proposal.plan.plan["arguments"]
        assert isinstance(arguments, dict)
        if self.fault:
            self.store.move(proposal.id, Event.DID_NOTHING, self.now, why=self.fault)
            return
        self.register[str(arguments["name"])] = int(str(arguments["year"]))
        basis = {"basis": "verified", "checks": []}
        self.store.move(proposal.id, Event.SUCCEEDED, self.now, outcome=basis)

    async def _find(self, arguments: JSON, key: str | None) -> Heard:  # noqa: ARG002
        assert isinstance(arguments, dict)
        return Heard({"year": self.register.get(str(arguments["name"]))})

    def _held(self, proposal: str) -> Result:
        known = self.store.proposal(proposal)
        assert known is not None
        told = answer(known)
        section = self.entries[known.tool].tool.section
        self.store.record_call(self.scope, told, section, self.tick())
        return Result("", json.dumps(told))

    def _lacking(self, name: str, arguments: dict[str, JSON], error: BadArguments) -> Result:
        if error.code not in MISSING_INPUT:
            return self._refused(name, error.code, str(error))
        section = self.entries[name].tool.section
        id_ = named((self.scope.agent, self.scope.session), section, name, arguments)
        draft = Draft(id_, section, name, arguments, str(error), self.tick())
        self.store.record_draft(self.scope, draft)
        return Result("", json.dumps({"status": "draft", "error": str(error)}), error.code)

    def _refused(self, name: str, code: str, message: str) -> Result:
        told = denied(name, code, message)
        self.store.record_call(self.scope, told, "", self.tick())
        return Result("", json.dumps(told), code)

    def _facts(self, report: Mapping[str, Any]) -> Facts:
        return Facts(report, text(report), pending(self.store.drafts(self.scope)))
