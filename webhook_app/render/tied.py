"""What is said on somebody's page: it announces, asks for the digest, and leaves the rest alone."""

import re
from collections.abc import Sequence

from checks.facts import Surface
from checks.wording import mention, span, stamp
from proposals.plan import Proposal

from . import shown
from .links import Links
from .markdown import snippet
from .page import (
    behind,
    claim,
    named_for_it,
    needed,
    nobody_there,
    title,
    undoable,
    unsettled,
)

_COMMAND = re.compile(r"`/(approve|reject|replan|withdraw|undo)`")

_MORE = {"resolve": " applied <why>"}
_SILENT = {
    "`/replan`": "If it is still wanted, the agent can ask again.",
    "To undo it": "To undo it, press *Undo* above: that opens a new proposal.",
    "comment `/undo`": "yes, by a new proposal (press *Undo* here when it is done)",
}
MOST = 20  # lines to paste in one answer
_NOTHING = "Nothing has been changed yet."
_REVIEWS = (
    "Reviews of this pull request are about its code: they neither approve nor stop this. It ends"
    " when the pull request gets other commits, is merged or is closed."
)


def check_name(proposal: Proposal) -> str:
    """The name of the check run, its own for each proposal: GitHub hides all but one of a name."""
    return f"placet: {title(proposal)} ({proposal.id[:10]})"


def digest(proposal: Proposal) -> str:
    """The digest as a command names it."""
    return shown.digest(proposal).removeprefix("sha256:")


def named(words: str, proposal: Proposal) -> str:
    """Our own words, each command with the digest that it needs on somebody's page.

    On a bare commit nobody can comment: only what the check itself offers is left.
    """
    if proposal.target is None:
        return words
    if not proposal.target.number:
        return next((say for what, say in _SILENT.items() if what in words), words)
    return _COMMAND.sub(rf"`/\1 {digest(proposal)}`", words)


def announcement(proposal: Proposal, links: Links) -> str:
    """The one comment on the pull request; it never changes, so no state and no now in it."""
    does = snippet(proposal.summary or f"Run {proposal.tool}")
    check = f"[the check]({links.run(proposal)}) {snippet(check_name(proposal))}"
    waits = span(proposal.expires - proposal.created)
    press = "press *Approve* in the check" if fits(proposal) else ""
    lines = [
        f"**An agent asks to do this, beside this pull request: {does}.** {_NOTHING}",
        "",
        f"- **Read it first:** {check} shows the whole plan and how it stands",
        *unsettled(proposal),
        f"- **Asked by:** agent {snippet(proposal.agent)}, {behind(proposal)}",
        f"- **Yes:** {how_to_approve(proposal, press)}",
        f"- **No:** press *Reject* in the check, or comment `/reject {digest(proposal)}`",
        f"- **Needed:** {needed(proposal)}",
        *nobody_there(proposal),
        *named_for_it(proposal),
        f"- **Waits until:** {stamp(proposal.expires)} ({waits} after it was asked)",
        "",
        f"{_REVIEWS} The plan is `{proposal.plan.digest}`.",
    ]
    return "\n".join(lines)


def how_to_approve(proposal: Proposal, press: str) -> str:
    """The ways that the policy accepts here; `press` says where the button is, "" if nowhere."""
    rule, target = proposal.rule, proposal.target
    talk = bool(target and target.number)
    ways = {
        Surface.BUTTON: press,
        Surface.COMMENT: f"comment `/approve {digest(proposal)}`" if talk else "",
    }
    accepted = [w for surface, w in ways.items() if w and rule and surface in rule.surfaces]
    return ", or ".join(accepted) or "not possible as it stands: see *Needed*"


def how_to_reject(proposal: Proposal) -> str:
    """The ways to say no here."""
    press = "press *Reject* above"
    if proposal.target and not proposal.target.number:
        return press
    return f"{press}, or comment `/reject {digest(proposal)}`"


def unnamed(shown_here: Sequence[Proposal], who: str, verb: str) -> str:
    """The answer to a command that names none of the plans here: the lines to paste."""
    lines = [
        f"- `/{verb} {digest(one)}{_MORE.get(verb, '')}` for {snippet(title(one))}"
        for one in shown_here[-MOST:]
    ]
    says = f"{mention(who)}, this does not name a plan of this page, so it does nothing."
    return "\n".join([says, "", "Comment the line of the one that you mean:", "", *lines]) + "\n"


def ambiguous(who: str) -> str:
    """The answer to a digest that more than one plan of the page has."""
    says = f"{mention(who)}, more than one proposal here has this digest, so it names none."
    return f"{says}\n\nPress the button in the check of the one that you mean.\n"


def about(proposal: Proposal) -> list[str]:
    """What a pull request of its own would say beside the plan: who asks, undo, cost, the claim."""
    where = proposal.target
    if where is None:
        return []
    page = f"pull request {where.number}" if where.number else f"commit `{where.head}`"
    lines = [
        f"- **Asked by:** agent {snippet(proposal.agent)}, {behind(proposal)}",
        f"- **Tied to:** {page} of `{where.name}`; it ends when that moves on",
        f"- **Can be undone:** {named(undoable(proposal), proposal)}",
        f"- **Costs:** {shown.cost(proposal)}",
    ]
    return [part for part in ("\n".join(lines), claim(proposal)) if part]


def fits(proposal: Proposal) -> bool:
    """Whether the whole plan has room in the check run, without which there is no button."""
    nowhere = Links("", "", "")
    parts = [*about(proposal), *shown.parts(proposal)]
    room = shown.LONGEST - sum(len(part) + 2 for part in parts)
    return shown.exact(proposal, nowhere, room)[1]
