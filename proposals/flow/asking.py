"""Asking: an agent's tool call becomes a pinned plan, or a refusal that says what to do."""

import secrets
from dataclasses import dataclass

from proposals.canonical import JSON, NotCanonical, check, same
from proposals.lifecycle import ALIVE, Event, State
from proposals.plan import Proposal
from proposals.ports import PlanFailed
from proposals.store import Agent
from proposals.tools import BadArguments, Tool, UnknownTool, title

from .ending import end
from .ground import DEFAULT_WAIT, Ports, Refusal


@dataclass(frozen=True, slots=True)
class Ask:
    """One call as an agent makes it; `said` are its own words, `key` its idempotency key."""

    agent: Agent
    tool: str
    arguments: JSON
    said: str = ""
    key: str | None = None
    parent: str | None = None


async def propose(ports: Ports, ask: Ask) -> Proposal:
    """Plan a call twice and pin the plan, or give back the proposal that this call already has.

    The proposal comes back pinned, or ended when its dry run gave no plan. Raises Refusal.
    """
    tool = _tool(ports, ask.tool)
    fresh = _proposal(ports, ask, tool)
    kept = ports.store.add(fresh, ports.now())
    if kept.id != fresh.id:
        return _again(kept, ask)
    try:
        pinned = await ports.runner.plan_twice(tool, fresh.arguments)
    except PlanFailed as error:
        return _planless(ports, fresh, error)
    if _state(ports, fresh) is not State.PLANNING:
        return _now(ports, fresh)
    summary = title(tool, pinned.plan)
    return ports.store.move(fresh.id, Event.PLANNED, ports.now(), pinned=pinned, summary=summary)


def withdraw(ports: Ports, id_: str, agent: str, why: str = "") -> Proposal:
    """Take a proposal back on behalf of the agent that asked; Refusal when that is too late."""
    proposal = ports.store.proposal(id_)
    if proposal is None or proposal.agent != agent:
        raise Refusal("not_found", f"There is no proposal {id_!r} of yours.", "Check the id.", 404)
    if proposal.state not in ALIVE:
        hint = "Nothing was done; look at its state." if proposal.reason else "Look at its state."
        raise Refusal("already_over", f"It is {proposal.state} already.", hint, 409)
    words = why or f"The agent {agent} took it back."
    return end(ports, proposal, Event.WITHDRAWN, "withdrawn", words)


def revoke(ports: Ports, agent: str) -> list[Proposal]:
    """Shut an agent out and withdraw everything it has open."""
    ports.store.revoke_agent(agent, ports.now())
    why = f"The operator revoked the agent {agent}."
    alive = [p for p in ports.store.alive() if p.agent == agent and p.state in ALIVE]
    return [end(ports, p, Event.WITHDRAWN, "withdrawn", why) for p in alive]


async def replan(ports: Ports, old: Proposal) -> Proposal:
    """Ask the same call again as a new proposal that is linked to the old one.

    A proposal that still waits is superseded first. Raises Refusal when the agent is gone.
    """
    agent = ports.store.agent(old.agent)
    if agent is None or agent.revoked:
        raise Refusal("agent_revoked", "The agent may no longer ask.", "Ask the operator.", 409)
    if old.state in ALIVE:
        end(ports, old, Event.SUPERSEDED, "superseded", "A new plan was asked for.")
    ask = Ask(agent, old.tool, old.arguments, said=old.said, parent=old.id)
    return await propose(ports, ask)


def _tool(ports: Ports, name: str) -> Tool:
    try:
        tool = ports.catalog.find(name)
    except UnknownTool as error:
        hint = "Undeclared tools are denied; an operator can declare it in placet.toml."
        raise Refusal("unknown_tool", str(error), hint) from None
    if tool.effect == "read":
        hint = "Reads need no approval and have no proposal."
        raise Refusal("not_gated", f"{name} only reads.", hint)
    return tool


def _proposal(ports: Ports, ask: Ask, tool: Tool) -> Proposal:
    try:
        arguments = tool.validate(check(ask.arguments))
    except BadArguments as error:
        raise Refusal(error.code, str(error), error.hint) from None
    except NotCanonical as error:
        raise Refusal(error.code, str(error), "Send it in a form that JSON keeps exact.") from None
    now = ports.now()
    return Proposal(
        id="p_" + secrets.token_hex(8),
        agent=ask.agent.name,
        tool=tool.name,
        arguments=arguments,
        state=State.PLANNING,
        repository=ports.repositories[tool.repository],
        identities=ask.agent.identities,
        created=now,
        expires=now + DEFAULT_WAIT,
        salt=secrets.token_hex(16),
        said=ask.said,
        key=ask.key,
        parent=ask.parent,
    )


def _again(kept: Proposal, ask: Ask) -> Proposal:
    """The proposal this call already has; the same key with another call is a conflict."""
    if kept.tool == ask.tool and same(kept.arguments, ask.arguments):
        return kept
    raise Refusal(
        "key_conflict",
        f"The idempotency key was used for another call (proposal {kept.id}).",
        "Use a new key for a new call, or send exactly the same call again.",
        409,
    )


def _planless(ports: Ports, proposal: Proposal, error: PlanFailed) -> Proposal:
    why = f"{error} {error.hint}".strip()
    if _state(ports, proposal) is not State.PLANNING:
        return _now(ports, proposal)
    return end(ports, proposal, Event.PLAN_FAILED, error.code, why)


def _state(ports: Ports, proposal: Proposal) -> State:
    return _now(ports, proposal).state


def _now(ports: Ports, proposal: Proposal) -> Proposal:
    return ports.store.proposal(proposal.id) or proposal
