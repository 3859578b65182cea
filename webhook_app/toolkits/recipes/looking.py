"""Reading the world by a recipe: what is there, what is not, and what nobody can tell.

Only an error that the read's declaration knows means "it is not there"; any other proves nothing.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from proposals.canonical import JSON, MISSING, NotCanonical, check, digest, pointer_get, same
from proposals.tools import BadArguments, Tool, UnknownTool, printable
from proposals.tools.recipe import Fact, Look
from proposals.tools.references import Unfilled, filled
from proposals.upstreams import Heard, Unreached, Unreturned

Find = Callable[[str], Tool]
Read = Callable[[Tool, JSON], Awaitable[Heard]]
World = Mapping[str, JSON]
MAX_ERROR = 4_000  # characters of an error that `absent` is looked for in
MAX_TEXT = 1_000_000  # characters of a text that `drop` is applied to
ABSENT: dict[str, JSON] = {"absent": True}
THERE: dict[str, JSON] = {"exists": True}


@dataclass(frozen=True, slots=True)
class Found:
    """It is there."""

    value: JSON


@dataclass(frozen=True, slots=True)
class Absent:
    """It is not there, as the read itself says."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Nobody can tell, and why, in words that may be shown."""

    why: str


State: TypeAlias = Found | Absent | Unclear
Known: TypeAlias = Found | Absent


@dataclass(frozen=True, slots=True)
class Facts:
    """What a recipe's preconditions were found to be: as read, as pinned, and as values.

    `shown` has, for what is pinned by its hash, that hash; for what is absent, null.
    """

    states: dict[str, State] = field(default_factory=dict)
    pins: dict[str, JSON] = field(default_factory=dict)
    values: dict[str, JSON] = field(default_factory=dict)
    shown: dict[str, JSON] = field(default_factory=dict)

    @property
    def unclear(self) -> str:
        """Why one of them could not be read; empty when all could."""
        return next((s.why for s in self.states.values() if isinstance(s, Unclear)), "")

    def stand_as(self, pins: JSON) -> bool:
        """Whether all that was read is as these pins of an earlier reading say."""
        earlier = pins if isinstance(pins, dict) else {}
        return same(self.pins, {id_: earlier.get(id_) for id_ in self.states})

    def add(self, fact: Fact, state: State) -> None:
        """Take in what was found of one precondition."""
        self.states[fact.id] = state
        if isinstance(state, Unclear):
            return
        self.pins[fact.id] = pinned(fact, state)
        pin = self.pins[fact.id]
        self.shown[fact.id] = shown(pin)
        self.values.update(values({fact.id: pin}))


class Eyes:
    """Calls reads of whatever kind, and nothing else."""

    def __init__(self, find: Find, read: Read) -> None:
        self.find = find
        self.read = read

    async def facts(self, tool: Tool, arguments: JSON) -> Facts:
        """Read all preconditions of a call, one after the other."""
        found = Facts()
        for fact in tool.recipe.pre:
            world: World = {"arguments": arguments, "pre": found.values}
            found.add(fact, await self.look(fact, world))
        return found

    async def look(self, look: Look, world: World) -> State:
        """Read one thing; whatever goes wrong, nobody can tell."""
        try:
            return await self.at(look.tool, filled(look.args, world), look.take)
        except Unfilled as error:
            return Unclear(f"{look.tool}: {printable(str(error))}")

    async def at(self, name: str, arguments: JSON, take: str) -> State:
        """Read one thing with exactly these arguments."""
        try:
            tool = self.find(name)
            return _state(tool, await self.read(tool, arguments), take)
        except (UnknownTool, BadArguments, Unreached, Unreturned) as error:
            return Unclear(f"{name}: {printable(str(error))}")


def pinned(fact: Fact, state: Known) -> JSON:
    """How a precondition stands in a plan: {value}, {sha256}, {absent} or {exists}.

    Of what must not be there before, nothing counts but whether it is there.
    """
    if isinstance(state, Absent):
        return ABSENT
    if fact.require == "absent":
        return THERE
    value = dropped(fact.drop, state.value)
    return {"sha256": digest(value)} if fact.pin == "sha256" else {"value": value}


def values(pins: object) -> dict[str, JSON]:
    """What references to preconditions point into: those that are pinned by their value."""
    listed = pins.items() if isinstance(pins, dict) else ()
    return {i: pin["value"] for i, pin in listed if isinstance(pin, dict) and "value" in pin}


def shown(pin: JSON) -> JSON:
    """A pin as an effect shows it: the value, its hash, or null for what is not there."""
    if not isinstance(pin, dict):
        return None
    return pin.get("value", pin.get("sha256"))


def dropped(pattern: str, value: JSON) -> JSON:
    """The value without what the pattern matches, in every text of it."""
    if not pattern:
        return value
    if isinstance(value, str):
        return re.sub(pattern, "", value[:MAX_TEXT]) + value[MAX_TEXT:]
    if isinstance(value, dict):
        return {key: dropped(pattern, part) for key, part in value.items()}
    if isinstance(value, list):
        return [dropped(pattern, part) for part in value]
    return value


def _state(tool: Tool, heard: Heard, take: str) -> State:
    if heard.error:
        if tool.absent and re.search(tool.absent, heard.error[:MAX_ERROR]):
            return Absent()
        return Unclear(f"{tool.name}: {printable(heard.error)}")
    found = taken(heard.value, take)
    return Unclear(f"{tool.name}: {found.why}") if isinstance(found, Unclear) else found


def taken(value: JSON, take: str) -> Found | Unclear:
    """The part of an answer that counts."""
    found = pointer_get(value, take)
    if found is MISSING:
        return Unclear(f"its answer has nothing at {take}")
    try:
        return Found(check(found))
    except NotCanonical as error:
        return Unclear(f"its answer cannot be read: {error}")
