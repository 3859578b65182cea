"""One call of an agent, whatever door it came through: past the gate, and what came of it."""

import asyncio
import re
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from proposals import answer
from proposals.calls import Call, ConfirmationRequired, Denied, Status, deny_destructive
from proposals.flow import Refusal, token_for
from proposals.gate import Gate
from proposals.lifecycle import State
from proposals.likeness import Imitates, genuine
from proposals.plan import Proposal
from proposals.registry import Registry
from proposals.tools import BadArguments, printable
from proposals.upstreams import Heard, Unreached, Unreturned

from .desk import Desk
from .hall import Hall
from .turning import lacking, recorded, refused, reported, scope_of

_log = structlog.get_logger("placet")
_NAME = re.compile(r"[!-~]{1,255}")
_LOOK = 0.05  # seconds between looks at a page that is about to stand
_OPENING = frozenset({State.PLANNING, State.PINNED})
_RUNNING = frozenset({State.PLANNING, State.CLAIMED, State.STARTED})


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a call: `said` is `placet.call/v1`; `heard` what a read brought, unchanged."""

    said: dict[str, Any]
    heard: Heard | None = None


def gate(here: Hall) -> Gate:
    """The server's gate: reads run, everything else waits for people, whatever anybody sets up."""
    runner = here.ports.runner
    entries = Registry(runner, lambda: here.catalog, here.ports.vault)
    return Gate(entries, Desk(here), deny_destructive, memo=runner.memo, log=partial(noted, here))


def noted(here: Hall, status: Status, call: Call) -> None:
    """Count and log what became of a call."""
    here.metrics.calls.labels(status.value).inc()
    _log.info("call", agent=call.agent, tool=printable(call.tool, 80), status=status.value)


def named(text: object) -> str | None:
    """A session or a key as an agent names it; None when it is no name at all."""
    return text if isinstance(text, str) and _NAME.fullmatch(text) else None


async def called(here: Hall, call: Call) -> Came:
    """Take a call; Refusal, Denied, BadArguments or Problem when it is not taken.

    What changes something is a part of the agent's turn, also when it is not taken.
    """
    try:
        async with _turn(here, call):
            heard = await gate(here).call(call)
    except ConfirmationRequired as pause:
        said = held(here, await shown(here, pause.proposal, here.patience))
        return Came(recorded(here, call, said))
    except (Unreached, Unreturned) as error:
        return Came(reported(here, scope_of(call), answer.read(call.tool, None, str(error))))
    except BadArguments as error:
        if draft := lacking(here, call, error):
            return Came(draft)
        refused(here, call, error.code, str(error), error.hint)
        raise
    except (Denied, Refusal) as error:
        refused(here, call, error.code, str(error), error.hint)
        raise
    try:
        genuine(heard.value)
        genuine(heard.error)
    except Imitates as error:
        _log.warning("imitation", agent=call.agent, tool=printable(call.tool, 80), mark=error.mark)
        return Came(reported(here, scope_of(call), answer.imitating(call.tool, str(error))))
    return Came(answer.read(call.tool, heard.value, heard.error), heard)


def _turn(here: Hall, call: Call) -> AbstractAsyncContextManager[None]:
    """A read's turn among those of its agent, each of which may be a process; others have none."""
    tool = here.catalog.tools.get(call.tool)
    return here.reading[call.agent] if tool and tool.effect == "read" else nullcontext()


def held(here: Hall, proposal: Proposal) -> dict[str, Any]:
    """What an agent is told of a call that was held.

    Applied after people approved it, or told as applied before, it is a repeat. A preview that
    waits for its token gets one, and nobody is told it twice.
    """
    told = proposal.asks or here.store.told_applied(proposal.id)
    before = proposal.state is State.APPLIED and told
    fresh = token_for(here.ports, proposal)
    return answer.answer(proposal, already_applied=before, token=fresh)


async def shown(here: Hall, id_: str, seconds: float) -> Proposal:
    """Wait until there is something to tell of a proposal, or until the time is over.

    Its page stands, or there will be none; where nobody is asked, it is planned, or has run.
    """
    end = asyncio.get_running_loop().time() + seconds
    while True:
        found = here.store.proposal(id_)
        if found is None:
            raise LookupError(f"there is no proposal {id_}")
        waits = found.state in (_OPENING if found.asks else _RUNNING) and found.reason is None
        if not waits or asyncio.get_running_loop().time() >= end:
            return found
        await asyncio.sleep(_LOOK)
