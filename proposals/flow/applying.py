"""Applying: fence, apply once, read back, and say honestly what came of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from checks.verdict import Verdict
from proposals.backoff import doubled
from proposals.canonical import JSON
from proposals.evidence import stamp
from proposals.lifecycle import FINAL, Event, State
from proposals.plan import Proposal
from proposals.ports import (
    Checked,
    Fence,
    Outcome,
    Reading,
    Returned,
)
from proposals.store import Problem, Step
from proposals.tools import UnknownTool
from proposals.vault import SecretsLost

from .ending import announced, told
from .ground import Ports
from .later import contradicted, not_known, undone, unsettled
from .scribing import fence
from .statements import approvals
from .veiling import known, seen, veiled

AGAIN = timedelta(seconds=5)
LATER = timedelta(minutes=5)
RAREST = timedelta(days=1)
GIVEN_UP = timedelta(days=7)
UNRESOLVED = "outcome_unknown"
TELL_UNKNOWN = Step("tell", key="unknown")
NOT_STARTED = "not_started"


async def run(
    ports: Ports, started: Proposal, verdict: Verdict, start: dict[str, JSON]
) -> timedelta | None:
    """Write start.json and, only when it is ours, apply. The started proposal has one chance.

    `start` is what its statement says.
    """
    by = approvals(verdict)
    found = await fence(ports, started, start, verdict.valid_until)
    if found is Fence.ABSENT:
        why = "the start was not written to the ledger, or too late, so nothing was run"
        shown = [Step("show")]
        ports.store.move(started.id, Event.NOT_STARTED, ports.now(), shown, why=why, nonce=None)
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
        await _unknown(ports, started, by, veiled(ports, started, returned).why)
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
    identity = tool.undo_identity() if started.undoes else tool.identity()
    if identity != started.plan.plan["tool"]:
        why = "Its server or its operator changed the tool at the last moment; it was not run."
        return Returned(Outcome.DID_NOTHING, why=why)
    try:
        order = known(ports, started).order(started.id)
    except SecretsLost as error:
        return Returned(Outcome.DID_NOTHING, why=str(error))
    return await ports.runner.apply(tool, order)


def patience(ports: Ports, started: Proposal) -> timedelta:
    """How long until the next try: twice as long each time, for each costs a dozen requests."""
    moves = ports.store.history(started.id)
    failed = sum(move["event"] == Event.NOT_STARTED for move in moves)
    return doubled(AGAIN, failed, timedelta(minutes=10))


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
    with ports.store.tx():
        now = ports.store.proposal(proposal.id) or proposal
        if now.state is not State.UNKNOWN:
            return now  # a person settled it while the tool looked
        ports.store.note(proposal.id, outcome=outcome)
        told = [Step("show"), TELL_UNKNOWN]
        steps = [*not_known(ports, proposal, outcome), *announced(proposal)[:1], *told]
        ports.store.post(proposal.id, steps, ports.now())
        unsettled(ports, proposal)
    return ports.store.proposal(proposal.id) or proposal


async def look_for(ports: Ports, unknown: Proposal) -> timedelta | None:
    """Look again whether what nobody knows of shows by now; how long until the next look.

    A paused process may finish late; only its success settles anything, and nobody is told twice.
    It is looked at ever more rarely, and no longer after a week: then people are told so.
    """
    checked = await _verify(ports, unknown, None)
    if _seen_applied(ports, unknown, checked):
        return None
    moves = ports.store.history(unknown.id)
    since = max(move["at"] for move in moves if move["target"] == State.UNKNOWN)
    age = ports.now() - datetime.fromtimestamp(since / 1000, UTC)
    if age < GIVEN_UP:
        return min(max(age, LATER), RAREST)
    stop_looking(ports, unknown)
    return None


def stop_looking(ports: Ports, unknown: Proposal) -> None:
    """Tell people, once, that only they can settle it from now on, unless somebody just has."""
    digest = unknown.plan.digest.removeprefix("sha256:")[:12]
    text = (
        f"Nobody knows what came of this, and after {GIVEN_UP.days} days Placet looks no longer by "
        "itself.\n\nLook whether it was done, then comment "
        f"`/resolve {digest} applied <why>` or `/resolve {digest} failed <why>`.\n"
    )
    why = f"its outcome is unknown since {GIVEN_UP.days} days; a person must look, and resolve it"
    found = Problem(unknown.repository, UNRESOLVED, why, proposal=unknown.id)
    with ports.store.tx():
        now = ports.store.proposal(unknown.id)
        if now is None or now.state is not State.UNKNOWN:
            return
        ports.store.trouble(found, ports.now())
        step = Step("reply", key="unknown:over", text=text)
        ports.store.post(unknown.id, [step], ports.now())


def _seen_applied(ports: Ports, unknown: Proposal, checked: Checked) -> Proposal | None:
    """Settle an unknown outcome that the world shows to have happened, as was planned.

    When a person settled it while the tool looked, what it saw is signed beside that.
    """
    now = ports.store.proposal(unknown.id)
    if now is None or checked.reading is not Reading.VERIFIED:
        return None
    by: list[JSON] = (now.outcome or {}).get("approved_by", [])
    outcome = outcome_of(
        ports, "applied", by, basis="verified", checks=checked.checks, after=checked.after or None
    )
    return finish(ports, now, Event.SUCCEEDED, outcome)


async def _returned(
    ports: Ports, started: Proposal, by: list[JSON], returned: Returned
) -> Proposal:
    """Settle an apply that answered: its own no, or its yes as far as reading back bears it."""
    kept = veiled(ports, started, returned)
    if returned.outcome is Outcome.DID_NOTHING:
        outcome = outcome_of(ports, "failed", by, why=kept.why)
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
        result=kept.result,
        checks=checked.checks,
        after=checked.after or None,
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
    try:
        order = known(ports, proposal).order(proposal.id)
    except SecretsLost as error:
        return Checked(Reading.UNVERIFIED, why=str(error))
    return seen(ports, proposal, await ports.runner.verify(tool, order, result))


def finish(ports: Ports, proposal: Proposal, event: Event, outcome: dict[str, Any]) -> Proposal:
    """Commit an outcome and what must be told of it, together."""
    changes = {"outcome": outcome, "why": str(outcome.get("why", ""))[:300]}
    if "reason" in outcome:
        changes["reason"] = outcome["reason"]
    with ports.store.tx():
        now = ports.store.proposal(proposal.id) or proposal
        if now.state in FINAL and event in (Event.SUCCEEDED, Event.DID_NOTHING):
            contradicted(ports, now, outcome)
            return now
        steps = told(ports.store, proposal, outcome)
        if steps and steps[0].key != "end":
            changes["outcome"] = {**outcome, "receipt": steps[0].key}
        over = ports.store.move(proposal.id, event, ports.now(), steps, **changes)
        ports.store.solved(over.repository, UNRESOLVED, over.id)
        if over.undoes:
            undone(ports, over)
    return over


def outcome_of(ports: Ports, outcome: str, by: list[JSON], **more: Any) -> dict[str, Any]:
    """Describe an outcome as the receipt keeps it; members without a value are left out."""
    kept = {name: value for name, value in more.items() if value not in (None, "", [])}
    return {"outcome": outcome, "at": stamp(ports.now()), "approved_by": by, **kept}
