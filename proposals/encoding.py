"""Prompts and answers as the two families of model interfaces write them. Pure.

Both are strict about calls: Anthropic wants every result first in the very next message, those
who follow OpenAI want a message per result before anything else is said.
"""

from collections.abc import Mapping
from typing import Any

from .agent_ports import ModelFailed, Prompt
from .canonical import NotCanonical, canonical, loads
from .transcript import Block, Message, Result, Said, Use

_CUT = "The answer was cut off before the call was complete. Make it again, shorter."


def to_anthropic(prompt: Prompt, model: str, max_tokens: int) -> dict[str, Any]:
    """Write the body of POST /v1/messages."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": [
            {"role": m.role, "content": [_anthropic(b) for b in _results_first(m)]}
            for m in prompt.messages
        ],
    }
    if prompt.system:
        body["system"] = prompt.system
    if prompt.tools:
        body["tool_choice"] = {"type": prompt.tool_choice}
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.schema)}
            for t in prompt.tools
        ]
    return body


def to_openai(prompt: Prompt, model: str) -> dict[str, Any]:
    """Write the body of POST /v1/chat/completions."""
    messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
    body: dict[str, Any] = {
        "model": model,
        "messages": messages + [m for message in prompt.messages for m in _openai(message)],
    }
    if prompt.tools:
        body["tool_choice"] = prompt.tool_choice
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": t.name,
                    "description": t.description,
                    "parameters": dict(t.schema),
                },
            }
            for t in prompt.tools
        ]
    return body


def from_anthropic(body: Any) -> Message:
    """Read an answer of /v1/messages; ModelFailed when it is none."""
    try:
        cut = _CUT if body["stop_reason"] == "max_tokens" else ""
        blocks = [_said_or_use(block, cut) for block in body["content"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelFailed(f"the answer is not one of /v1/messages: {error!r}") from None
    return Message("assistant", tuple(b for b in blocks if b is not None))


def from_openai(body: Any) -> Message:
    """Read an answer of /v1/chat/completions; ModelFailed when it is none."""
    try:
        [choice] = body["choices"]
        cut = _CUT if choice["finish_reason"] == "length" else ""
        message = choice["message"]
        said: list[Block] = [Said(message["content"])] if message.get("content") else []
        uses = [
            _use(c["id"], c["function"]["name"], c["function"]["arguments"], cut)
            for c in message.get("tool_calls") or ()
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFailed(f"the answer is not one of /v1/chat/completions: {error!r}") from None
    return Message("assistant", (*said, *uses))


def _results_first(message: Message) -> list[Block]:
    """The blocks that may be sent: results before words, and no empty words."""
    told = [b for b in message.blocks if not isinstance(b, Said) or b.text.strip()]
    return sorted(told, key=lambda block: not isinstance(block, Result))


def _anthropic(block: Block) -> dict[str, Any]:
    match block:
        case Said(text):
            return {"type": "text", "text": text}
        case Use(id_, tool, arguments):
            return {"type": "tool_use", "id": id_, "name": tool, "input": dict(arguments)}
        case Result(use, text, failure):
            told = {"type": "tool_result", "tool_use_id": use, "content": text}
            return told | {"is_error": bool(failure)}


def _openai(message: Message) -> list[dict[str, Any]]:
    """One message of ours: a message of role `tool` for each result, then what was said."""
    if message.role == "assistant":
        told: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        return [told | ({"tool_calls": [_call(u) for u in message.uses]} if message.uses else {})]
    results = [
        {"role": "tool", "tool_call_id": b.use, "content": b.text}
        for b in message.blocks
        if isinstance(b, Result)
    ]
    return results + ([{"role": "user", "content": message.text}] if message.text else [])


def _call(use: Use) -> dict[str, Any]:
    arguments = canonical(dict(use.arguments)).decode()
    return {
        "id": use.id,
        "type": "function",
        "function": {"name": use.tool, "arguments": arguments},
    }


def _said_or_use(block: Mapping[str, Any], cut: str) -> Block | None:
    """A block of an answer; kinds that we did not ask for are left out."""
    if block["type"] == "text":
        return Said(str(block["text"]))
    if block["type"] == "tool_use":
        return _use(block["id"], block["name"], _written(block["input"]), cut)
    return None


def _written(value: Any) -> str:
    """A JSON value as text; what has no exact form is left to the reading to refuse."""
    try:
        return canonical(value).decode()
    except NotCanonical:
        return ""


def _use(id_: Any, tool: Any, arguments: Any, cut: str) -> Use:
    """One call; arguments that are no JSON object, or were cut off, are never guessed at."""
    try:
        given = loads(arguments) if isinstance(arguments, str) else None
    except NotCanonical as error:
        return Use(str(id_), str(tool), {}, cut or f"The arguments cannot be read: {error}")
    if cut or not isinstance(given, dict):
        return Use(str(id_), str(tool), {}, cut or "The arguments are not a JSON object.")
    return Use(str(id_), str(tool), given)
