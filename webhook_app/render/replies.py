"""Answers to one person: a line that says what happened, then a line that says what to do."""

import re

from checks.commands import Verb
from checks.reasons import REASONS, Finding, Reason
from checks.voices import Heard
from checks.wording import code, mention, reply_to, stamp
from proposals.lifecycle import State
from proposals.plan import Proposal

from . import shown
from .endings import ENDINGS, Ending, ending
from .markdown import snippet
from .page import needed
from .tied import named as named_there

_OVER = {
    State.CLAIMED: "it is approved already and about to run",
    State.STARTED: "it is running already",
    State.APPLIED: "it is done already",
    State.FAILED: "it was run already and failed",
    State.UNKNOWN: "it was run already and its outcome is unknown",
    State.ENDED: "this proposal is over already; nothing was changed",
}

_UNPLANNED = Ending(
    "Not undone",
    "Nothing was undone: how to undo it could not be planned.",
    "Comment `/undo` to try again, or change it by hand.",
)


def reply(
    proposal: Proposal, about: Heard | Finding | str, *, who: str = "", named: str = ""
) -> str:
    """Answer a stance, or a comment by its code; `who` is its author, `named` the digest in it.

    Codes: `expiring` (to everybody: it ends soon), `lgtm` (reads like a yes and is none), `late`
    (no longer open), `other_digest`, `needs_digest` (`/resolve` without one), `second_line` (a
    command that is not on the first line), `not_unknown`, `not_eligible`,
    `nothing_to_undo`, and every checks.reasons.Reason.
    """
    if isinstance(about, Heard):
        who, named = about.voice.person.login, about.voice.digest or ""
        if about.reason is not Reason.OTHER_DIGEST:
            return reply_to(about) + "\n"
        about = about.reason
    if isinstance(about, Finding):
        return reply_to(about) + "\n"
    says, then = _answers(proposal, named).get(about) or _by_reason(about)
    begin = f"{mention(who)}, {says[0].lower()}{says[1:]}" if who and says else says
    return f"{begin}\n\n{named_there(then, proposal)}\n"


def undo_reply(undo: Proposal) -> str:
    """What to say of an undo that was asked for; "" while its page is about to be opened."""
    if undo.place:
        done = "This is undone already" if undo.state is State.APPLIED else "That is asked already"
        return f"{done}: {undo.place.url}\n"
    if undo.state is not State.ENDED:
        return ""
    end = ending(undo) if undo.reason in ENDINGS else _UNPLANNED
    why = f" The tool says: {snippet(undo.why, 600)}" if undo.why else ""
    return f"{end.says}{why}\n\n{end.then}\n"


def taken_reply(undo: Proposal) -> str:
    """What to say of an undo that was done at once, or was to be; its own page tells the rest."""
    match undo.state:
        case State.APPLIED:
            basis = (undo.outcome or {}).get("basis")
            read = "read back" if basis == "verified" else "as the tool reports"
            return f"**Undone, {read}:** everything is as it was before ({code(undo.id)}).\n"
        case State.ENDED | State.FAILED:
            why = f" Why: {snippet(undo.why, 600)}" if undo.why else ""
            return f"**Not undone.**{why}\n\nComment `/undo` to try again, or change it by hand.\n"
        case _:
            says = f"**Nobody knows yet whether this was undone** ({code(undo.id)})."
            return f"{says} Placet looks again; it will not be run twice.\n"


def unheard_reply(proposal: Proposal, reason: Reason, who: str) -> str:
    """Answer whoever said what came of something and may not: why not, and who may."""
    digest = shown.digest(proposal).removeprefix("sha256:")
    means = REASONS[reason].means
    others = "else who may decide here" if proposal.asks else "with write access"
    return (
        f"{mention(who)}, this settles nothing: {means[0].lower()}{means[1:]}\n\n"
        f"Somebody {others}, for whom the agent does not work, must look and comment "
        f"`/resolve {digest} applied <why>` or `/resolve {digest} failed <why>`.\n"
    )


def unmerged(proposal: Proposal, why: str) -> str:
    """What to say on a page that could not be merged or closed; `why` is the forge's."""
    done = proposal.state is State.APPLIED
    says = "What was approved is done" if done else "This is over, and nothing was changed"
    return (
        f"{says}, but this pull request could not be {'merged' if done else 'closed'}: "
        f"{snippet(why, 300)}\n\nThe receipt stands on the branch `placet/ledger` all the same.\n"
    )


def _answers(proposal: Proposal, named: str) -> dict[str, tuple[str, str]]:
    digest = shown.digest(proposal).removeprefix("sha256:")
    another = f" ({code(named[:12])})" if re.fullmatch("[0-9a-f]{12,64}", named) else ""
    over = _OVER.get(proposal.state, "it is not open for this")
    return {
        "lgtm": (
            "This is not read as an approval.",
            "To approve, submit an *Approve* review or comment `/approve`.",
        ),
        "expiring": (
            f"This is still open and ends {stamp(proposal.expires)}; nothing has been changed.",
            f"Needed: {needed(proposal)}. Afterwards `/replan` asks again.",
        ),
        "late": (f"This changes nothing any more: {over}.", "To ask again, comment `/replan`."),
        Reason.OTHER_DIGEST: (
            f"This names another plan{another}. The plan here is `{digest}`.",
            f"If you mean the plan here, comment `/approve {digest}`.",
        ),
        "needs_digest": (
            "This says nothing yet, because it does not name the plan.",
            f"Comment `/resolve {digest} applied <why>` or `/resolve {digest} failed <why>`.",
        ),
        "second_line": (
            f"Only the first line of a comment is read{_verbs(named)}.",
            "Write it again in a comment of its own.",
        ),
        "not_unknown": (
            "There is nothing to resolve here: the outcome is not unknown.",
            "You need not do anything.",
        ),
        "not_eligible": (
            "This is for people who may decide here, and you may not.",
            "Ask one of the people that the policy in `.github/placet.yml` names.",
        ),
        "nothing_to_undo": (
            "There is nothing here that Placet could undo.",
            "What is to be changed must be asked for anew.",
        ),
        Reason.HEAD_MOVED: (
            "This proposal ended, and nothing was changed: the branch moved after it was opened.",
            "The plan shown is no longer the plan in the branch. `/replan` opens a new one.",
        ),
    }


def _verbs(named: str) -> str:
    """The commands further down that did nothing, as far as they are known."""
    known = [word for word in named.split() if word in {f"/{verb}" for verb in Verb}]
    return f"; {', '.join(map(code, known))} below it does nothing" if known else ""


def _by_reason(about: str) -> tuple[str, str]:
    if about in set(Reason):
        meaning = REASONS[Reason(about)]
        return meaning.means, meaning.remedy
    return "This does nothing here.", "The check of this proposal says what can be done now."
