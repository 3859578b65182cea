"""Ends without a start: nothing was changed; what happened instead, and what to do."""

import re
from typing import NamedTuple

from checks.reasons import REASONS, Reason
from checks.wording import code, plural, span
from proposals.plan import Proposal

from .tied import named

REPLAN = "`/replan` opens a new proposal that shows what would happen now."
_AGAIN = "Comment `/replan` to ask again against today's state."


class Ending(NamedTuple):
    """An end without a start: the check's title, what happened, what to do."""

    title: str
    says: str
    then: str = _AGAIN


ENDINGS = {
    "drifted": Ending(
        "Not applied: the data changed since the plan{places}",
        "What would happen now differs from what was approved.",
        REPLAN,
    ),
    "tool_changed": Ending(
        "Not applied: the tool changed since the plan",
        "The tool is no longer the one that was approved: its operator changed it.",
        REPLAN,
    ),
    "plan_failed": Ending(
        "Not applied: planning again failed",
        "Placet plans again right before it acts, and this time the tool gave no plan.",
        REPLAN,
    ),
    "start_unproven": Ending(
        "Not started: nothing was changed",
        "Nobody could prove that the start was recorded, and without that nothing runs.",
    ),
    "already_undone": Ending(
        "Not undone: it is as it was before",
        "There is nothing to undo any more: everything is as it was before.",
        "You need not do anything.",
    ),
    "undo_conflict": Ending(
        "Not undone: it was changed since",
        "What would be undone was changed since, and an undo would overwrite that.",
        "Change it by hand or by another call.",
    ),
    "irreversible": Ending(
        "Not undone: the tool cannot take it back",
        "The tool says that this cannot be taken back.",
        "Change it by hand or by another call.",
    ),
    "not_installed": Ending(
        "Ended: Placet lost its access. Nothing was changed",
        "The App was taken from this repository, or the repository moved to an account that "
        "Placet does not serve.",
        "Ask again once the App is installed here.",
    ),
    "ledger_changed": Ending(
        "Not started: somebody else changed the ledger",
        "Somebody else wrote to Placet's ledger, so nothing was run.",
        "An operator must look at the ledger first.",
    ),
    "superseded": Ending(
        "Replaced by a newer proposal",
        "A newer proposal has taken the place of this one.",
        "Look at the newer one.",
    ),
    "store_lost": Ending(
        "Ended: Placet lost its store",
        "Placet lost its store and cannot say what was approved, so it forgets this proposal.",
    ),
    Reason.REJECTED: Ending("Rejected{by}: nothing was changed", "It was rejected{by}."),
    Reason.WITHDRAWN: Ending(
        "Withdrawn{by}: nothing was changed", "It was taken back{by} for those who asked."
    ),
    Reason.EXPIRED: Ending(
        "Expired after {waited}: nothing was changed",
        "Nobody who could approve it did so within {waited}.",
    ),
    "held_up": Ending(
        "Expired after {waited}: nothing was changed", "It was not started within {waited}."
    ),
    Reason.CLOSED: Ending(
        "Closed: nothing was changed", "The pull request was closed without merging."
    ),
    Reason.HEAD_MOVED: Ending(
        "Ended: the branch moved. Nothing was changed",
        "The branch moved after it was opened, so the plan shown is no longer the plan in it.",
    ),
    Reason.BASE_CHANGED: Ending(
        "Ended: the target branch changed. Nothing was changed",
        "The pull request now aims at another branch than Placet's ledger.",
    ),
    Reason.EDITED_TOO_OFTEN: Ending(
        "Ended: the page was edited too often. Nothing was changed",
        "The title or text of this page was edited again and again.",
    ),
}
# The same ends on somebody's page, which is theirs: what moved there is not ours to name.
THERE: dict[str, Ending] = {
    Reason.CLOSED: Ending(
        "Ended: the pull request is closed. Nothing was changed",
        "The pull request that this was tied to was merged or closed, or its announcement there"
        " was deleted.",
        "If it is still wanted, the agent can ask again.",
    ),
    Reason.HEAD_MOVED: Ending(
        "Ended: the pull request moved. Nothing was changed",
        "The pull request that this was tied to got other commits after it was opened.",
    ),
    Reason.BASE_CHANGED: Ending(
        "Ended: the target branch changed. Nothing was changed",
        "The pull request that this was tied to now aims at another branch.",
    ),
    Reason.EDITED_TOO_OFTEN: Ending(
        "Ended: the announcement was edited too often. Nothing was changed",
        "The announcement on this page was edited again and again.",
    ),
}
OTHER = Ending("Ended: nothing was changed", "This proposal is over.")
_SELF_EXPLAINING = frozenset(
    {
        "drifted",
        "start_unproven",
        Reason.EXPIRED,
        Reason.CLOSED,
        Reason.HEAD_MOVED,
        Reason.BASE_CHANGED,
        Reason.EDITED_TOO_OFTEN,
    }
)
# checks.rules writes "@lee rejected it"; a login is all that may be taken from such words.
_WHO = re.compile(r"@([A-Za-z0-9][A-Za-z0-9_-]{0,98}) (?:rejected it|took it back)\Z")


def ending(proposal: Proposal) -> Ending:
    """How it ended, its words filled in: by whom, after how long, in how many places it differs."""
    reason = ended_by(proposal)
    found = (THERE.get(reason) if proposal.target else None) or _known(reason)
    who = _WHO.match(str((proposal.outcome or {}).get("why") or proposal.why))
    listed = (proposal.outcome or {}).get("differences")
    count = len(listed) if isinstance(listed, list) else 0
    filled = {
        "waited": span(proposal.expires - proposal.created),
        "places": f" ({plural(count, 'place')})" if count else "",
    }
    return Ending(
        found.title.format(by=f" by @{who[1]}" if who else "", **filled),
        found.says.format(by=f" by {code('@' + who[1])}" if who else "", **filled),
        named(found.then, proposal),
    )


def ended_by(proposal: Proposal) -> str:
    """The key of its ending: its reason, or the cause behind that which changes what is said."""
    outcome = proposal.outcome or {}
    cause = outcome.get("cause")
    if cause in ("store_lost", "held_up"):
        return str(cause)
    return str(proposal.reason or outcome.get("reason") or "")


def explained(reason: str, why: str) -> bool:
    """Whether our own words for this end say all that its recorded words say."""
    return reason in _SELF_EXPLAINING or _WHO.match(why) is not None


def _known(reason: str) -> Ending:
    if reason in ENDINGS:
        return ENDINGS[reason]
    known = REASONS.get(Reason(reason)) if reason in set(Reason) else None
    return Ending(OTHER.title, known.means, known.remedy) if known else OTHER
