"""Planning: the dry run of a call, or of taking one back; twice at first, and again at the end."""

from proposals.confirm import LIVES
from proposals.lifecycle import Event, State
from proposals.plan import Pinned, Proposal
from proposals.ports import Done, PlanFailed
from proposals.tools import BadArguments, Tool, UnknownTool, title, undo_title

from .ending import end
from .ground import Ports
from .veiling import done, known, pinned


async def plan_first(ports: Ports, fresh: Proposal, tool: Tool) -> Proposal:
    """Plan a proposal that was just kept: it comes back pinned, or ended when there is no plan.

    What ended it meanwhile stands.
    """
    ports.lines.planning.add(fresh.id)
    try:
        return await _planned(ports, fresh, tool)
    finally:
        ports.lines.planning.discard(fresh.id)


async def _planned(ports: Ports, fresh: Proposal, tool: Tool) -> Proposal:
    try:
        own = known(ports, fresh)
        with own.covering():
            runner = ports.runner.under(own.veil)
            plan = await runner.plan_twice(tool, own.arguments, _done(ports, fresh))
    except (PlanFailed, BadArguments) as error:
        return _planless(ports, fresh, error)
    now = _now(ports, fresh)
    if now.state is not State.PLANNING:
        return now
    original = ports.store.proposal(fresh.undoes or "")
    summary = undo_title(original.summary) if original else title(tool, plan.plan)
    changes = pinned(ports, fresh, plan) | {"summary": summary}
    if not fresh.asks:
        changes["expires"] = ports.now() + LIVES
    return ports.store.move(fresh.id, Event.PLANNED, ports.now(), **changes)


async def plan_again(ports: Ports, proposal: Proposal) -> Pinned:
    """The plan of a proposal as it would be now; PlanFailed when there is none."""
    try:
        tool = ports.catalog.find(proposal.tool)
    except UnknownTool as error:
        raise PlanFailed("tool_changed", str(error)) from None
    own = known(ports, proposal)
    with own.covering():
        runner = ports.runner.under(own.veil)
        return await runner.plan_again(tool, own.arguments, _done(ports, proposal))


def _done(ports: Ports, proposal: Proposal) -> Done | None:
    """What an undo takes back, as it was applied; None for a call."""
    original = ports.store.proposal(proposal.undoes) if proposal.undoes else None
    return done(ports, original) if original else None


def _planless(ports: Ports, proposal: Proposal, error: PlanFailed | BadArguments) -> Proposal:
    now = _now(ports, proposal)
    if now.state is not State.PLANNING:
        return now
    why = f"{error} {error.hint}".strip()
    return end(ports, proposal, Event.PLAN_FAILED, error.code, why)


def _now(ports: Ports, proposal: Proposal) -> Proposal:
    return ports.store.proposal(proposal.id) or proposal
