"""Proposing on behalf of whoever waits for a while: planning goes on when they stop waiting."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

from proposals import flow
from proposals.confirm import hashed
from proposals.flow import Ask, same_call
from proposals.lifecycle import State
from proposals.plan import Proposal

from .hall import Hall
from .problem import Problem

_log = structlog.get_logger("placet")


async def planned(here: Hall, ask: Ask) -> Proposal:
    """Propose a call; it comes back still planning when that takes longer than the patience."""
    proposal = await in_time(here, flow.propose(here.ports, ask)) or _planning(here, ask)
    here.metrics.asked.labels(proposal.state.value).inc()
    _log.info(
        "asked", agent=ask.agent.name, proposal=proposal.id, tool=proposal.tool,
        state=proposal.state.value, digest=proposal.pinned.digest if proposal.pinned else None,
    )  # fmt: skip
    return proposal


async def in_time(here: Hall, work: Coroutine[Any, Any, Proposal]) -> Proposal | None:
    """Plan in a task of its own: it goes on when the caller stops waiting; None then."""
    task = asyncio.create_task(work)
    here.tasks.add(task)
    task.add_done_callback(lambda done: _over(here, done))
    done, _ = await asyncio.wait({task}, timeout=here.patience)
    return task.result() if done else None


def still_planning() -> Problem:
    """Say that nothing can be shown yet, and that asking again is fine."""
    hint = "Send exactly the same call again."
    return Problem(503, "still_planning", "The call is still being planned.", hint)


def _over(here: Hall, task: asyncio.Task[Proposal]) -> None:
    here.tasks.discard(task)
    if not task.cancelled() and (error := task.exception()):
        _log.info("not asked", code=getattr(error, "code", "fault"), error=type(error).__name__)
    here.worker.wake()
    broke_off = task.cancelled() or task.exception()
    for proposal in here.store.alive() if broke_off else [task.result()]:
        if not proposal.asks:  # what no worker began may have been left half-way
            here.worker.nudge(proposal.id)


def _planning(here: Hall, ask: Ask) -> Proposal:
    """The proposal that a call still plans for, or that its token is starting."""
    if ask.token and (kept := here.store.confirmation(hashed(ask.token))):
        started = here.store.proposal(kept.proposal)
        if started is not None and started.agent == ask.agent.name:
            return started
    for proposal in here.store.proposals(agent=ask.agent.name, state=State.PLANNING, limit=200):
        if _means(here, proposal, ask):
            return proposal
    raise still_planning()


def _means(here: Hall, proposal: Proposal, ask: Ask) -> bool:
    mine = proposal.agent == ask.agent.name and proposal.tool == ask.tool and not proposal.undoes
    return mine and same_call(here.ports, proposal, ask)
