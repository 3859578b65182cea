"""Waking: what waits for something that ends without a word about it is looked at again.

A freeze ends at a moment that is known, a policy is mended by a push. Whatever else ends a wait is
a delivery about the proposal's own page.
"""

from collections.abc import Iterator

from checks.reasons import Finding, Reason
from proposals.lifecycle import State
from proposals.plan import Proposal

from .ground import Ports
from .holding import VERDICT

_OF_THE_POLICY = frozenset(
    {Reason.FROZEN, Reason.NO_RULE, Reason.REQUESTER_NOT_ALLOWED, Reason.POLICY_UNREADABLE}
)


def thawed(ports: Ports) -> list[Proposal]:
    """What waits for the end of a freeze that is over by now; part of the sweep."""
    now = ports.now()
    ends = [(p, [f.until for f in found if f.until]) for p, found in _waiting(ports)]
    return [p for p, until in ends if until and max(until) <= now]


def mended(ports: Ports, repository: int) -> list[Proposal]:
    """What the policy of a repository stood in the way of, as it was when last looked at.

    What the policy at propose forbids, no push can mend.
    """
    return [
        p
        for p, found in _waiting(ports)
        if p.repository == repository
        and any(f.reason in _OF_THE_POLICY and f.policy == "current" for f in found)
    ]


def _waiting(ports: Ports) -> Iterator[tuple[Proposal, tuple[Finding, ...]]]:
    """What people are asked about, with all that stood in its way when it was last judged."""
    for proposal in ports.store.alive():
        if proposal.state is State.OPEN and proposal.verdict:
            yield proposal, VERDICT.validate_python(proposal.verdict).findings
