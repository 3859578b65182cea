"""The agent's one loop: a model, its calls, and after each round the facts in the same message.

It knows ports only. It ends at one place, for one of five reasons, and what it hands back is what
the user saw: nothing that was said is ever taken back.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from .agent_ports import Calls, Facts, Guard, Model, ModelFailed, Offer, Prompt
from .transcript import Exchange, Message, Result, Said, Transcript, Use

UNREADABLE = "unreadable_arguments"
"""The failure of a call whose arguments are no JSON object, or were cut off."""


class Stop(StrEnum):
    """Why a turn ended."""

    DONE = "done"
    ROUNDS = "too_many_rounds"
    REPEATED = "failed_the_same_way"
    TIME = "out_of_time"
    MODEL = "no_answer"


_NOTICES = {
    Stop.ROUNDS: "I stopped after {limits.rounds} rounds.",
    Stop.REPEATED: "I stopped: a tool failed the same way {limits.failures} times.",
    Stop.TIME: "I stopped: the turn took longer than {limits.seconds:g} s.",
    Stop.MODEL: "I stopped: the model gave no answer.",
    Stop.DONE: "The model ended the turn without a word.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a turn ends by itself; `characters` is the size at which old turns are folded."""

    rounds: int = 25
    failures: int = 3
    seconds: float = 300.0
    characters: int = 200_000


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that is over: what the user saw, why it ended, its report, and the transcript."""

    reply: str
    stop: Stop
    report: Mapping[str, Any]
    transcript: Transcript


@dataclass(slots=True)
class _Work:
    """A turn while it runs."""

    before: Transcript
    words: str
    tools: tuple[Offer, ...]
    deadline: float
    messages: list[Message]
    said: list[str] = field(default_factory=list)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    rounds: int = 0
    uses: int = 0
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """An agent; `clock` counts seconds, `say` shows words to the user as they come."""

    model: Model
    calls: Calls
    guard: Guard
    clock: Callable[[], float]
    say: Callable[[str], None]
    system: str = ""
    limits: Limits = Limits()

    async def turn(self, transcript: Transcript, words: str) -> Ended:
        """Answer what the user said; the only way in, and its last lines the only way out."""
        work = await self._begun(transcript, words)
        stop = None
        while stop is None:
            stop = await self._round(work)
        if work.messages[-1].role == "user":  # nobody has answered it
            self._tell(work, _NOTICES[stop].format(limits=self.limits))
        facts = await self.calls.end()
        reply = "\n\n".join(work.said)
        done = Exchange(tuple(work.messages), words, reply, _changes(facts))
        kept = transcript.ended(done).compacted(self.limits.characters)
        return Ended(reply, stop, facts.report, kept)

    async def _begun(self, transcript: Transcript, words: str) -> _Work:
        facts = await self.calls.begin()
        asked = Message("user", (Said(words), *_told(facts)))
        tools = tuple(await self.calls.tools())
        deadline = self.clock() + self.limits.seconds
        return _Work(transcript, words, tools, deadline, [asked], uses=transcript.uses)

    async def _round(self, work: _Work) -> Stop | None:
        if work.rounds >= self.limits.rounds:
            return Stop.ROUNDS
        if self.clock() >= work.deadline:
            return Stop.TIME
        work.rounds += 1
        try:
            answer = await self._answer(work)
        except TimeoutError:
            return Stop.TIME
        except ModelFailed:
            return Stop.MODEL
        if answer.blocks:
            work.messages.append(answer)
        if answer.text.strip():
            work.said.append(answer.text)
            self.say(answer.text)
        if answer.uses:
            return await self._called(work, answer.uses)
        return await self._checked(work)

    async def _answer(self, work: _Work) -> Message:
        prompt = Prompt(self.system, work.before.messages(tuple(work.messages)), work.tools)
        async with asyncio.timeout(max(0.0, work.deadline - self.clock())):
            answer = await self.model.reply(prompt)
        return Message("assistant", tuple(self._numbered(work, answer)))

    @staticmethod
    def _numbered(work: _Work, answer: Message) -> list[Said | Use]:
        """The answer's words and calls, each call under an id of our own: models repeat theirs."""
        blocks: list[Said | Use] = []
        for block in answer.blocks:
            if isinstance(block, Use):
                work.uses += 1
                blocks.append(replace(block, id=f"call_{work.uses}"))
            elif isinstance(block, Said) and block.text.strip():
                blocks.append(block)
        return blocks

    async def _called(self, work: _Work, uses: tuple[Use, ...]) -> Stop | None:
        """Make the calls of one answer in order; each has its result, and then come the facts."""
        results = [await self._result(use) for use in uses]
        # A model learns of a failure after the round: the same one twice in a round counts once.
        failed = {(u.tool, r.failure) for u, r in zip(uses, results, strict=True) if r.failure}
        work.failures.update(failed)
        work.messages.append(Message("user", (*results, *_told(await self.calls.facts()))))
        worst = max(work.failures.values(), default=0)
        return Stop.REPEATED if worst >= self.limits.failures else None

    async def _result(self, use: Use) -> Result:
        if use.problem:
            told = json.dumps({"error": {"code": UNREADABLE, "message": use.problem}})
            return Result(use.id, told, UNREADABLE)
        return replace(await self.calls.call(use), use=use.id)

    async def _checked(self, work: _Work) -> Stop | None:
        """Let the turn end, unless the guard has something to ask: once a turn at most."""
        if work.corrected or work.messages[-1].role == "user":
            return Stop.DONE
        words = await self.guard.correction()
        if not words:
            return Stop.DONE
        work.corrected = True
        work.messages.append(Message("user", (Said(words), *_told(await self.calls.facts()))))
        return None

    def _tell(self, work: _Work, notice: str) -> None:
        work.said.append(notice)
        work.messages.append(Message("assistant", (Said(notice),)))
        self.say(notice)


def _told(facts: Facts) -> tuple[Said, Said]:
    return Said(facts.text), Said(facts.pending)


def _changes(facts: Facts) -> tuple[str, ...]:
    return tuple(f"{e['tool']} ({e['proposal']}) {e['status']}" for e in facts.report["entries"])
