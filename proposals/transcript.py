"""What an agent and its model have said to each other: a flat list of messages, replayed whole.

Tool calls and their results are blocks of their own, never prose about them. Turns that are old are
folded whole, by code and from facts: no call is ever parted from its result. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .canonical import JSON
from .words import line

KEPT_LINES = 40
"""Folded turns that keep a line; older ones are only counted."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words of one side."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A call the model makes; `problem` says why its arguments could not be read."""

    id: str
    tool: str
    arguments: Mapping[str, JSON]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came back with, as JSON text; `failure` is a stable code when it failed."""

    use: str
    text: str
    failure: str = ""


Block = Said | Use | Result


@dataclass(frozen=True, slots=True)
class Message:
    """One message; of the user's, results come first, and what Placet says about them after."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]

    @property
    def uses(self) -> tuple[Use, ...]:
        """The calls in it."""
        return tuple(b for b in self.blocks if isinstance(b, Use))

    @property
    def text(self) -> str:
        """The words in it."""
        return "\n".join(b.text for b in self.blocks if isinstance(b, Said))

    @property
    def size(self) -> int:
        """About how many characters it is."""
        return sum(len(str(block)) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One whole turn: every message, what the user said and was told, and its facts at its end."""

    messages: tuple[Message, ...]
    words: str
    reply: str
    facts: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """About how many characters it is."""
        return sum(m.size for m in self.messages)

    def folded(self) -> str:
        """The turn in one line, its facts from the store and not from what anybody said."""
        facts = "; ".join(line(f, 120) for f in self.facts) or "nothing changed"
        return f"- user: {line(self.words, 120)} | you: {line(self.reply, 120)} | facts: {facts}"


@dataclass(frozen=True, slots=True)
class Transcript:
    """All turns that are over: the newest with every block, the older ones `folded` to a line.

    `dropped` counts those of which not even a line is left, `uses` all calls ever made.
    """

    turns: tuple[Exchange, ...] = ()
    folded: tuple[str, ...] = ()
    dropped: int = 0
    uses: int = 0
    foldings: int = 0

    def messages(self, current: tuple[Message, ...] = ()) -> tuple[Message, ...]:
        """Everything for the model, flat, oldest first; what is folded opens the first message."""
        flat = tuple(m for turn in self.turns for m in turn.messages) + current
        if not self.folded or not flat:
            return flat
        first = replace(flat[0], blocks=(Said(self._earlier()), *flat[0].blocks))
        return (first, *flat[1:])

    def ended(self, turn: Exchange) -> "Transcript":
        """The transcript with one more turn."""
        uses = self.uses + sum(len(m.uses) for m in turn.messages)
        return replace(self, turns=(*self.turns, turn), uses=uses)

    def compacted(self, budget: int) -> "Transcript":
        """Fold the oldest turns, whole, to half the budget of characters when it is passed.

        The newest turn stays as it is, however large it is.
        """
        sizes = [turn.size for turn in self.turns]
        if sum(sizes) <= budget:
            return self
        keep = len(sizes) - 1
        while keep > 0 and sum(sizes[keep - 1 :]) <= budget // 2:
            keep -= 1
        if keep <= 0:
            return self
        lines = (*self.folded, *(turn.folded() for turn in self.turns[:keep]))
        left = max(0, len(lines) - KEPT_LINES)
        return replace(
            self,
            turns=self.turns[keep:],
            folded=lines[left:],
            dropped=self.dropped + left,
            foldings=self.foldings + 1,
        )

    def _earlier(self) -> str:
        more = f" ({self.dropped} older turns are not listed)" if self.dropped else ""
        return "\n".join((f"Earlier turns, a line each{more}:", *self.folded))
