"""The nodes of a LangGraph graph that keep a turn's facts, awaited or not; a thread is a session.

What they do is written once. Where nothing can be awaited, the same coroutines run over a client
whose answers are there at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.func import task
from langgraph.graph import MessagesState
from langgraph.types import interrupt

from proposals.answer import denied
from proposals.canonical import JSON, digest
from webhook_app.adapters.desk import Desk
from webhook_app.client import Awaited, Placet, Presently, at_once

from .messages import Asked, answered, calls, offered, told, use

WAITING = frozenset({"planning", "pinned", "awaiting_approval"})
_SAY = "People were asked. Resume when they have decided, or to tell the model how it stands."
_UNREADABLE = "unreadable_arguments"
_FINE = {"corrected": False}
_Held = list[dict[str, Any] | None]


class Turned(MessagesState):
    """A graph's state: its messages, the last report, and whether the guard has asked."""

    report: dict[str, Any]
    corrected: bool


class Turns:
    """The nodes: begin a turn, call its tools, guard its end, end it."""

    def __init__(self, placet: Awaited) -> None:
        self._placet = placet
        # A task's result is in the checkpoint: a node that is run again does not call again.
        self._task = task(self._propose)

    async def begin(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:  # noqa: ARG002
        """Open the turn; the model reads what became of everything since the one before."""
        return told(await self._desk(_session(config)).begin()) | {"corrected": False}

    async def offers(self, config: RunnableConfig) -> list[dict[str, Any]]:
        """List the tools, as a chat model's `bind_tools` takes them."""
        return [offered(offer) for offer in await self._desk(_session(config)).tools()]

    async def tools(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Make every call of the model's last answer; then the facts, in one message after them.

        Gated calls are proposed before anything else; the interrupt comes once, and only when one
        of them waits. Reads are done after it, so that they are done once and are not old.
        """
        session, last = _session(config), state["messages"][-1]
        desk, made = self._desk(session), calls(last)
        held = await self._proposed(session, str(last.id), made)
        if waiting := [said for said in held if said and said["status"] in WAITING]:
            interrupt({"schema": "placet.interrupt/v1", "say": _SAY, "calls": waiting})
            held = [await desk.look(said) if said and _moves(said) else said for said in held]
        results = [
            answered(call, said or await _made(desk, call))
            for call, said in zip(made, held, strict=True)
        ]
        facts = told(await desk.facts())
        return facts | {"messages": [*results, *facts["messages"]]}

    async def guard(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Ask at the end of a turn, once, whether a draft was forgotten; from facts, not words."""
        desk = self._desk(_session(config))
        words = None if state.get("corrected") else await desk.correction()
        return told(await desk.facts(), words) | {"corrected": True} if words else _FINE

    async def end(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:  # noqa: ARG002
        """Close the turn; its report is the state's `report`."""
        return {"report": dict((await self._desk(_session(config)).end()).report)}

    def _desk(self, session: str) -> Desk:
        return Desk(self._placet.within(session))

    async def _proposed(self, session: str, message: str, made: Sequence[Asked]) -> _Held:
        held: _Held = await self._task(session, message, made)
        return held

    async def _propose(self, session: str, message: str, made: Sequence[Asked]) -> _Held:
        """Propose each gated call under a key of its own; None for what is not gated."""
        desk, held = self._desk(session), _Held()
        for position, call in enumerate(made):
            if call["problem"] or not await desk.gated(call["tool"]):
                held.append(None)
                continue
            key = _key([session, message, position, call["tool"], call["arguments"]])
            held.append(await desk.ask(use(call), key))
        return held


class _Presently(Turns):
    """The same, where nothing can be awaited."""

    def __init__(self, placet: Placet) -> None:
        super().__init__(Presently(placet))
        self._now = task(self._propose_now)

    async def _proposed(self, session: str, message: str, made: Sequence[Asked]) -> _Held:
        return self._now(session, message, made).result()

    def _propose_now(self, session: str, message: str, made: Sequence[Asked]) -> _Held:
        return at_once(self._propose(session, message, made))


class DirectTurns:
    """`Turns` for graphs that are invoked and not awaited: the same nodes, as plain functions."""

    def __init__(self, placet: Placet) -> None:
        self._turns = _Presently(placet)

    def begin(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Open the turn; the model reads what became of everything since the one before."""
        return at_once(self._turns.begin(state, config))

    def offers(self, config: RunnableConfig) -> list[dict[str, Any]]:
        """List the tools, as a chat model's `bind_tools` takes them."""
        return at_once(self._turns.offers(config))

    def tools(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Make every call of the model's last answer, as `Turns.tools` does."""
        return at_once(self._turns.tools(state, config))

    def guard(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Ask at the end of a turn, once, whether a draft was forgotten; from facts, not words."""
        return at_once(self._turns.guard(state, config))

    def end(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Close the turn; its report is the state's `report`."""
        return at_once(self._turns.end(state, config))


def _moves(said: Mapping[str, Any]) -> bool:
    """Whether time may have changed an answer; a preview keeps the one that its token came with."""
    return said["status"] in {*WAITING, "started"}


def _key(said: JSON) -> str:
    """One key for one call: a node that is run again says the same, an edited call does not."""
    return "langgraph-" + digest(said).removeprefix("sha256:")


def _session(config: RunnableConfig) -> str:
    """A thread's session, by a name that every header holds."""
    thread = str(config.get("configurable", {}).get("thread_id", ""))
    return "langgraph-" + digest(thread).removeprefix("sha256:")[:32]


async def _made(desk: Desk, call: Asked) -> dict[str, Any]:
    if call["problem"]:
        return denied(call["tool"], _UNREADABLE, f"The arguments: {call['problem']}")
    return await desk.ask(use(call))
