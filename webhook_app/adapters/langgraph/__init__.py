"""Placet for agents that are LangGraph graphs; needs the extra `langgraph`.

    async with AsyncPlacet(url, token) as placet:
        graph = agent(model, placet).compile(checkpointer=saver)
        told = await graph.ainvoke({"messages": [HumanMessage("Enter Ann.")]}, config)
        if waits := told.get("__interrupt__"):
            ...  # later, whenever a person has decided, or not
            told = await graph.ainvoke(Command(resume="look again"), config)

With `Placet` in place of `AsyncPlacet` the same graph is for `invoke` and `stream`.

All calls of an answer are one node's: it proposes every gated one first, interrupts once, and then
tells what the store says, whatever the resume value is. So decisions cannot reach the wrong call
(langgraph#6533, #6626, #6542), a node that is run again proposes nothing twice and runs nothing
(#6208, #6577), and a checkpoint that is resumed again finds the receipt (#6663): who decides, and
what was run, is never in the graph's own state.
"""

from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

from webhook_app.client import AsyncPlacet, Placet

from .messages import calls
from .turns import DirectTurns, Turned, Turns

__all__ = ["DirectTurns", "Turned", "Turns", "agent", "asks"]


def agent(model: BaseChatModel, placet: Placet | AsyncPlacet) -> StateGraph[Turned]:
    """Build the whole agent: a turn's begin, the model, its tools, the guard, the turn's end.

    With `Placet` its nodes wait, with `AsyncPlacet` they are awaited.
    """
    turns: Turns | DirectTurns
    if isinstance(placet, Placet):
        turns = DirectTurns(placet)
        answer = _answering(model, turns)
    else:
        turns = Turns(placet)
        answer = _awaiting(model, turns)
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
    return bool(calls(state["messages"][-1]))


def _corrected(state: Turned) -> bool:
    return state["corrected"]


def _answering(model: BaseChatModel, turns: DirectTurns) -> Callable[..., Any]:
    def answer(state: Turned, config: RunnableConfig) -> dict[str, Any]:
        bound = model.bind_tools(turns.offers(config))
        return {"messages": [bound.invoke(state["messages"], config)]}

    return answer


def _awaiting(model: BaseChatModel, turns: Turns) -> Callable[..., Any]:
    async def answer(state: Turned, config: RunnableConfig) -> dict[str, Any]:
        bound = model.bind_tools(await turns.offers(config))
        return {"messages": [await bound.ainvoke(state["messages"], config)]}

    return answer
