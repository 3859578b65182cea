"""Whether people are asked, looked at again right before what asks nobody: no start is older.

The operator's file may say another thing by then than it did when the call was planned.
"""

from checks.facts import Unasked
from checks.reasons import Reason
from proposals.lifecycle import Event
from proposals.plan import Proposal
from proposals.tools import UnknownTool
from proposals.unasked import priced

from .ending import end
from .ground import WAITING, Ports
from .restraint import undone, unsettled

_OTHERWISE = "Its operator has declared the tool otherwise since. Nothing was done."


def mode_now(ports: Ports, proposal: Proposal) -> str:
    """How the operator's file would have this call done; "" when others would decide about it.

    A floor that wants approvals for its effect means people, whatever its tool says.
    """
    try:
        tool = ports.catalog.find(proposal.tool)
    except UnknownTool:
        return ""
    if ports.repositories.get(tool.repository) != proposal.repository:
        return ""
    return "approve" if tool.effect in ports.floors else tool.mode


def current(ports: Ports, kept: Proposal) -> Proposal | None:
    """What a call has already, ended when its tool is of another mode by now.

    None when it has nothing any more, so that the call is taken in the mode of now; under its
    idempotency key it has that end for ever.
    """
    if kept.asks or kept.state not in WAITING or mode_now(ports, kept) == kept.mode:
        return kept
    over = end(ports, kept, Event.VOIDED, Reason.MODE_CHANGED, _OTHERWISE)
    return over if over.key else None


def judged_by(ports: Ports, claimed: Proposal) -> Unasked:
    """What a start that asks nobody is judged by beside the policies."""
    call = claimed.undoes is None
    return Unasked(
        mode=claimed.mode,
        declared=mode_now(ports, claimed),
        cost=priced(claimed.plan.plan.get("cost")),
        unsettled=unsettled(ports, claimed) if call else "",
        undone=undone(ports, claimed) if call else "",
    )
