"""Starts that asked nobody: allowed only where their mode says so, and never for what is grave."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from checks.verdict import Decision
from proposals.canonical import JSON
from proposals.confirm import LIVES
from proposals.evidence import BadEvidence
from proposals.plan import UNASKED_MODES
from proposals.receipt import PlanFile
from proposals.unasked import Unasked, restores, unasked_of

from .report import Finding
from .signed import Said


def asks_nobody(start: Said) -> bool:
    """Whether a start says that it is of a mode in which nobody approves."""
    return start.text("mode") in UNASKED_MODES


def unasked(start: Said, plan: PlanFile | None) -> Iterator[Finding]:
    """Why this start should never have been without approvals."""
    mode = start.text("mode")
    if start.predicate.get("approvals") != []:
        yield start.finding("other_mode", f"approvals are recorded, and nobody is asked in {mode}")
    if plan is not None and _mode(plan) != mode:
        why = f"its plan was signed for another mode than {mode}: people were to be asked"
        yield start.finding("other_mode", why)
    try:
        said = unasked_of(start.predicate)
    except BadEvidence as bad:
        why = f"it does not say whole what it was judged by ({bad})"
        yield start.finding("no_evidence", why)
        return
    if not any(policy.policy == "current" for policy in said.policies):
        yield start.finding("no_policy", "it was not judged by the policy of its time")
    yield from _anew(start, said)
    if mode == "confirm":
        yield from _token(start, said)
    elif not said.plan.tool.undo and said.undoes is None:
        yield start.finding("not_approved", "it was done at once, and its tool cannot undo it")


def used_twice(starts: Iterable[Said]) -> Iterator[Finding]:
    """Starts that name a token which an earlier one has used up."""
    named = defaultdict[str, list[Said]](list)
    for start in sorted(starts, key=lambda said: said.seq):
        if token := _named(start.predicate.get("confirmed")):
            named[token].append(start)
    for first, *more in named.values():
        for start in more:
            why = f"its token had started {first.spot.proposal}: a token starts one call only"
            yield start.finding("token_twice", why)


def unrestored(lives: Mapping[str, Sequence[Said]]) -> Iterator[Finding]:
    """Undos without approvals that do more, or less, than to put an announced call back.

    `lives` has the starts of each proposal.
    """
    for start in (s for starts in lives.values() for s in starts):
        undoes = start.text("undoes")
        if not (undoes and asks_nobody(start)):
            continue
        taken = [s for s in lives.get(undoes, ()) if s.text("mode") == "announce"]
        if not any(_restores(start, original) for original in taken):
            why = f"nobody approved it, and it is no exact undo of an announced call ({undoes:.60})"
            yield start.finding("not_approved", why)


def _restores(undo: Said, original: Said) -> bool:
    back, there = undo.predicate.get("plan"), original.predicate.get("plan")
    return isinstance(back, dict) and isinstance(there, dict) and restores(back, there)


def who_said_yes(start: Said) -> tuple[str, ...]:
    """What stands in the table where others name their approvers."""
    by = {"confirm": f"nobody: {start.text('agent'):.60} confirmed its own preview"}
    return (by.get(start.text("mode"), "nobody: done at once, announced"),)


def _anew(start: Said, said: Unasked) -> Iterator[Finding]:
    verdict = said.verdict()
    if verdict.decision is not Decision.APPROVED:
        found = "; ".join(dict.fromkeys(f.because for f in verdict.findings))
        yield start.finding("not_approved", f"judged anew it may not start unasked: {found:.600}")
    if not said.judged <= said.started < verdict.valid_until:
        yield start.finding("started_late", "it did not start while it was allowed to")


def _token(start: Said, said: Unasked) -> Iterator[Finding]:
    """The token must be of this agent and this plan, and alive."""
    token = said.confirmed
    if token is None:
        yield start.finding("no_token", "it started, and no token of its preview is recorded")
        return
    if (token.agent, token.plan) != (said.agent, said.digest):
        yield start.finding("no_token", "its token is of another agent or another plan")
    lived = token.previewed <= said.judged < token.expires <= token.previewed + LIVES
    if not lived:
        yield start.finding("started_late", "its token was not good when it started")


def _mode(plan: PlanFile) -> JSON:
    shown = plan.statement["predicate"]
    return shown.get("mode") if isinstance(shown, dict) else None


def _named(confirmed: JSON) -> str:
    token = confirmed.get("token") if isinstance(confirmed, dict) else None
    return token if isinstance(token, str) else ""
