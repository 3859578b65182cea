"""Later facts: what became known of a proposal after its first receipt is signed beside it."""

from typing import Any

from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.store import Problem, Step

from .ending import receipt
from .ground import Ports
from .restraint import alike
from .shaking import void


def not_known(ports: Ports, unknown: Proposal, outcome: dict[str, Any]) -> list[Step]:
    """The receipt that nobody knows the outcome, once, for a start of our own on the ledger.

    Where another server's start stands, what came of it is that one's to say.
    """
    start = ports.store.statement(unknown.id, "start")
    first = ports.store.next_end(unknown.id) == "end"
    return [receipt(ports.store, unknown, outcome)] if first and start and start.written else []


def unsettled(ports: Ports, unknown: Proposal) -> None:
    """Tell those who decide about the same call, and show on what it was to undo, that it began."""
    for waiting in ports.store.waiting_beside(unknown):
        if alike(ports, waiting, unknown):
            warn(ports, waiting, unknown)
    if unknown.undoes:
        ports.store.post(unknown.undoes, [Step("show")], ports.now())


def warn(ports: Ports, waiting: Proposal, unknown: Proposal) -> None:
    """Say on a page, once, that `unknown` may have done the same; only a later yes counts there."""
    named = unknown.place.url if unknown.place else unknown.id
    text = (
        f"**Look before you decide:** this call, or another on the same thing, was started, and "
        f"nobody knows what came of that: {named}\n\nApproving this may do it a second time. "
        "What was approved here before this comment no longer counts. "
        "Whoever may decide there can find out, and say so there with `/resolve`.\n"
    )
    step = Step("reply", key=f"unsettled:{unknown.id}", text=text)
    on_its_page = (waiting.unsettled or {}).get("proposal") == unknown.id
    if on_its_page or ports.store.posted(waiting.id, step):
        return
    ports.store.post(waiting.id, [step], ports.now())
    void(ports, waiting, ports.now())
    ports.lines.free(waiting.id)


def undone(ports: Ports, undo: Proposal) -> None:
    """Sign on the original that an applied undo took it back, and show there how the undo ended."""
    original = ports.store.proposal(undo.undoes or "")
    if original is None or not _recorded(original):
        return
    if undo.state is not State.APPLIED:
        ports.store.post(original.id, [Step("show")], ports.now())
        return
    by = {"proposal": undo.id, "digest": undo.plan.digest}
    said = {"fact": "undone", "undone_by": by, "at": (undo.outcome or {}).get("at")}
    steps = [receipt(ports.store, original, said), Step("show")]
    ports.store.post(original.id, steps, ports.now())


def contradicted(ports: Ports, over: Proposal, outcome: dict[str, Any]) -> None:
    """Sign an answer that came after the outcome was settled otherwise; it changes nothing."""
    known = (over.outcome or {}).get("outcome")
    if not _recorded(over) or outcome["outcome"] == known:
        return
    said = {**outcome, "fact": "contradiction"}
    why = f"{over.id} was recorded as {known}, and then its tool said: {outcome['outcome']}"
    found = Problem(over.repository, "contradicted", why, proposal=over.id)
    with ports.store.tx():
        ports.store.post(over.id, [receipt(ports.store, over, said)], ports.now())
        ports.store.trouble(found, ports.now())


def _recorded(proposal: Proposal) -> bool:
    """Whether the ledger tells of it: it was shown to people, or started without asking them."""
    return proposal.place is not None or not proposal.asks
