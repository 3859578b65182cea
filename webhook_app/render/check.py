"""The check run: the live state, whose title says what is asked of the reader right now."""

from datetime import datetime
from typing import NamedTuple

from checks.facts import Surface
from checks.reasons import Finding, Reason, Weight
from checks.verdict import Decision, Verdict
from checks.wording import asked, check_title, heard_table, plural, reply_to, stamp
from proposals.lifecycle import State
from proposals.plan import Proposal

from . import shown, tied
from .links import Links
from .markdown import snippet
from .outcome import outcome_comment, over_title, quietly, undoable
from .page import (
    candidates,
    how_to_approve,
    in_code,
    needed,
    nobody_there,
    unguarded,
    unsettled,
)


class Button(NamedTuple):
    """A button of a check run; GitHub takes 20, 40 and 20 characters."""

    label: str
    description: str
    identifier: str


class CheckView(NamedTuple):
    """What a check run shows; `conclusion` as GitHub names it, at most three buttons."""

    title: str
    summary: str
    text: str
    conclusion: str
    actions: tuple[Button, ...] = ()


APPROVE = Button("Approve", "Do exactly what this plan says", "approve")
REJECT = Button("Reject", "End this; nothing will be changed", "reject")
REPLAN = Button("Plan again", "End this, open a proposal as of today", "replan")
UNDO = Button("Undo", "Open a proposal that takes this back", "undo")
TAKE_BACK = Button("Undo", "Put back what was there before", "undo")
OBSTACLES = 10
_TOO_LONG = (
    "**The plan is too long to be shown here, so it cannot be approved with a button.**"
    " Read the whole file first; then submit an *Approve* review or comment `/approve`."
)
_TOO_LONG_THERE = (
    "**The plan is too long to be shown here, so it cannot be approved with a button.**"
    " Read the whole file first."
)
# "unknown" asks for a person and claims neither success nor failure.
_CONCLUSIONS = {
    State.APPLIED: "success",
    State.FAILED: "failure",
    State.UNKNOWN: "action_required",
    State.ENDED: "cancelled",
}
_BUSY = {
    State.PLANNING: "Planning: nothing has been changed",
    State.CLAIMED: "Approved: planning again before anything runs",
    State.STARTED: "Approved and started",
}
_HELD = "Approved, on hold: it cannot be started just now"


def check(proposal: Proposal, links: Links, verdict: Verdict | None, now: datetime) -> CheckView:
    """Draw the check run of a proposal in any state; without a verdict nobody was heard yet."""
    if proposal.pinned is None:
        return CheckView(_BUSY[State.PLANNING], "**Nothing has been changed.**", "", "neutral")
    text, whole = _text(proposal, links)
    if proposal.state in _CONCLUSIONS:
        summary = outcome_comment(proposal, links, name=quietly)
        undo = UNDO if proposal.asks else TAKE_BACK
        actions = (undo,) if undoable(proposal) else ()
        ended = _concluded(proposal)
        return CheckView(over_title(proposal), summary, text, ended, actions)
    if proposal.state in _BUSY:
        return CheckView(_BUSY[proposal.state], _busy(proposal, verdict), text, "neutral")
    heard = verdict or _unheard(proposal)
    held = heard.decision is Decision.APPROVED and proposal.reason is not None
    title = _HELD if held else check_title(heard, proposal.expires, now)
    summary = _waiting(proposal, heard, whole=whole)
    if held:
        return CheckView(title, summary, text, _concluded(proposal), (REJECT, REPLAN))
    if heard.decision in {Decision.ENDED, Decision.APPROVED}:
        return CheckView(title, summary, text, "neutral")
    buttons = _buttons(proposal, whole=whole)
    return CheckView(title, summary, text, _concluded(proposal), buttons)


def _busy(proposal: Proposal, verdict: Verdict | None) -> str:
    soon = f"**{_BUSY[proposal.state]}.** The outcome will stand here and in a comment."
    return f"{soon}\n\n{heard_table(verdict)}" if verdict else soon


def _concluded(proposal: Proposal) -> str:
    """On somebody's commit always neutral: a check of ours never stops what they do there."""
    return "neutral" if proposal.target else _CONCLUSIONS.get(proposal.state, "action_required")


def _text(proposal: Proposal, links: Links) -> tuple[str, bool]:
    """The plan, for those who decide right here; also whether it is all there."""
    parts = [*tied.about(proposal), *shown.parts(proposal)]
    room = shown.LONGEST - sum(len(part) + 2 for part in parts)
    plan, whole = shown.exact(proposal, links, room)
    return "\n\n".join([*parts, plan]) + "\n", whole


