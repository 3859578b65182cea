"""The approval policy: which people, how many, on which surfaces, for which tools.

The file `.github/placet.yml` (YAML 1.2) is read strictly: an unknown or repeated key, an empty
list or value, an anchor, a tag or a name that cannot be a GitHub name refuses the whole file, and
then nobody can approve.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import translate
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic import ValidationError as _ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError

from .facts import Surface
from .times import Duration, Moment

POLICY_PATH = ".github/placet.yml"
"""Where a repository keeps its policy, on its default branch."""
PERMISSIONS = ("read", "triage", "write", "maintain", "admin")
MAX_SIZE = 64 * 1024  # bytes of UTF-8
MAX_DEPTH = 16  # lists and mappings inside one another


class PolicyError(ValueError):
    """The policy cannot be used; the message says where and why, for the person who mends it."""


def _one(value: Any) -> Any:
    if type(value) is not int:  # True == 1 == 1.0, but neither is a version
        raise ValueError("write: version: 1")
    return value


Version = Annotated[Literal[1], BeforeValidator(_one)]
Who = Annotated[
    str,
    StringConstraints(
        pattern=r"^(user:[A-Za-z0-9][A-Za-z0-9_-]{0,38}|team:[A-Za-z0-9][A-Za-z0-9-]{0,38}/[a-z0-9][a-z0-9_-]{0,99})$"
    ),
]
Requester = Annotated[
    str,
    StringConstraints(
        pattern=r"^(agent:[a-z0-9][a-z0-9._-]{0,63}|user:[A-Za-z0-9][A-Za-z0-9_-]{0,38})$"
    ),
]
# A tool's name is ASCII: a look-alike letter would let a tool fall through to a weaker rule.
Glob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._*?-]{1,100}$")]


def _without_null(schema: dict[str, Any]) -> None:
    """The published schema must not take the blank values that we refuse."""
    for field in schema["properties"].values():
        if {"type": "null"} in field.get("anyOf", ()):
            [kind] = [option for option in field.pop("anyOf") if option != {"type": "null"}]
            field.update(kind)
            del field["default"]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, json_schema_extra=_without_null
    )

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_left_blank(cls, data: Any) -> Any:
        """`from:` with every name commented out is null, which must never mean "anyone"."""
        if isinstance(data, dict) and (blank := [k for k, v in data.items() if v is None]):
            raise ValueError(f"{blank[0]!a:.40} has no value: give it one, or take the line out")
        return data


def folded(name: str) -> str:
    """A name for comparing: without ASCII case. U+212A is no k, so nothing else is folded."""
    return name.lower() if name.isascii() else name


class Group(_Strict):
    """A number of different people out of some users and teams; no `from`: anyone with access."""

    approvals: Annotated[int, Field(ge=1, le=20)] = 1
    from_: Annotated[tuple[Who, ...] | None, Field(alias="from", min_length=1, strict=False)] = None

    def admits(self, login: str, teams: frozenset[str]) -> bool:
        """Whether this person can fill a place; logins and teams compare without ASCII case."""
        if self.from_ is None:
            return True
        called = [f"user:{login}", *(f"team:{team}" for team in teams)]
        return not self._named.isdisjoint(map(folded, called))

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(map(folded, self.from_ or ()))

    def __str__(self) -> str:
        """Who is asked for, in words."""
        people = "1 person" if self.approvals == 1 else f"{self.approvals} people"
        if self.from_ is None:
            return people
        names = [w.removeprefix("team:") if w[0] == "t" else "@" + w[5:] for w in self.from_]
        return f"{people} of {' or '.join(names)}"


class Rule(_Strict):
    """What it takes to approve the tools that match; the first rule that matches decides."""

    tools: Annotated[tuple[Glob, ...], Field(min_length=1, strict=False)]
    requesters: Annotated[tuple[Requester, ...] | None, Field(min_length=1, strict=False)] = None
    require: Annotated[tuple[Group, ...], Field(min_length=1, max_length=10, strict=False)]
    permission: Literal["read", "triage", "write", "maintain", "admin"] = "write"
    surfaces: Annotated[
        tuple[Annotated[Surface, Field(strict=False)], ...], Field(min_length=1, strict=False)
    ] = tuple(Surface)
    expires: Duration = timedelta(hours=24)
    approval_valid: Duration | None = None
    message: Annotated[str, Field(max_length=500)] | None = None

    def matches(self, tool: str) -> bool:
        """Whether one of the globs names this tool, case and all."""
        return self._globs.match(tool) is not None

    @cached_property
    def _globs(self) -> re.Pattern[str]:
        return re.compile("|".join(map(translate, self.tools)))

    @cached_property
    def anyone(self) -> bool:
        """Whether a place is open to everybody with enough access."""
        return any(group.from_ is None for group in self.require)

    def teams(self) -> frozenset[str]:
        """The teams (`org/slug`) whose members must be known to judge by this rule."""
        return frozenset(w[5:] for w in self.named() if w.startswith("team:"))

    def users(self) -> frozenset[str]:
        """The logins that the rule names, folded for comparing."""
        return frozenset(folded(w[5:]) for w in self.named() if w.startswith("user:"))

    def named(self) -> Iterator[str]:
        """Every user and team that the rule names."""
        for group in self.require:
            yield from group.from_ or ()

    def logins(self) -> frozenset[str]:
        """Every login in the rule, folded: whose account it means is asked of GitHub once."""
        asking = (r[5:] for r in self.requesters or () if r.startswith("user:"))
        return self.users() | {folded(login) for login in asking}

    def takes(self, agent: str, behind: Container[int], people: Mapping[str, int]) -> bool:
        """Whether this agent may ask, by its name or by one of those it works for (`behind`).

        `people` says which account a login means; one that it does not know means nobody.
        """
        if self.requesters is None:
            return True
        known = (people.get(folded(r[5:])) for r in self.requesters if r.startswith("user:"))
        return f"agent:{agent}" in self.requesters or any(id_ in behind for id_ in known if id_)

    @cached_property
    def enough(self) -> frozenset[str]:
        """The permissions that meet the floor; an unknown one does not."""
        return frozenset(PERMISSIONS[PERMISSIONS.index(self.permission) :])


class Freeze(_Strict):
    """A time in which nothing starts."""

    from_: Annotated[Moment, Field(alias="from")]
    until: Moment
    reason: Annotated[str, Field(min_length=1, max_length=200)]

    @model_validator(mode="after")
    def _has_a_length(self) -> Self:
        if self.from_ >= self.until:
            raise ValueError("a freeze ends after it begins: `from` must be before `until`")
        return self


class Policy(_Strict):
    """The whole file: rules in order, and the freezes."""

    version: Version
    rules: Annotated[tuple[Rule, ...], Field(min_length=1, strict=False)]
    freeze: Annotated[tuple[Freeze, ...], Field(min_length=1, strict=False)] = ()

    def rule_for(self, tool: str) -> tuple[int, Rule] | None:
        """The first rule for this tool and its place (from 1), or None: nobody can approve."""
        for place, rule in enumerate(self.rules, 1):
            if rule.matches(tool):
                return place, rule
        return None


@dataclass(frozen=True, slots=True)
class Source:
    """A policy and where it came from: `floor`, `propose` or `current`; without one, why not."""

    name: str
    policy: Policy | None
    problem: str = ""
    blob: str | None = None


_NAMED_AS = {
    "from": "people are named as user:LOGIN or team:ORGANISATION/SLUG",
    "requesters": "who may ask is named as agent:NAME or user:LOGIN",
    "tools": "a tool is named in ASCII letters, digits, . _ - with * and ? for the rest",
}


class _Plain(SafeConstructor):
    """Moments stay text, for `_moment` to read: YAML would take one without a zone."""


_Plain.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def document(text: str) -> Any:
    """The value of one strictly read YAML file; PolicyError names the line and the fault."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_SIZE:
        raise PolicyError(f"the file: it is larger than {MAX_SIZE // 1024} kB")
    try:
        _refuse_tricks(text)
        yaml = YAML(typ="safe", pure=True)
        yaml.Constructor = _Plain
        return yaml.load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise PolicyError(_yaml_problem(error)) from None


