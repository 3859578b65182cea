"""LangChain's messages and ours: calls as a model made them, and what it is told of them. Pure."""

from collections.abc import Mapping
from typing import Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage

from proposals.agent_ports import Facts, Offer
from proposals.canonical import NotCanonical, canonical
from proposals.transcript import Use
from webhook_app.adapters.desk import result


class Asked(TypedDict):
    """A call of the model as the nodes hand it on; `problem` says why it cannot be read."""

    id: str
    tool: str
    arguments: dict[str, Any]
    problem: str


def calls(message: AnyMessage) -> list[Asked]:
    """Read the calls of a model's answer, in their order; those that are no JSON come last."""
    if not isinstance(message, AIMessage):
        return []
    bad = [
        Asked(id=c["id"] or "", tool=c["name"] or "", arguments={}, problem="They are no JSON.")
        for c in message.invalid_tool_calls
    ]
    return [_asked(call) for call in message.tool_calls] + bad


def use(call: Asked) -> Use:
    """Give a call as our loop has it."""
    return Use(call["id"], call["tool"], call["arguments"])


def answered(call: Asked, said: Mapping[str, Any]) -> ToolMessage:
    """Write what is said of a call as its result."""
    made = result(use(call), said)
    status = "error" if made.failure else "success"
    return ToolMessage(made.text, tool_call_id=call["id"], name=call["tool"], status=status)


def told(facts: Facts, words: str = "") -> dict[str, Any]:
    """Write a turn's facts, after these words, as an update of a graph's state."""
    report = f"{facts.text}\n{facts.pending}"
    text = f"{words}\n\n{report}" if words else report
    return {"messages": [HumanMessage(text)], "report": dict(facts.report)}


def offered(offer: Offer) -> dict[str, Any]:
    """Write a tool as a chat model's `bind_tools` takes it."""
    said = {"name": offer.name, "description": offer.description, "parameters": dict(offer.schema)}
    return {"type": "function", "function": said}


def _asked(call: ToolCall) -> Asked:
    asked = Asked(id=call["id"] or "", tool=call["name"], arguments=call["args"], problem="")
    try:
        canonical(call["args"])
    except NotCanonical as error:
        return asked | {"arguments": {}, "problem": str(error)}
    return asked
