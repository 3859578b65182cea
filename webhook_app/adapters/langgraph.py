"""Placet for agents that are LangGraph graphs; needs the extra `langgraph`.

    async with AsyncPlacet(url, token) as placet:
        graph = agent(model, placet).compile(checkpointer=saver)
        told = await graph.ainvoke({"messages": [HumanMessage("Enter Ann.")]}, config)
        if waits := told.get("__interrupt__"):
            ...  # later, whenever a person has decided, or not
            told = await graph.ainvoke(Command(resume="look again"), config)

All calls of an answer are one node's: it proposes every gated one first, interrupts once, and then
tells what the store says, whatever the resume value is. So decisions cannot reach the wrong call
(langgraph#6533, #6626, #6542), a node that is run again proposes nothing twice and runs nothing
(#6208, #6577), and a checkpoint that is resumed again finds the receipt (#6663): who decides, and
what was run, is never in the graph's own state.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.func import task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from proposals.agent_ports import Facts, Offer
from proposals.answer import denied
from proposals.canonical import JSON, NotCanonical, canonical, digest
from proposals.transcript import Use
from webhook_app.client import AsyncPlacet

from .desk import Desk, result

WAITING = frozenset({"planning", "pinned", "awaiting_approval"})
_SAY = "People were asked. Resume when they have decided, or to tell the model how it stands."
_UNREADABLE = "unreadable_arguments"


class Turned(MessagesState):
    """A graph's state: its messages, the last report, and whether the guard has asked."""

    report: dict[str, Any]
    corrected: bool


class Asked(TypedDict):
    """A call of the model as the nodes hand it on; `problem` says why it cannot be read."""

    id: str
    tool: str
    arguments: dict[str, Any]
    problem: str


