"""Undoing: what was applied is taken back by a new proposal, which needs approvals of its own."""

import secrets

from checks.facts import Person
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.store import Step
from proposals.tools import Tool, UnknownTool
from proposals.vault import SecretsLost

from .ground import DEFAULT_WAIT, Ports, Refusal
from .planning import plan_first
from .veiling import asked, known, lost, things

# What the dry run of an undo may answer when the world leaves nothing to plan.
NO_UNDO = frozenset({"already_undone", "undo_conflict", "irreversible", "nothing_to_do"})


async def undo(
    ports: Ports,
    original: Proposal,
    *,
    said: str = "",
    asked_by: Person | None = None,
    parent: str | None = None,
) -> Proposal:
    """Plan to take back what a proposal did; the undo that lives or is applied is given back.

    It comes back pinned, or ended with one of NO_UNDO or a failed plan's code. `said` are the
    agent's words, `asked_by` the person who asked instead of it. Raises Refusal.
    """
    if original.state is not State.APPLIED:
        raise _not_applied(original)
    if kept := ports.store.undo_of(original.id):
        return kept
    tool = possible(ports, original)
    try:
        fresh = _proposal(ports, original, tool, said, asked_by, parent)
    except SecretsLost as error:
        raise lost(error) from None
    kept = ports.store.add(fresh, ports.now())
    return kept if kept.id != fresh.id else await plan_first(ports, fresh, tool)


def possible(ports: Ports, original: Proposal) -> Tool:
    """The tool that could take back what was applied; Refusal says why it cannot be now."""
    tool = _undoable(ports, original)
    try:
        known(ports, original)
    except SecretsLost as error:
        raise lost(error) from None
    _refuse_older(ports, original)
    return tool


def announce(ports: Ports, opened: Proposal) -> None:
    """Say on the page of what an undo takes back where people decide about the undo."""
    if opened.undoes is None:
        return
    text = (
        f"To undo this, there is a proposal of its own: {opened.at.url}\n\n"
        "Nothing is undone until the people who decide about it approve it there.\n"
    )
    step = Step("reply", key=f"undo:{opened.id}", text=text)
    ports.store.post(opened.undoes, [step], ports.now())


def _not_applied(original: Proposal) -> Refusal:
    hint = "Only what was applied can be undone."
    if original.state is State.UNKNOWN:
        hint = "A person must find out first what it did, and say so with /resolve."
    message = f"It is {original.state}, so there is nothing to undo."
    if original.contradicted:
        message = "It went otherwise than planned, so nobody knows what an undo would have to do."
        hint = "Look at the real thing, and change what is wrong by a new call."
    return Refusal("nothing_to_undo", message, hint, 409)


def _undoable(ports: Ports, original: Proposal) -> Tool:
    if original.undoes:
        hint = "Ask for the first call again; that is a new proposal."
        raise Refusal("irreversible", "An undo is not undone itself.", hint, 409)
    try:
        tool = ports.catalog.find(original.tool)
    except UnknownTool as error:
        raise Refusal(error.code, str(error), error.hint, 409) from None
    if not tool.undo:
        message = f"The tool {tool.name} cannot take back what it did."
        raise Refusal("irreversible", message, "Change it by hand or by another call.", 409)
    return tool


def _refuse_older(ports: Ports, original: Proposal) -> None:
    """Refuse to reach under a later change of the same thing: the newest is undone first."""
    touched = things(ports, original)
    for later in ports.store.done_since(original):
        if touched & things(ports, later):
            where = f" ({later.place.url})" if later.place else ""
            message = f"Proposal {later.id}{where} changed the same thing later."
            hint = f"Undo {later.id} first."
            if later.state is not State.APPLIED:
                message = f"Proposal {later.id}{where} was started on the same thing later."
                hint = "What came of it must be known first."
            raise Refusal("undo_newest_first", message, hint, 409)


def _proposal(
    ports: Ports,
    original: Proposal,
    tool: Tool,
    said: str,
    asked_by: Person | None,
    parent: str | None,
) -> Proposal:
    """The undo, as not yet planned: nobody behind the original can approve it."""
    agent, now = ports.store.agent(original.agent), ports.now()
    fresh = Proposal(
        id="p_" + secrets.token_hex(8),
        agent=original.agent,
        tool=original.tool,
        arguments=known(ports, original).arguments,
        state=State.PLANNING,
        repository=ports.repositories[tool.repository],
        identities=original.identities | (agent.identities if agent else frozenset()),
        created=now,
        expires=now + DEFAULT_WAIT,
        salt=secrets.token_hex(16),
        said=said,
        parent=parent,
        undoes=original.id,
        asked_by={"id": asked_by.id, "login": asked_by.login} if asked_by else None,
    )
    return asked(ports, fresh, tool, original)