def load(text: str) -> Policy:
    """The policy in this text; PolicyError names the place and the fault."""
    data = document(text)
    try:
        return Policy.model_validate(data)
    except _ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        fault = first["msg"].removeprefix("Value error, ")
        if first["type"] == "string_pattern_mismatch":
            fault = next(said for key, said in _NAMED_AS.items() if key in first["loc"])
        raise PolicyError(f"{where:.200}: {fault}") from None


def _refuse_tricks(text: str) -> None:
    """Refuse what makes YAML mean something else than it shows, before anything is built of it."""
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        tricks = (
            (getattr(event, "anchor", None), "anchors and aliases"),  # an alias has one too
            (getattr(event, "tag", None), "tags"),
            (getattr(event, "version", None) or getattr(event, "tags", None), "directives"),
            (getattr(event, "value", None) == "<<", "merge keys"),
            (depth > MAX_DEPTH + 2, f"more than {MAX_DEPTH} levels"),  # stream and document
        )
        for found, what in tricks:
            if found:
                line = event.start_mark.line + 1
                raise PolicyError(f"line {line}: {what} are not allowed; write it out plainly")


def _yaml_problem(error: Exception) -> str:
    if isinstance(error, PolicyError):
        return str(error)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML"
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}" if mark else "the file"
    return f"{where}: {problem!s:.200}"


def floor(approvals: int, surfaces: tuple[Surface, ...] = tuple(Surface)) -> Policy:
    """The server's own minimum as a policy of one rule for every tool."""
    group = Group(approvals=approvals)
    return Policy(version=1, rules=(Rule(tools=("*",), require=(group,), surfaces=surfaces),))
