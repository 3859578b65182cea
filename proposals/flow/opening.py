"""Opening: a pinned plan is shown where people can decide about it."""

from collections.abc import Mapping

from checks.facts import NOBODY
from checks.policy import Rule
from checks.remembered import rule_in
from proposals.lifecycle import Event, State
from proposals.plan import Place, Proposal

from .aiming import gone
from .ending import end, told
from .ground import Ports
from .later import warn
from .restraint import earlier
from .statements import plan_bytes
from .undoing import announce

SHOWN = 5
"""How many of those the agent works for are named on the page; each costs a request an hour."""


async def open_(ports: Ports, proposal: Proposal) -> Proposal:
    """Publish a pinned proposal in its turn; safe to repeat after any failure, it makes no twin.

    Raises ForgeError: the proposal then still waits as pinned, and nothing is lost. One that ended
    while it waited for its turn comes back as it is.
    """
    async with ports.lines.opening(proposal.repository):
        known = ports.store.proposal(proposal.id) or proposal
        return await _opened(ports, known) if known.state is State.PINNED else known


async def _opened(ports: Ports, proposal: Proposal) -> Proposal:
    if proposal.policy is None:
        proposal = await _with_policy(ports, proposal)
    if (over := await gone(ports, proposal)) is not None:
        return _voided(ports, proposal, *over)
    now = ports.store.proposal(proposal.id) or proposal
    if now.state is not State.PINNED:
        return now
    place = await ports.forge.publish(proposal, plan_bytes(proposal, ports.signer))
    with ports.store.tx():
        now = ports.store.proposal(proposal.id) or proposal
        if now.state is not State.PINNED:
            return _over(ports, now, place)
        opened = ports.store.move(
            proposal.id, Event.PUBLISHED, ports.now(), place=place, valid_from=place.opened
        )
        announce(ports, opened)
        if begun := earlier(ports, opened):  # its page says so, unless it began meanwhile
            warn(ports, opened, begun)
    return opened


def _over(ports: Ports, proposal: Proposal, place: Place) -> Proposal:
    """Tell on a page that was just made how its proposal ended meanwhile; that closes it."""
    shown = ports.store.note(proposal.id, place=place, valid_from=place.opened)
    if shown.outcome:
        ports.store.post(shown.id, told(ports.store, shown, dict(shown.outcome)), ports.now())
    return shown


def _voided(ports: Ports, proposal: Proposal, reason: str, why: str) -> Proposal:
    """End what can no longer be shown where it was meant to be, unless it is over anyway."""
    now = ports.store.proposal(proposal.id) or proposal
    return end(ports, now, Event.VOIDED, reason, why) if now.state is State.PINNED else now


async def _with_policy(ports: Ports, proposal: Proposal) -> Proposal:
    """Pin the policy as it is at propose, and whom it means; its rule says how long this waits.

    A missing or unusable policy is pinned as such: nobody can approve, and the page says so.
    """
    file = await ports.forge.policy(proposal.repository)
    changes: dict[str, object] = {
        "policy": file.text or "",
        "policy_blob": file.blob,
        "policy_guarded": file.guarded,
        "policy_weakness": file.weakness,
    }
    rule = rule_in(file.text or "", proposal.tool)
    changes["behind"] = await ports.forge.called(
        proposal.repository, sorted(proposal.identities)[:SHOWN]
    )
    if rule:
        changes["expires"] = proposal.created + rule.expires
        changes["people"] = people = await _people(ports, proposal, rule)
        changes["candidates"] = await _candidates(ports, proposal, rule, people)
    if begun := earlier(ports, proposal):
        url = begun.place.url if begun.place else None
        changes["unsettled"] = {"proposal": begun.id, "url": url}
    return ports.store.note(proposal.id, **changes)


async def _people(ports: Ports, proposal: Proposal, rule: Rule) -> dict[str, int]:
    """The ids of everybody whom a rule names: a login can change hands, an id cannot."""
    logins = sorted(rule.logins())
    if not logins:
        return {}
    found = await ports.forge.resolve(proposal.repository, logins)
    return {login: found.get(login) or NOBODY for login in logins}


async def _candidates(
    ports: Ports, proposal: Proposal, rule: Rule, people: Mapping[str, int]
) -> dict[str, int]:
    """Those whom the rule names or who are in its teams, but for whoever is excluded anyway."""
    teams = sorted(rule.teams())
    members = await ports.forge.members(proposal.repository, teams) if teams else {}
    out = {NOBODY, *proposal.identities, *proposal.askers, *ports.machines}
    named = [(login, people[login]) for login in sorted(rule.users())]
    by_id = {id_: login for login, id_ in (*named, *members.items())}
    return {login: id_ for id_, login in by_id.items() if id_ not in out}
