"""A model that says what its script says, and cannot know whether it is true."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from proposals.agent_ports import ModelFailed, Prompt
from proposals.canonical import JSON
from proposals.transcript import Message, Said, Use

Line = str | tuple[str, Mapping[str, JSON]]
"""One answer of the model: words, or a call as (tool, arguments)."""


@dataclass
class Scripted:
    """A model; `steps` are its answers to come, `tell` hears each as it gives it."""

    tell: Callable[[str], None]
    steps: list[Line] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)

    def will(self, steps: Iterable[Line]) -> None:
        """Give it its script for a turn."""
        self.steps = list(steps)

    async def reply(self, prompt: Prompt) -> Message:
        """Answer the next thing; ModelFailed when the script is over."""
        self.prompts.append(prompt)
        if not self.steps:
            raise ModelFailed("the script is over")
        line = self.steps.pop(0)
        if isinstance(line, str):
            return Message("assistant", (Said(line),))
        tool, arguments = line
        self.tell(f"the model calls {tool} {dict(arguments)}")
        return Message("assistant", (Use("call_0", tool, arguments),))
