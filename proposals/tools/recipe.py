"""How a tool that others wrote is previewed, applied, verified and undone: its operator's words.

Each part is one table of placet.toml. Values may hold references (see `references`).
"""

import re
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from checks.times import Duration
from proposals.canonical import same

from .references import pointer, written

MAX_PATTERN = 200  # characters of a regular expression
MAX_WITHIN = timedelta(minutes=5)
# A repeat of what ends in a repeat: such a pattern can take for ever on a text of an upstream.
_ENDLESS = re.compile(r"(?:[*+]|\{\d*,\d*\})\??\)(?:[*+]|\{)")


def pattern(text: str) -> str:
    """A regular expression as it is; ValueError for one that is none, too long or may not end."""
    if len(text) > MAX_PATTERN:
        raise ValueError(f"a pattern has at most {MAX_PATTERN} characters")
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!a:.80} is no regular expression: {error}") from None
    if _ENDLESS.search(text):
        raise ValueError(f"{text!a:.80} repeats a repetition, which may take for ever")
    return text


def _within(value: timedelta) -> timedelta:
    if value > MAX_WITHIN:
        raise ValueError("within is at most 5m")
    return value


Pattern = Annotated[str, AfterValidator(pattern)]
Pointer = Annotated[str, AfterValidator(pointer)]
Value = Annotated[Any, AfterValidator(written)]
Values = Annotated[dict[str, Any], AfterValidator(written)]
Id = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")]
Names = Annotated[tuple[str, ...], Field(strict=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Look(_Part):
    """A call of a read; `take` is the place of its answer that counts, everything if empty."""

    tool: str
    args: Values = {}
    take: Pointer = ""


class Fact(Look):
    """What is read before, and pinned: itself or its hash, without what `drop` matches.

    `keep`: it is kept whole, outside of the plan, for the undo. `require`: it must be there, or
    must not.
    """

    id: Id
    pin: Literal["value", "sha256"] = "value"
    keep: bool = False
    drop: Pattern = ""
    require: Literal["exists", "absent"] | None = None


class Check(Look):
    """What is read afterwards, and what it must be; asked again until it is, for `within`."""

    exists: bool | None = None
    equals: Value = None
    differs: Value = None
    within: Annotated[Duration, AfterValidator(_within)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.exists, self.equals, self.differs)) != 1:
            raise ValueError("a verify has one of exists, equals and differs")
        return self


class Flags(_Part):
    """How a call is changed: arguments that are `set`, and ones that are left out (`unset`)."""

    set: Values = {}
    unset: Names = ()

    def only(self, name: str) -> "Flags":
        """What they say of one argument."""
        kept = {k: v for k, v in self.set.items() if k == name}
        return Flags(set=kept, unset=tuple(n for n in self.unset if n == name))


class Preview(Flags):
    """A dry run: the same tool with flags, or a read of its own; `take` of its answer is shown."""

    tool: str | None = None
    args: Values = {}
    take: Pointer = ""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.tool) == bool(self.set or self.unset):
            raise ValueError("a preview has either flags (set, unset) or a tool of its own")
        if self.args and not self.tool:
            raise ValueError("args belong to a preview's own tool; write set")
        return self


class Change(Flags):
    """The one call that changes something: the tool itself with flags, or another tool's."""

    tool: str | None = None
    args: Values = {}

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.tool and (self.set or self.unset):
            raise ValueError("apply has either flags (set, unset) or a tool of its own")
        if self.args and not self.tool:
            raise ValueError("args belong to another tool's call; write set")
        return self


class Undo(_Part):
    """One way back: a call, or the reason why there is none; `when_absent`: only if so before."""

    when_absent: Id | None = None
    tool: str | None = None
    args: Values = {}
    irreversible: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.tool) == bool(self.irreversible) or (self.args and not self.tool):
            raise ValueError("an undo has either a tool with args, or irreversible with the reason")
        return self


class Effect(_Part):
    """One thing that changes, as the operator says."""

    what: Value
    before: Value = None
    after: Value = None


class Cost(_Part):
    """What it spends."""

    amount: Value
    unit: Value


class Recipe(_Part):
    """All of it; `forbid` names arguments that an agent does not set."""

    forbid: Names = ()
    preview: Preview | None = None
    apply: Change = Change()
    pre: Annotated[tuple[Fact, ...], Field(strict=False, max_length=16)] = ()
    effects: Annotated[tuple[Effect, ...], Field(strict=False, max_length=32)] = ()
    cost: Cost | None = None
    verify: Annotated[tuple[Check, ...], Field(strict=False, max_length=16)] = ()
    undo: Annotated[tuple[Undo, ...], Field(strict=False, max_length=16)] = ()

    def fact(self, id_: str) -> Fact | None:
        """The precondition of this id."""
        return next((fact for fact in self.pre if fact.id == id_), None)

    def dropped(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The arguments without the flags that are not the agent's, and which had other values."""
        shown = self.preview.set if self.preview else {}
        named = [name for name in self.forbid if name in arguments]
        wrong = [n for n in named if n not in shown or not same(arguments[n], shown[n])]
        return {k: v for k, v in arguments.items() if k not in self.forbid}, wrong
