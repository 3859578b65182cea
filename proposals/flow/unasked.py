"""Calls that ask nobody: claimed, planned again, judged again and started, in that order.

What stands in the way gives the claim back; the same call can then be made again.
"""

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

from checks.facts import Facts
from checks.policy import Source
from checks.reasons import Weight
from checks.unasked import judge_unasked
from checks.verdict import Decision, Verdict
from proposals.confirm import Confirmation
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.ports import ForgeError, PlanFailed, PolicyFile, Unavailable
from proposals.unasked import evidence_of_unasked

from .acquainting import acquaint
from .applying import NOT_STARTED, run
from .claiming import keep
from .deciding import TRIES, conditions, ended_by_drift
from .declared import judged_by
from .ending import end, event_of
from .ground import Ports, dict_of, source
from .holding import barred_by
from .statements import start_unasked
from .veiling import things


@dataclass(frozen=True, slots=True)
class _Look:
    """A claim as it stands, by which policies it was judged, and the verdict."""

    claimed: Proposal
    sources: list[Source]
    verdict: Verdict


async def start_now(
    ports: Ports, proposal: Proposal, confirmation: Confirmation | None
) -> Proposal:
    """Start a pinned call without asking anybody, and say what came of it.

    `confirmation` is the token that it needs in mode `confirm`; the start uses it up.
    """
    ports.lines.running.add(proposal.id)
    try:
        with ports.lines.changing(proposal.id, things(ports, proposal)) as holder:
            if holder is not None:
                why = f"It was not started: {holder} changes the same thing just now."
                return ports.store.note(proposal.id, why=why, reason=NOT_STARTED)
            nonce = secrets.token_hex(16)
            claimed = ports.store.move(
                proposal.id, Event.GRANTED, ports.now(), nonce=nonce, reason=None, why=""
            )
            await _settle(ports, claimed, confirmation)
    finally:
        ports.lines.running.discard(proposal.id)
    return ports.store.proposal(proposal.id) or proposal


async def _settle(ports: Ports, claimed: Proposal, confirmation: Confirmation | None) -> None:
    """Turn a claim into a start, an end or a release; a claim never outlives this call."""
    try:
        await _reachable(ports, claimed)
        for _ in range(TRIES):
            if await _tried(ports, claimed, confirmation):
                return
    except (ForgeError, PlanFailed) as error:
        _release(ports, claimed, str(error))
    except Exception:
        _release(ports, claimed, "a fault of Placet's own; its log says which")
        raise
    else:
        _release(ports, claimed, "things kept changing while it was looked at")


async def _tried(ports: Ports, claimed: Proposal, confirmation: Confirmation | None) -> bool:
    """Look, judge and start; False when something changed meanwhile, and it may be tried again."""
    if await ended_by_drift(ports, claimed):
        return True
    look = await _look(ports, claimed)
    if look.verdict.decision is not Decision.APPROVED:
        _not_now(ports, look)
        return True
    if _begun(ports, look, confirmation):
        await _run(ports, look, confirmation)
        return True
    return (ports.store.proposal(claimed.id) or claimed).state is not State.CLAIMED


async def _reachable(ports: Ports, claimed: Proposal) -> None:
    """Refuse, as ForgeError, what no repository or no ledger can take in right now."""
    if bar := barred_by(ports, claimed.repository):
        raise Unavailable(bar.why)
    await acquaint(ports, claimed.repository)
    await ports.forge.prepare(claimed.repository)


async def _look(ports: Ports, claimed: Proposal) -> _Look:
    """Read what holds for everybody, the policy's freezes and the stops, and judge."""
    current = ports.store.proposal(claimed.id) or claimed
    file = await ports.forge.policy(claimed.repository)
    sources = [source("current", file)]
    verdict = judge_unasked(_facts(ports, current, file), sources, ports.now())
    return _Look(current, sources, verdict)


def _facts(ports: Ports, current: Proposal, file: PolicyFile) -> Facts:
    tool = dict_of(current)
    touches = tool.get("touches")
    unread = ("the time by GitHub's clock",) if file.text is not None and file.skew is None else ()
    return Facts(
        tool=current.tool,
        effect=str(tool["effect"]),
        digest=current.plan.digest,
        identities=current.identities,
        valid_from=current.created,
        expires=current.expires,
        pinned_head="",
        head="",
        pinned_base="",
        base="",
        unreadable=unread,
        skew=file.skew or timedelta(0),
        halted=ports.store.halted(current.repository),
        agent=current.agent,
        touches=frozenset(map(str, touches)) if isinstance(touches, list) else frozenset(),
        unasked=judged_by(ports, current),
    )


def _begun(ports: Ports, look: _Look, confirmation: Confirmation | None) -> bool:
    """Start in one UPDATE under every condition that was judged; the clock is read inside.

    The verdict is kept in the same commit, whether it starts or not.
    """
    token = confirmation.token if confirmation else None
    given = replace(conditions(look.claimed, look.verdict), token=token)
    with ports.store.tx():
        keep(ports, look.claimed, look.verdict)
        return ports.store.start(look.claimed.id, given, ports.now())


async def _run(ports: Ports, look: _Look, confirmation: Confirmation | None) -> None:
    now, verdict = ports.now(), look.verdict
    evidence = evidence_of_unasked(look.sources, verdict, now, confirmation)
    await run(ports, look.claimed, verdict, start_unasked(look.claimed, evidence, now))


def _not_now(ports: Ports, look: _Look) -> None:
    """End what will never be allowed; give back what only has to wait."""
    keep(ports, look.claimed, look.verdict)
    if over := look.verdict.why(Weight.ENDS):
        event = event_of(over.reason)
        end(ports, look.claimed, event, over.reason, over.because)
        return
    first = look.verdict.findings[0]
    _release(ports, look.claimed, first.because)


def _release(ports: Ports, claimed: Proposal, why: str) -> None:
    """Give a claim back, unless it ended or started meanwhile; its agent is told why."""
    now = ports.store.proposal(claimed.id)
    if now is not None and now.state is State.CLAIMED:
        words = f"Nothing was done yet: {why}"[:300]
        ports.store.move(
            claimed.id, Event.RELEASED, ports.now(), why=words, reason=NOT_STARTED, nonce=None
        )
