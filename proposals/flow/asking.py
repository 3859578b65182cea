"""Asking: an agent's tool call becomes a pinned plan, or a refusal that says what to do."""

import secrets
from dataclasses import dataclass

from checks.facts import Person
from proposals.canonical import JSON, NotCanonical, check
from proposals.lifecycle import ALIVE, Event, State
from proposals.plan import Aim, Proposal, Target
from proposals.store import Agent, Step
from proposals.tools import BadArguments, Tool, UnknownTool
from proposals.vault import SecretsLost
from proposals.words import quoted

from .aiming import aimed, same_page
from .announcing import at_once
from .confirming import confirmed
from .declared import current
from .ending import end
from .ground import DEFAULT_WAIT, Ports, Refusal
from .planning import plan_first
from .restraint import refuse_again, restrained, room, turned_down
from .undoing import possible, undo
from .veiling import asked, known, lost, same_arguments

_NONE_NEWER = (
    "**There is no newer proposal:** no new plan came, and nothing was changed. Why: {why}\n\n"
    "Comment `/replan` to try again.\n"
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One call as an agent makes it; `said` are its own words, `key` its idempotency key.

    `aim` is the page of somebody's that it is tied to; None: it gets a pull request of its own.
    `token`: that of its preview, to start a call of mode `confirm`; None: to see the preview.
    """

    agent: Agent
    tool: str
    arguments: JSON
    said: str = ""
    key: str | None = None
    parent: str | None = None
    aim: Aim | None = None
    token: str | None = None


async def propose(ports: Ports, ask: Ask) -> Proposal:
    """Plan a call twice and pin the plan, or give back the proposal that this call already has.

    The proposal comes back pinned, or ended when its dry run gave no plan; of mode `announce` it
    has been started as well, and with a token so has one of mode `confirm`. Raises Refusal.
    """
    tool = _tool(ports, ask.tool)
    if ask.token is not None and tool.mode != "confirm":
        message = f"No token starts {tool.name}: it is of mode {tool.mode}."
        raise Refusal("no_token_needed", message, "Leave confirm_token out.")
    if ask.aim and ask.key and (kept := ports.store.keyed(ask.agent.name, ask.key)):
        return _again(ports, kept, ask)  # its page may have moved since
    fresh = _proposal(ports, ask, tool, await aimed(ports, tool, ask.aim))
    if ask.token is not None:
        return await confirmed(ports, fresh, ask.token)
    kept = ports.store.same_call(fresh, ports.now())
    if kept and (kept := current(ports, _again(ports, kept, ask))):
        return await at_once(ports, kept)
    refuse_again(ports, fresh)
    if rejected := turned_down(ports, fresh):
        return rejected
    room(ports, fresh)
    _add(ports, fresh)
    return await at_once(ports, restrained(ports, await plan_first(ports, fresh, tool)))


def withdraw(
    ports: Ports, id_: str, agent: str, why: str = "", *, by_person: bool = False
) -> Proposal:
    """Take a proposal back on behalf of the agent that asked; Refusal when that is too late.

    An undo that a person asked for is theirs to take back.
    """
    proposal = ports.store.proposal(id_)
    if proposal is None or proposal.agent != agent:
        raise Refusal("not_found", f"There is no proposal {id_!r} of yours.", "Check the id.", 404)
    if proposal.state not in ALIVE:
        hint = "Nothing was done; look at its state." if proposal.reason else "Look at its state."
        raise Refusal("already_over", f"It is {proposal.state} already.", hint, 409)
    if proposal.asked_by and not by_person:
        hint = "A person asked for it; people end it with /reject on its page."
        raise Refusal("not_yours", "You did not ask for this undo.", hint, 409)
    words = why or f"The agent {agent} took it back."
    return end(ports, proposal, Event.WITHDRAWN, "withdrawn", words)


def revoke(ports: Ports, agent: str) -> list[Proposal]:
    """Shut an agent out and withdraw everything it has open, but no undo that a person wants."""
    ports.store.revoke_agent(agent, ports.now())
    why = f"The operator revoked the agent {agent}."
    mine = [p for p in ports.store.alive() if p.agent == agent and not p.asked_by]
    return [end(ports, p, Event.WITHDRAWN, "withdrawn", why) for p in mine if p.state in ALIVE]


async def replan(ports: Ports, old: Proposal) -> Proposal:
    """Ask the same call, or the same undo, again as a new proposal that is linked to the old one.

    One that still waits is superseded, once nothing but its plan can keep the new one from coming.
    Raises Refusal.
    """
    original = ports.store.proposal(old.undoes or "")
    fresh = await (_undo_again(ports, original, old) if original else _ask_again(ports, old))
    if fresh.state is State.ENDED and old.place is not None:
        text = _NONE_NEWER.format(why=quoted(fresh.why, 500))
        step = Step("reply", key=f"replan:{fresh.id}", text=text)
        ports.store.post(old.id, [step], ports.now())
    return fresh


async def _ask_again(ports: Ports, old: Proposal) -> Proposal:
    agent = ports.store.agent(old.agent)
    if agent is None or agent.revoked:
        raise Refusal("agent_revoked", "The agent may no longer ask.", "Ask the operator.", 409)
    try:
        arguments = known(ports, old).arguments
    except SecretsLost as error:
        raise lost(error) from None
    aim = old.target.aim if old.target else None
    ask = Ask(agent, old.tool, arguments, said=old.said, parent=old.id, aim=aim)
    return await propose(ports, ask)


async def _undo_again(ports: Ports, original: Proposal, old: Proposal) -> Proposal:
    possible(ports, original)
    _supersede(ports, old.id)
    person = Person(old.asked_by["id"], old.asked_by["login"]) if old.asked_by else None
    return await undo(ports, original, said=old.said, asked_by=person, parent=old.id)


def _add(ports: Ports, fresh: Proposal) -> None:
    """Keep a new proposal, and end the one whose place it takes, in one transaction."""
    with ports.store.tx():
        _supersede(ports, fresh.parent or "")
        ports.store.add(fresh, ports.now())


def _supersede(ports: Ports, id_: str) -> None:
    """End what still waits; Refusal when it is being carried out meanwhile."""
    old = ports.store.proposal(id_)
    if old and old.state is State.STARTED:
        hint = "Look at its check; what comes of it will stand there."
        raise Refusal("started", f"{old.id} was started meanwhile.", hint, 409)
    if old and old.state in ALIVE:
        end(ports, old, Event.SUPERSEDED, "superseded", "A new plan was asked for.")


def same_call(ports: Ports, kept: Proposal, ask: Ask) -> bool:
    """Whether a proposal was asked for by the very same call of its tool, tied to the same page."""
    return same_arguments(ports, kept, ask.arguments) and same_page(kept, ask.aim)


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


def _proposal(ports: Ports, ask: Ask, tool: Tool, target: Target | None) -> Proposal:
    try:
        arguments = tool.validate(check(ask.arguments))
    except BadArguments as error:
        raise Refusal(error.code, str(error), error.hint) from None
    except NotCanonical as error:
        raise Refusal(error.code, str(error), "Send it in a form that JSON keeps exact.") from None
    now = ports.now()
    fresh = Proposal(
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
        mode="approve" if ask.parent else tool.mode,  # what a person asks for anew, people decide
        said=ask.said,
        key=ask.key,
        parent=ask.parent,
        target=target,
    )
    try:
        return asked(ports, fresh, tool, ports.store.proposal(ask.parent or ""))
    except SecretsLost as error:
        raise lost(error) from None


def _again(ports: Ports, kept: Proposal, ask: Ask) -> Proposal:
    """The proposal this call already has; the same key with another call is a conflict."""
    if kept.tool == ask.tool and same_call(ports, kept, ask):
        return kept
    raise Refusal(
        "key_conflict",
        f"The idempotency key was used for another call (proposal {kept.id}).",
        "Use a new key for a new call, or send exactly the same call again.",
        409,
    )