def _unheard(proposal: Proposal) -> Verdict:
    """The verdict before anybody said anything, as far as the policy at propose tells."""
    rule = proposal.rule
    if rule is None:
        missing = Finding(Reason.NO_RULE, f"no rule is about {proposal.tool}")
        return Verdict(Decision.WAITING, (missing,), (), proposal.expires)
    if not rule.takes(proposal.agent, proposal.identities, proposal.people):
        why = f"it takes no requests of the agent {proposal.agent}"
        refused = Finding(Reason.REQUESTER_NOT_ALLOWED, why)
        return Verdict(Decision.WAITING, (refused,), (), proposal.expires)
    groups = " and ".join(str(group) for group in rule.require)
    return Verdict(Decision.WAITING, (), (), proposal.expires, needed=groups)


def _buttons(proposal: Proposal, *, whole: bool) -> tuple[Button, ...]:
    """Approving by a button needs the whole plan on the same page and a policy that takes it."""
    rule = proposal.rule
    approves = whole and rule is not None and Surface.BUTTON in rule.surfaces
    return (APPROVE, REJECT, REPLAN) if approves else (REJECT, REPLAN)


def _waiting(proposal: Proposal, verdict: Verdict, *, whole: bool) -> str:
    parts = [_first(proposal, verdict), _findings(verdict), heard_table(verdict)]
    if verdict.decision in {Decision.WAITING, Decision.DOUBTFUL}:
        too_long = _TOO_LONG_THERE if proposal.target else _TOO_LONG
        parts += ["" if whole else too_long, _how(proposal, verdict, whole=whole)]
    parts.append(_small_print(proposal, verdict))
    return "\n\n".join(part for part in parts if part) + "\n"


def _how(proposal: Proposal, verdict: Verdict, *, whole: bool) -> str:
    rule = proposal.rule
    press = "press *Approve* above" if whole else ""
    if proposal.target:
        yes, no = tied.how_to_approve(proposal, press), tied.how_to_reject(proposal)
    else:
        yes = how_to_approve(rule, press, button_first=True)
        no = "press *Reject* above, or comment `/reject`"
    lines = [
        *unsettled(proposal),
        f"- **Needed:** {needed(proposal)}",
        *nobody_there(proposal),
        *_could_approve(proposal, verdict),
        *unguarded(proposal),
        f"- **Yes:** {yes}",
        f"- **No:** {no}",
    ]
    return "\n".join(lines)


def _could_approve(proposal: Proposal, verdict: Verdict) -> list[str]:
    names = candidates(proposal, {h.voice.person.id for h in verdict.heard if h.counts})
    if not names:
        return []
    return [f"- **Can still approve:** {names}. Their access is looked up when they do"]


def _first(proposal: Proposal, verdict: Verdict) -> str:
    if verdict.decision is Decision.APPROVED:
        soon = "**Approved. Nothing has been changed yet:** Placet plans again first."
        return f"{soon} It is held up: {snippet(proposal.why)}" if proposal.reason else soon
    counted = sum(h.counts for h in verdict.heard)
    count = {0: "none counts", 1: "1 counts"}.get(counted, f"{counted} count")
    missing = f" {in_code(asked(verdict))} still needed; {count} so far." if verdict.needed else ""
    return f"**Nothing has been changed.**{missing}"


def _findings(verdict: Verdict) -> str:
    """Whatever else stands in the way, each with what to do about it."""
    obstacles = [
        f
        for f in verdict.findings
        if f.weight is not Weight.NOTES and f.reason is not Reason.APPROVALS_MISSING
    ]
    lines = ["- " + reply_to(f).replace("\n\n", " ") for f in obstacles[:OBSTACLES]]
    left = len(obstacles) - len(lines)
    return "\n".join(lines) + (f"\n\nAnd {plural(left, 'more obstacle')}." if left else "")


def _small_print(proposal: Proposal, verdict: Verdict) -> str:
    rules = dict(verdict.rules)
    place = rules.get("current", rules.get("propose"))
    policy = f"rule {place} of `.github/placet.yml`" if place else "`.github/placet.yml`"
    return (
        f"Policy: {policy} · Expires: {stamp(proposal.expires)} · Plan: `{shown.digest(proposal)}`"
    )
