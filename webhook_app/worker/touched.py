"""What somebody did to a page of ours, told by its delivery: it stays done when it is put back."""

from collections.abc import Sequence

from checks.reasons import Reason
from proposals.flow import Ports, edited, reworded, taken_down
from proposals.lifecycle import ALIVE, FINAL
from proposals.plan import Proposal
from proposals.store import Problem, Step
from webhook_app.deliveries import Gone, Touch, Touched
from webhook_app.github import OUTCOME, marked

MOST = 3
"""How often words of ours are put back: two programs could go on for ever."""
EDITED = "page_edited"


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
            ports.store.note(proposal.id, moved=True)  # should it not have run, nothing counts
        case Touch.EDITED if not tied:
            edited(ports, proposal, said.at)
            painted(ports, proposal)
        case Touch.CLOSED | Touch.MERGED:
            ports.store.solved(proposal.repository, "merge_refused", proposal.id)
            if tied or said.kind is Touch.CLOSED:
                why = "the pull request was closed"
                taken_down(ports, proposal, Reason.CLOSED, why, said.at)
        case _:
            pass


def painted(ports: Ports, proposal: Proposal) -> None:
    """Put the words of a page back on which nothing is decided any more; thrice, then it is left.

    While it is decided about, whoever judges restores it.
    """
    if proposal.state in ALIVE:
        return
    tries = (Step("restore", key=f"over:{n}") for n in range(MOST))
    fresh = next((step for step in tries if not ports.store.posted(proposal.id, step)), None)
    if fresh:
        ports.store.post(proposal.id, [fresh], ports.now())
        return
    why = (
        f"the title or text of {proposal.at.url}, which is over, is edited again and again; its "
        f"words there may be false. What was done stands in its check, and signed on the ledger"
    )
    found = Problem(proposal.repository, EDITED, why, proposal=proposal.id)
    ports.store.trouble(found, ports.now())


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


def garbled(ports: Ports, found: Sequence[Proposal], said: Gone) -> None:
    """Put an answer of ours back that somebody edited, as it stands in the store; thrice at most.

    Nobody decides by it: what stands in the check does. So nothing that was said becomes void.
    """
    named = marked(said.before)
    proposal = next((p for p in found if named and p.id == named[0]), None)
    if named is None or proposal is None or said.deleted:
        return
    if named[1] != OUTCOME and ports.store.answer(proposal.id, named[1]) is None:
        return
    _, _, comment = said.key.partition(":")
    tries = (Step("reword", key=f"{comment}:{n}", text=named[1]) for n in range(MOST))
    fresh = next((step for step in tries if not ports.store.posted(proposal.id, step)), None)
    if fresh:
        ports.store.post(proposal.id, [fresh], ports.now())


def _pushed(ports: Ports, proposal: Proposal, said: Touched) -> None:
    """Remember that the head moved: a start that comes to nothing must not forget it either."""
    if proposal.state in FINAL:
        return
    contributors = proposal.contributors | {said.by.id}
    own = {} if proposal.target else {"contributors": contributors}
    ports.store.note(proposal.id, moved=True, **own)
