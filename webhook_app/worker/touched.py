"""What somebody did to a page of ours, told by its delivery: it stays done when it is put back."""

from collections.abc import Sequence

from checks.reasons import Reason
from proposals.flow import Ports, reworded, taken_down, void
from proposals.lifecycle import ALIVE, FINAL
from proposals.plan import Proposal
from webhook_app.deliveries import Gone, Touch, Touched


def shaken(ports: Ports, proposal: Proposal, said: Touched) -> None:
    """Let a push, another base, a closing or other words have their effect on a proposal."""
    tied = proposal.target is not None
    match said.kind:
        case Touch.PUSHED:
            _pushed(ports, proposal, said)
        case Touch.RETARGETED if proposal.state in ALIVE:
            why = "the pull request was aimed at another branch"
            taken_down(ports, proposal, Reason.BASE_CHANGED, why, said.at)
        case Touch.RETARGETED:
            ports.store.note(proposal.id, moved=True)  # the merge will look where it would go
        case Touch.EDITED if not tied:
            void(ports, proposal, said.at)
        case Touch.CLOSED | Touch.MERGED:
            ports.store.solved(proposal.repository, "merge_refused", proposal.id)
            if tied or said.kind is Touch.CLOSED:
                why = "the pull request was closed"
                taken_down(ports, proposal, Reason.CLOSED, why, said.at)
        case _:
            pass


def lied(ports: Ports, found: Sequence[Proposal], said: Gone) -> None:
    """Put our announcement back when it is what somebody changed; one deleted ends its plan."""
    for proposal in found:
        if proposal.place is None or said.key != f"comment:{proposal.place.announced}":
            continue
        if said.deleted:
            why = "Placet's announcement on the pull request was deleted"
            taken_down(ports, proposal, Reason.CLOSED, why, said.at)
        else:
            reworded(ports, proposal, said.key, said.at)


def _pushed(ports: Ports, proposal: Proposal, said: Touched) -> None:
    """Remember that the head moved: a start that comes to nothing must not forget it either."""
    if proposal.state in FINAL:
        return
    contributors = proposal.contributors | {said.by.id}
    own = {} if proposal.target else {"contributors": contributors}
    ports.store.note(proposal.id, moved=True, **own)