class Turns:
    """The nodes: begin a turn, call its tools, guard its end, end it. A thread is a session."""

    def __init__(self, placet: AsyncPlacet) -> None:
        self._placet = placet
        # A task's result is in the checkpoint: a node that is run again does not call again.
        self._proposed = task(self._propose)

    async def begin(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:  # noqa: ARG002
        """Open the turn; the model reads what became of everything since the one before."""
        return _told(await self._desk(config).begin()) | {"corrected": False}

    async def offers(self, config: RunnableConfig) -> list[dict[str, Any]]:
        """List the tools, as a chat model's `bind_tools` takes them."""
        return [_offered(offer) for offer in await self._desk(config).tools()]

    async def tools(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Make every call of the model's last answer; then the facts, in one message after them.

        Gated calls are proposed before anything else; the interrupt comes once, and only when one
        of them waits. Reads are done after it, so that they are done once and are not old.
        """
        desk, last = self._desk(config), state["messages"][-1]
        calls = _calls(last)
        held = await self._proposed(_session(config), str(last.id), calls)
        if waiting := [said for said in held if said and said["status"] in WAITING]:
            interrupt({"schema": "placet.interrupt/v1", "say": _SAY, "calls": waiting})
            held = [await desk.look(said) if _moves(said) else said for said in held]
        told = [
            _result(call, said or await _made(desk, call))
            for call, said in zip(calls, held, strict=True)
        ]
        facts = await desk.facts()
        return {"messages": [*told, HumanMessage(_words(facts))], "report": dict(facts.report)}

    async def guard(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:
        """Ask at the end of a turn, once, whether a draft was forgotten; from facts, not words."""
        desk = self._desk(config)
        words = None if state.get("corrected") else await desk.correction()
        if not words:
            return {"corrected": False}
        facts = await desk.facts()
        asked = HumanMessage(f"{words}\n\n{_words(facts)}")
        return {"messages": [asked], "corrected": True, "report": dict(facts.report)}

    async def end(self, state: Turned, config: RunnableConfig) -> dict[str, Any]:  # noqa: ARG002
        """Close the turn; its report is the state's `report`."""
        return {"report": dict((await self._desk(config).end()).report)}

    def _desk(self, config: RunnableConfig) -> Desk:
        return Desk(self._placet.within(_session(config)))

    async def _propose(
        self, session: str, message: str, calls: Sequence[Asked]
    ) -> list[dict[str, Any] | None]:
        """Propose each gated call under a key of its own; None for what is not gated."""
        desk = Desk(self._placet.within(session))
        held: list[dict[str, Any] | None] = []
        for position, call in enumerate(calls):
            if call["problem"] or not await desk.gated(call["tool"]):
                held.append(None)
                continue
            key = _key([session, message, position, call["tool"], call["arguments"]])
            held.append(await desk.ask(_use(call), key))
        return held


def agent(model: BaseChatModel, placet: AsyncPlacet) -> StateGraph[Turned]:
    """Build the whole agent: a turn's begin, the model, its tools, the guard, the turn's end."""
    turns = Turns(placet)

    async def answer(state: Turned, config: RunnableConfig) -> dict[str, Any]:
        bound = model.bind_tools(await turns.offers(config))
        return {"messages": [await bound.ainvoke(state["messages"], config)]}

    graph = StateGraph(Turned)
    graph.add_node("begin", turns.begin)
    graph.add_node("model", answer)
    graph.add_node("tools", turns.tools)
    graph.add_node("guard", turns.guard)
    graph.add_node("end", turns.end)
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "model")
    graph.add_conditional_edges("model", asks, {True: "tools", False: "guard"})
    graph.add_edge("tools", "model")
    graph.add_conditional_edges("guard", _corrected, {True: "model", False: "end"})
    graph.add_edge("end", END)
    return graph


def asks(state: Turned) -> bool:
    """Whether the model's last answer has calls in it, for a graph's edges."""
    return bool(_calls(state["messages"][-1]))


def _corrected(state: Turned) -> bool:
    return state["corrected"]


def _moves(said: Mapping[str, Any] | None) -> bool:
    """Whether time may have changed an answer; a preview keeps the one that its token came with."""
    return said is not None and said["status"] in {*WAITING, "started"}


def _calls(message: AnyMessage) -> list[Asked]:
    if not isinstance(message, AIMessage):
        return []
    bad = [
        Asked(id=c["id"] or "", tool=c["name"] or "", arguments={}, problem="They are no JSON.")
        for c in message.invalid_tool_calls
    ]
    return [_asked(call) for call in message.tool_calls] + bad


def _asked(call: ToolCall) -> Asked:
    asked = Asked(id=call["id"] or "", tool=call["name"], arguments=call["args"], problem="")
    try:
        canonical(call["args"])
    except NotCanonical as error:
        return asked | {"arguments": {}, "problem": str(error)}
    return asked


def _key(said: JSON) -> str:
    """One key for one call: a node that is run again says the same, an edited call does not."""
    return "langgraph-" + digest(said).removeprefix("sha256:")


def _session(config: RunnableConfig) -> str:
    """A thread's session, by a name that every header holds."""
    thread = str(config.get("configurable", {}).get("thread_id", ""))
    return "langgraph-" + digest(thread).removeprefix("sha256:")[:32]


def _use(call: Asked) -> Use:
    return Use(call["id"], call["tool"], call["arguments"])


async def _made(desk: Desk, call: Asked) -> dict[str, Any]:
    if call["problem"]:
        return denied(call["tool"], _UNREADABLE, f"The arguments: {call['problem']}")
    return await desk.ask(_use(call))


def _result(call: Asked, said: Mapping[str, Any]) -> ToolMessage:
    made = result(_use(call), said)
    status = "error" if made.failure else "success"
    return ToolMessage(made.text, tool_call_id=call["id"], name=call["tool"], status=status)


def _told(facts: Facts) -> dict[str, Any]:
    return {"messages": [HumanMessage(_words(facts))], "report": dict(facts.report)}


def _words(facts: Facts) -> str:
    return f"{facts.text}\n{facts.pending}"


def _offered(offer: Offer) -> dict[str, Any]:
    said = {"name": offer.name, "description": offer.description, "parameters": dict(offer.schema)}
    return {"type": "function", "function": said}
