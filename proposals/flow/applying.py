"""Applying: fence, apply once, read back, and say honestly what came of it."""

from datetime import timedelta
from typing import Any

from checks.simulate import Scene
from checks.verdict import Verdict
from proposals.canonical import JSON
from proposals.evidence import stamp
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.ports import (
    Checked,
    Fence,
    Order,
    Outcome,
    Reading,
    Returned,
)
from proposals.store import Step
from proposals.tools import UnknownTool

from .ending import told
from .ground import Ports
from .scribing import fence
from .statements import approvals, start_of

AGAIN = timedelta(seconds=5)
LATER = timedelta(minutes=5)


async def run(ports: Ports, started: Proposal, verdict: Verdict, scene: Scene) -> timedelta | None:
    """Write start.json and, only when it is ours, apply. The started proposal has one chance."""
    by = approvals(verdict)
    start = start_of(started, verdict, scene, ports.now())
    found = await fence(ports, started, start, verdict.valid_until)
    if found is Fence.ABSENT:
        why = "the start was not written to the ledger, or too late, so nothing was run"
        ports.store.move(started.id, Event.NOT_STARTED, ports.now(), why=why, nonce=None)
        return patience(ports, started)
    if found is Fence.UNPROVEN:
        why = "Nobody could prove whether the start was recorded, so nothing was run."
        outcome = outcome_of(ports, "failed", by, why=why, reason="start_unproven")
        finish(ports, started, Event.START_UNPROVEN, outcome)
        return None
    if found is Fence.TAMPERED:
        why = "Somebody else changed the ledger, so nothing was run until an operator has looked."
        outcome = outcome_of(ports, "failed", by, why=why, reason="ledger_changed")
        finish(ports, started, Event.START_UNPROVEN, outcome)
        return None
    if found is Fence.FOREIGN:
        why = "Another start of this proposal stands on the ledger; this server ran nothing."
        await _unknown(ports, started, by, why)
        return LATER
    returned = await _applied(ports, started)
    if returned.outcome is Outcome.LOST:
        await _unknown(ports, started, by, returned.why)
        return LATER
    await _returned(ports, started, by, returned)
    return None


async def _applied(ports: Ports, started: Proposal) -> Returned:
    """Run the tool, this once; one that was taken away or stopped meanwhile did nothing."""
    if stop := ports.store.halted(started.repository):
        return Returned(Outcome.DID_NOTHING, why=f"It was stopped before the tool ran: {stop}")
    try:
        tool = ports.catalog.find(started.tool)
    except UnknownTool as error:
        return Returned(Outcome.DID_NOTHING, why=str(error))
    return await ports.runner.apply(tool, Order(started.plan.plan, started.id))


def patience(ports: Ports, started: Proposal) -> timedelta:
    """How long until the next try: twice as long each time, for each costs a dozen requests."""
    moves = ports.store.history(started.id)
    failed = sum(move["event"] == Event.NOT_STARTED for move in moves)
    return min(AGAIN * float(2 ** min(failed - 1, 10)), timedelta(minutes=10))


async def read_back(ports: Ports, proposal: Proposal) -> Proposal:
    """Look at the world for a proposal whose outcome is unknown; only a yes settles it here.

    "Not there" settles nothing: a paused process may still do it. A person can (`/resolve`).
    """
    checked = await _verify(ports, proposal, None)
    by: list[JSON] = (proposal.outcome or {}).get("approved_by", [])
    if settled := _seen_applied(ports, proposal, checked):
        return settled
    outcome = outcome_of(
        ports, "unknown", by, why=proposal.why or checked.why, checks=checked.checks
    )
    ports.store.note(proposal.id, outcome=outcome)
    ports.store.post(proposal.id, [Step("show"), Step("tell", key="unknown")], ports.now())
    return ports.store.proposal(proposal.id) or proposal


async def look_for(ports: Ports, unknown: Proposal) -> timedelta | None:
    """Look again whether what nobody knows of shows by now; how long until the next look.

    A paused process may finish late; only its success settles anything, and nobody is told twice.
    """
    checked = await _verify(ports, unknown, None)
    return None if _seen_applied(ports, unknown, checked) else LATER


def _seen_applied(ports: Ports, unknown: Proposal, checked: Checked) -> Proposal | None:
    """Settle an unknown outcome that the world shows to have happened, as was planned."""
    now = ports.store.proposal(unknown.id)
    if now is None or now.state is not State.UNKNOWN or checked.reading is not Reading.VERIFIED:
        return None
    by: list[JSON] = (now.outcome or {}).get("approved_by", [])
    outcome = outcome_of(ports, "applied", by, basis="verified", checks=checked.checks)
    return finish(ports, now, Event.SUCCEEDED, outcome)


async def _returned(
    ports: Ports, started: Proposal, by: list[JSON], returned: Returned
) -> Proposal:
    """Settle an apply that answered: its own no, or its yes as far as reading back bears it."""
    if returned.outcome is Outcome.DID_NOTHING:
        outcome = outcome_of(ports, "failed", by, why=returned.why)
        return finish(ports, started, Event.DID_NOTHING, outcome)
    checked = await _verify(ports, started, returned.result)
    if checked.reading is Reading.CONTRADICTED:
        why = "The tool reported success, but reading back shows otherwise. " + checked.why
        outcome = outcome_of(ports, "failed", by, why=why.strip(), checks=checked.checks)
        return finish(ports, started, Event.DID_NOTHING, outcome)
    outcome = outcome_of(
        ports,
        "applied",
        by,
        basis=checked.reading.value,
        why=checked.why,
        result=returned.result,
        checks=checked.checks,
    )
    return finish(ports, started, Event.SUCCEEDED, outcome)


async def _unknown(ports: Ports, started: Proposal, by: list[JSON], why: str) -> None:
    """Record that nobody knows what happened, then look; nothing is ever run again for it."""
    outcome = outcome_of(ports, "unknown", by, why=why)
    lost = ports.store.move(
        started.id, Event.LOST, ports.now(), why=why[:300], reason="unknown", outcome=outcome
    )
    await read_back(ports, lost)


async def _verify(ports: Ports, proposal: Proposal, result: JSON) -> Checked:
    try:
        tool = ports.catalog.find(proposal.tool)
    except UnknownTool:
        return Checked(Reading.UNVERIFIED, why="the tool is no longer declared")
    return await ports.runner.verify(tool, Order(proposal.plan.plan, proposal.id), result)


def finish(ports: Ports, proposal: Proposal, event: Event, outcome: dict[str, Any]) -> Proposal:
    """Commit an outcome and what must be told of it, together."""
    steps = told(proposal, outcome)
    changes = {"outcome": outcome, "why": str(outcome.get("why", ""))[:300]}
    if "reason" in outcome:
        changes["reason"] = outcome["reason"]
    with ports.store.tx():
        over = ports.store.move(proposal.id, event, ports.now(), steps, **changes)
        if over.undoes and over.state is State.APPLIED:
            ports.store.post(over.undoes, [Step("show")], ports.now())
    return over


def outcome_of(ports: Ports, outcome: str, by: list[JSON], **more: Any) -> dict[str, Any]:
    """Describe an outcome as the receipt keeps it; members without a value are left out."""
    kept = {name: value for name, value in more.items() if value not in (None, "", [])}
    return {"outcome": outcome, "at": stamp(ports.now()), "approved_by": by, **kept}
