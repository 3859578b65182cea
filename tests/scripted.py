"""Model providers that follow a script, as strict about a request as the real ones are.

Each request goes through the product's encoders, is refused where the real interface would refuse
it, and is answered in that interface's own shape.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proposals.agent_ports import ModelFailed, Prompt
from proposals.encoding import from_anthropic, from_openai, to_anthropic, to_openai
from proposals.transcript import Message, Result, Said

Step = Sequence[str | tuple[str, dict[str, Any]]] | Callable[[Prompt], Any] | Exception
"""An answer: words, and calls as (tool, arguments); or a function of the prompt that gives one."""


@dataclass
class Provider:
    """One of the two families; `asked` are the bodies that it was sent, `prompts` as we made them.

    Like weak local models it calls every call by the same few ids.
    """

    family: Literal["anthropic", "openai"]
    steps: list[Step]
    asked: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)

    async def reply(self, prompt: Prompt) -> Message:
        self.prompts.append(prompt)
        if self.family == "anthropic":
            self.asked.append(json.loads(json.dumps(to_anthropic(prompt, "m", 1000))))
            refuse_as_anthropic(self.asked[-1])
            return from_anthropic(anthropic_answer(await self._next(prompt)))
        self.asked.append(json.loads(json.dumps(to_openai(prompt, "m"))))
        refuse_as_openai(self.asked[-1])
        return from_openai(openai_answer(await self._next(prompt)))

    async def _next(self, prompt: Prompt) -> Sequence[Any]:
        if not self.steps:
            raise ModelFailed("the script is over")
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        found = step(prompt) if callable(step) else step
        return found if isinstance(found, Sequence) else await found


def anthropic_answer(step: Sequence[Any], stop: str = "end_turn") -> dict[str, Any]:
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "tool_use", "id": f"toolu_{n}", "name": part[0], "input": part[1]}
        for n, part in enumerate(step)
    ]
    return {"role": "assistant", "stop_reason": stop, "content": content}


def openai_answer(step: Sequence[Any], stop: str = "stop") -> dict[str, Any]:
    calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": part[0], "arguments": json.dumps(part[1])},
        }
        for n, part in enumerate(step)
        if not isinstance(part, str)
    ]
    said = "\n".join(part for part in step if isinstance(part, str))
    message = {"role": "assistant", "content": said or None, "tool_calls": calls}
    return {"choices": [{"finish_reason": stop, "message": message}]}


def refuse_as_anthropic(body: dict[str, Any]) -> None:
    """Every tool_use is answered, first thing, in the very next message; nothing is empty."""
    messages = body["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    assert body["tool_choice"] == {"type": "auto"}
    open_: list[str] = []
    seen: list[str] = []
    for message in messages:
        kinds = [block["type"] for block in message["content"]]
        assert kinds, "messages: content is empty"
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert results == open_, "tool_use ids without tool_result blocks immediately after"
        assert "tool_result" not in kinds[len(results) :], "tool_result blocks come first"
        assert all(b["text"].strip() for b in message["content"] if b["type"] == "text")
        open_ = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        assert message["role"] == "assistant" or not open_
        seen += open_
    assert len(seen) == len(set(seen)), "tool_use ids must be unique"


def refuse_as_openai(body: dict[str, Any]) -> None:
    """After tool_calls come their tool messages, all of them and nothing in between."""
    assert body["tool_choice"] == "auto"
    open_: list[str] = []
    seen: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_.pop(0), "tool message out of order"
            continue
        assert not open_, "tool_calls must be followed by tool messages"
        assert message["content"] or message.get("tool_calls")
        open_ = [call["id"] for call in message.get("tool_calls", [])]
        seen += open_
    assert not open_
    assert len(seen) == len(set(seen))


def results(message: Message) -> list[dict[str, Any]]:
    """What the calls before a message came back with."""
    return [json.loads(b.text) for b in message.blocks if isinstance(b, Result)]


def words(message: Message) -> list[str]:
    return [b.text for b in message.blocks if isinstance(b, Said)]
