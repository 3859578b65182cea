"""Deciding: look, judge, claim, plan again, look again, judge again, start."""

from dataclasses import replace
from datetime import timedelta

from checks.reasons import Finding, Reason, Weight
from checks.simulate import Scene
from checks.verdict import Decision, Verdict, judge
from proposals.canonical import Missing
from proposals.lifecycle import ALIVE, Event, IllegalMoveError, State
from proposals.plan import Proposal, difference, drifted
from proposals.ports import ForgeError, Lost, PlanFailed, PolicyFile, Refused, Sight, Unavailable
from proposals.store import Started, Step
from proposals.vault import LOST

from .acquainting import acquaint
from .answering import answers
from .applying import look_for, run
from .claiming import claim, given_back, keep, release
from .elsewhere import begun_elsewhere, suspected, taken_over
from .ending import end, event_of, run_out
from .ground import Ports, facts, pinned_sources, source, teams, unlooked
from .holding import barred_by, freed, hold, tell_held
from .opening import open_
from .planning import plan_again
from .recovering import pick_up
from .shaking import put_back
from .statements import start_of
from .undoing import NO_UNDO
from .veiling import things

TRIES = 3
SOON = timedelta(seconds=2)
LATER = timedelta(seconds=30)
SLOW = timedelta(seconds=10)
"""How long an apply may take before its page says that it was started."""

NO_ANSWER = frozenset({"tool_not_started", "tool_failed", "upstream_down", "not_readable", LOST})


async def advance(ports: Ports, id_: str) -> timedelta | None:
    """Take a proposal as far as it goes now; how long to wait before looking again, or None.

    Never called twice at once for one proposal. Whatever GitHub does, the proposal keeps a state
    from which the next call goes on.
    """
    proposal = ports.store.proposal(id_)
    if proposal is None or id_ in ports.lines.running:
        return None
    proposal = await pick_up(ports, proposal)
    if bar := barred_by(ports, proposal.repository):
        tell_held(ports, proposal, bar.code, bar.why)
        return LATER
    try:
        await acquaint(ports, proposal.repository)
        proposal = ports.store.proposal(id_) or proposal
        if not proposal.asks and proposal.state in ALIVE:
            return None  # it waits for its token, not for people
        if proposal.state is State.PINNED and proposal.expires > ports.now():
            proposal = await open_(ports, proposal)
            freed(ports, proposal)
            if not ports.store.voices(id_):
                return None
        next_step = {State.OPEN: decide, State.UNKNOWN: look_for}.get(proposal.state)
        return await next_step(ports, proposal) if next_step else None
    except (ForgeError, IllegalMoveError) as error:
        return put_off(ports, id_, error)


def put_off(ports: Ports, id_: str, error: Exception) -> timedelta:
    """How long to wait after GitHub did not answer as hoped; a no is kept for all concerned.

    Only an opening writes before the start, and opening again looks first: a lost answer is soon
    found out. An illegal move means that somebody ended it between the look and the move.
    """
    if isinstance(error, Unavailable):
        return timedelta(seconds=error.retry_after)
    if isinstance(error, Lost | IllegalMoveError):
        return SOON
    proposal = ports.store.proposal(id_)
    if proposal is not None and isinstance(error, Refused):
        hold(ports, proposal, error)
    return LATER


async def decide(ports: Ports, proposal: Proposal) -> timedelta | None:
    """Judge by the cheapest look that says no; only a yes is worth a claim and a second plan.

    Whether the people who spoke are enough needs no look at the page; if they are, the second look
    reads everything anyway.
    """
    voices = ports.store.voices(proposal.id)
    people = await ports.forge.people(proposal, voices)
    sight = unlooked(proposal, voices, people)
    verdict = _judged(ports, proposal, sight)
    if verdict.decision is not Decision.APPROVED:
        try:
            sight = await ports.forge.glance(proposal, voices, people)
        except ForgeError:  # whoever asks why is told what is known without the page
            blind = replace(unlooked(proposal, voices, people), unreadable=("the page",))
            keep(ports, proposal, _judged(ports, proposal, blind))
            raise
        freed(ports, proposal)
        verdict = _judged(ports, proposal, sight)
        if verdict.decision is not Decision.APPROVED:
            return await report(ports, proposal, verdict)
    with ports.lines.changing(proposal.id, things(ports, proposal)) as holder:
        if holder is not None:
            stand_in_line(ports, proposal, sight, holder)
            return LATER  # sooner, when that is done
        claimed = claim(ports, proposal, verdict)
        wait = await settle_claim(ports, claimed)
        given_back(ports, proposal)
        return wait


def stand_in_line(ports: Ports, proposal: Proposal, sight: Sight, holder: str) -> None:
    """Tell its agent and its page that it is approved, and for what it waits."""
    seen = replace(facts(ports, proposal, sight), ahead=holder)
    verdict = judge(seen, pinned_sources(ports, proposal), ports.now())
    known = ports.store.proposal(proposal.id) or proposal
    for finding in verdict.findings:
        if finding.reason is Reason.WAITS_IN_LINE:
            tell_held(ports, known, finding.reason, finding.because)
    keep(ports, known, verdict)
    ports.store.post(known.id, [Step("show")], ports.now())


def _judged(ports: Ports, proposal: Proposal, sight: Sight) -> Verdict:
    """The verdict by the floor and the policy at propose."""
    return judge(facts(ports, proposal, sight), pinned_sources(ports, proposal), ports.now())


