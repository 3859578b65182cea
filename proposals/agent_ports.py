"""What an agent's loop needs from outside: a model, tools behind the gate with facts, a guard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .transcript import Message, Result, Use


class ModelFailed(Exception):
    """The model gave no answer, or none that can be read; nothing was called for it."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as a model is told of it: its name on the wire, what it does, its JSON Schema."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a model. Which tool it calls, or none, is always its own choice."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Offer, ...]
    tool_choice: Literal["auto"] = "auto"


class Model(Protocol):
    """A language model, whoever provides it."""

    async def reply(self, prompt: Prompt) -> Message:
        """Answer with an assistant's message; ModelFailed when there is none."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the store knows right now: the turn's report, its text form, the <pending> block."""

    report: Mapping[str, Any]
    text: str
    pending: str


class Calls(Protocol):
    """The tools behind the gate, and the facts of the turn. Each call is a transaction of its own.

    Nothing here raises what the loop would have to understand: a call that goes wrong is a result.
    """

    async def begin(self) -> Facts:
        """Close the turn before and open one; the facts are about the one before."""

    async def tools(self) -> Sequence[Offer]:
        """What may be called."""

    async def call(self, use: Use) -> Result:
        """Make one call, however it comes out; its result says so."""

    async def facts(self) -> Facts:
        """Read the facts of the turn, from the store."""

    async def end(self) -> Facts:
        """Close the turn; its last facts."""


class Guard(Protocol):
    """Looks at the end of a turn, at facts and never at words."""

    async def correction(self) -> str | None:
        """What to tell the model before the turn may end, or None to let it end."""
