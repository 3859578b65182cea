"""Opening: a pinned plan is shown where people can decide about it."""

from checks.facts import NOBODY
from checks.policy import PolicyError, Rule, load
from proposals.lifecycle import Event, State
from proposals.plan import Proposal

from .aiming import gone
from .ending import end
from .ground import Ports
from .statements import plan_bytes
from .undoing import announce


async def open_(ports: Ports, proposal: Proposal) -> Proposal:
    """Publish a pinned proposal; safe to repeat after any failure, it makes no twin.

    Raises ForgeError: the proposal then still waits as pinned, and nothing is lost.
    """
    if proposal.policy is None:
        proposal = await _with_policy(ports, proposal)
    if (over := await gone(ports, proposal)) is not None:
        return _voided(ports, proposal, *over)
    place = await ports.forge.publish(proposal, plan_bytes(proposal, ports.signer))
    now = ports.store.proposal(proposal.id)
    if now is None or now.state is not State.PINNED:
        return ports.store.note(proposal.id, place=place, valid_from=place.opened)
    with ports.store.tx():
        opened = ports.store.move(
            proposal.id, Event.PUBLISHED, ports.now(), place=place, valid_from=place.opened
        )
        announce(ports, opened)
    return opened


def _voided(ports: Ports, proposal: Proposal, reason: str, why: str) -> Proposal:
    """End what can no longer be shown where it was meant to be, unless it is over anyway."""
    now = ports.store.proposal(proposal.id) or proposal
    return end(ports, now, Event.VOIDED, reason, why) if now.state is State.PINNED else now


async def _with_policy(ports: Ports, proposal: Proposal) -> Proposal:
    """Pin the policy as it is at propose, and whom it means; its rule says how long this waits.

    A missing or unusable policy is pinned as such: nobody can approve, and the page says so.
    """
    file = await ports.forge.policy(proposal.repository)
    changes: dict[str, object] = {"policy": file.text or "", "policy_blob": file.blob}
    try:
        hit = load(file.text or "").rule_for(proposal.tool)
    except PolicyError:
        hit = None
    if hit:
        changes["expires"] = proposal.created + hit[1].expires
        changes["people"] = await _people(ports, proposal, hit[1])
    return ports.store.note(proposal.id, **changes)


async def _people(ports: Ports, proposal: Proposal, rule: Rule) -> dict[str, int]:
    """The ids of everybody whom a rule names: a login can change hands, an id cannot."""
    logins = sorted(rule.users())
    if not logins:
        return {}
    found = await ports.forge.resolve(proposal.repository, logins)
    return {login: found.get(login) or NOBODY for login in logins}
