"""Opening: a pinned plan is shown where people can decide about it."""

from checks.policy import PolicyError, load
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.ports import PolicyFile

from .ground import Ports
from .statements import plan_bytes


async def open_(ports: Ports, proposal: Proposal) -> Proposal:
    """Publish a pinned proposal; safe to repeat after any failure, it makes no twin.

    Raises ForgeError: the proposal then still waits as pinned, and nothing is lost.
    """
    if proposal.policy is None:
        proposal = _with_policy(ports, proposal, await ports.forge.policy(proposal.repository))
    place = await ports.forge.publish(proposal, plan_bytes(proposal, ports.signer))
    now = ports.store.proposal(proposal.id)
    if now is None or now.state is not State.PINNED:
        return ports.store.note(proposal.id, place=place, valid_from=place.opened)
    return ports.store.move(
        proposal.id, Event.PUBLISHED, ports.now(), place=place, valid_from=place.opened
    )


def _with_policy(ports: Ports, proposal: Proposal, file: PolicyFile) -> Proposal:
    """Pin the policy as it is at propose; its rule says how long the proposal waits.

    A missing or unusable policy is pinned as such: nobody can approve, and the page says so.
    """
    changes: dict[str, object] = {"policy": file.text or "", "policy_blob": file.blob}
    try:
        hit = load(file.text or "").rule_for(proposal.tool)
    except PolicyError:
        hit = None
    if hit:
        changes["expires"] = proposal.created + hit[1].expires
    return ports.store.note(proposal.id, **changes)