async def settle_claim(ports: Ports, claimed: Proposal) -> timedelta | None:
    """Turn a claim into a start, an end or a release; a claim never outlives this call."""
    for _ in range(TRIES):
        try:
            if await ended_by_drift(ports, claimed):
                return None
            current, verdict, scene = await look_again(ports, claimed)
        except (ForgeError, PlanFailed) as error:
            release(ports, claimed, str(error), getattr(error, "code", None))
            return timedelta(seconds=getattr(error, "retry_after", LATER.total_seconds()))
        except Exception:
            release(ports, claimed, "a fault of Placet's own; its log says which")
            raise
        freed(ports, current)
        if verdict.decision is not Decision.APPROVED:
            return await report(ports, current, verdict)
        if begin(ports, current, verdict):
            start = start_of(current, verdict, scene, ports.now())
            return await run(ports, current, verdict, start)
        if (ports.store.proposal(claimed.id) or claimed).state is not State.CLAIMED:
            return None
    release(ports, claimed, "things kept changing while this was decided")
    return SOON


async def ended_by_drift(ports: Ports, claimed: Proposal) -> bool:
    """Plan again; when the world would now be changed otherwise, end and say what differs.

    Raises PlanFailed when the tool could not answer, which proves nothing: the claim is given
    back. A tool that answers that there is no plan any more has seen another world.
    """
    try:
        fresh = await plan_again(ports, claimed)
    except PlanFailed as error:
        if error.code in NO_ANSWER:
            raise
        known = error.code in NO_UNDO if claimed.undoes else error.code == "tool_changed"
        await _end_drifted(ports, claimed, error.code if known else "plan_failed", str(error))
        return True
    pinned = claimed.plan
    if not drifted(pinned, fresh):
        return False
    changed = fresh.plan["tool"] != pinned.plan["tool"]
    reason = "tool_changed" if changed else "drifted"
    differences = [
        {"pointer": c.pointer, "before": shown(c.before), "after": shown(c.after)}
        for c in difference(pinned, fresh)
    ]
    seen = "approved" if claimed.asks else "shown"
    why = f"What would happen now differs from what was {seen}."
    await _end_drifted(ports, claimed, reason, why, differences=differences)
    return True


async def _end_drifted(
    ports: Ports, claimed: Proposal, reason: str, why: str, **more: object
) -> None:
    """End it, unless the world is otherwise because another store has started this very one."""
    if await begun_elsewhere(ports, claimed):
        suspected(ports, claimed)
        await taken_over(ports, claimed)
    else:
        end(ports, claimed, Event.DRIFTED, reason, why, **more)


async def look_again(ports: Ports, claimed: Proposal) -> tuple[Proposal, Verdict, Scene]:
    """Read everything afresh and judge by all policies, the current one included."""
    with ports.store.tx():
        current = ports.store.proposal(claimed.id) or claimed
        voices = ports.store.voices(claimed.id)
    sources = pinned_sources(ports, current)
    sight = await ports.forge.look(current, voices, teams(sources, current.tool))
    unread = PolicyFile(None, problem="the policy was not read")
    sources = [*sources, source("current", sight.policy or unread)]
    scene = Scene(facts(ports, current, sight), tuple(sources), ports.now())
    return current, scene.verdict(), scene


def begin(ports: Ports, current: Proposal, verdict: Verdict) -> bool:
    """Start in one UPDATE under every condition that was judged; the clock is read inside.

    The verdict is kept in the same commit, whether it starts or not. While an apply takes long the
    page says that it was started; an earlier outcome is shown instead.
    """
    with ports.store.tx():
        keep(ports, current, verdict)
        now = ports.now()
        started = ports.store.start(current.id, conditions(current, verdict), now)
        if started:
            ports.store.post(current.id, [Step("show")], now + SLOW)
    return started


def conditions(current: Proposal, verdict: Verdict) -> Started:
    """All that was judged, as the starting UPDATE demands it."""
    return Started(
        nonce=current.nonce or "",
        digest=current.plan.digest,
        evidence_rev=current.evidence_rev,
        valid_until=verdict.valid_until,
    )


async def report(ports: Ports, proposal: Proposal, verdict: Verdict) -> timedelta | None:
    """Act on a verdict that is not a yes: end, restore the page, or show why it waits."""
    if verdict.decision is Decision.ENDED:
        finding = verdict.why(Weight.ENDS)
        if finding:
            _over(ports, proposal, finding)
            if finding.reason is Reason.EDITED_TOO_OFTEN:
                ports.store.post(proposal.id, [Step("restore", key="last")], ports.now())
        return None
    if proposal.state is State.CLAIMED:
        release(ports, proposal, "a second look said no")
    wait = show(ports, proposal, verdict)
    if any(f.reason is Reason.VIEW_EDITED for f in verdict.findings):
        await put_back(ports, proposal)
        return SOON
    return LATER if verdict.decision is Decision.DOUBTFUL else wait


def _over(ports: Ports, proposal: Proposal, finding: Finding) -> None:
    if finding.reason is Reason.EXPIRED:
        run_out(ports, proposal)
    else:
        end(ports, proposal, event_of(finding.reason), finding.reason, finding.because)


def show(ports: Ports, proposal: Proposal, verdict: Verdict) -> timedelta | None:
    """Queue the check run's update and the answers; how long until some answers may be due."""
    keep(ports, proposal, verdict)
    replies, wait = answers(verdict, ports.now())
    ports.store.post(proposal.id, [Step("show"), *replies], ports.now())
    return wait


def shown(value: object) -> object:
    """A plan's value as a receipt keeps it; a member that is not there is shown as null."""
    return None if isinstance(value, Missing) else value
