"""The approval policy: which people, how many, on which surfaces, for which tools.

The file `.github/placet.yml` (YAML 1.2) is read strictly: an unknown or repeated key, an empty
list or a name that cannot be a GitHub name refuses the whole file, and then nobody can approve.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as _ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from .facts import Surface

PERMISSIONS = ("read", "triage", "write", "maintain", "admin")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class PolicyError(ValueError):
    """The policy cannot be used; the message says where and why, for the person who mends it."""


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and (m := re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", value)):
        return timedelta(**{_UNITS[m[2]]: int(m[1])})
    raise ValueError('a duration is a number and one of s, m, h, d, such as "4h"')


def _moment(value: Any) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        raise ValueError("a moment is written as 2026-12-24T00:00Z")  # noqa: TRY004 (pydantic's)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration, json_schema_input_type=str),
    Field(gt=timedelta(0), le=timedelta(days=90)),
]
Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]
Who = Annotated[
    str,
    StringConstraints(
        pattern=r"^(user:[A-Za-z0-9][A-Za-z0-9-]{0,38}|team:[A-Za-z0-9][A-Za-z0-9-]{0,38}/[a-z0-9][a-z0-9_-]{0,99})$"
    ),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Group(_Strict):
    """A number of different people out of some users and teams; no `from`: anyone with access."""

    approvals: Annotated[int, Field(ge=1, le=20)] = 1
    from_: Annotated[tuple[Who, ...] | None, Field(alias="from", min_length=1, strict=False)] = None

    def admits(self, login: str, teams: frozenset[str]) -> bool:
        """Whether this person can fill a place; logins and teams compare without ASCII case."""
        if self.from_ is None:
            return True
        names = {f"user:{login.lower()}", *(f"team:{t.lower()}" for t in teams)}
        return any(who.lower() in names for who in self.from_)

    def __str__(self) -> str:
        """Who is asked for, in words."""
        people = "1 person" if self.approvals == 1 else f"{self.approvals} people"
        if self.from_ is None:
            return people
        names = [w.removeprefix("team:") if w[0] == "t" else "@" + w[5:] for w in self.from_]
        return f"{people} of {' or '.join(names)}"


class Rule(_Strict):
    """What it takes to approve the tools that match; the first rule that matches decides."""

    tools: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
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
        return any(fnmatchcase(tool, glob) for glob in self.tools)

    def teams(self) -> frozenset[str]:
        """The teams (`org/slug`) whose members must be known to judge by this rule."""
        return frozenset(w[5:] for w in self.named() if w.startswith("team:"))

    def named(self) -> Iterator[str]:
        """Every user and team that the rule names."""
        for group in self.require:
            yield from group.from_ or ()

    def enough(self, permission: str) -> bool:
        """Whether this permission meets the floor; an unknown one does not."""
        known = permission in PERMISSIONS
        return known and PERMISSIONS.index(permission) >= PERMISSIONS.index(self.permission)


class Freeze(_Strict):
    """A time in which nothing starts."""

    from_: Annotated[Moment, Field(alias="from")]
    until: Moment
    reason: Annotated[str, Field(min_length=1, max_length=200)]


class Policy(_Strict):
    """The whole file: rules in order, and the freezes."""

    version: Literal[1]
    rules: Annotated[tuple[Rule, ...], Field(min_length=1, strict=False)]
    freeze: Annotated[tuple[Freeze, ...], Field(strict=False)] = ()

    def rule_for(self, tool: str) -> tuple[int, Rule] | None:
        """The first rule for this tool and its place (from 1), or None: nobody can approve."""
        return next(((i, r) for i, r in enumerate(self.rules, 1) if r.matches(tool)), None)


@dataclass(frozen=True, slots=True)
class Source:
    """A policy and where it came from: `floor`, `propose` or `current`; without one, why not."""

    name: str
    policy: Policy | None
    problem: str = ""
    blob: str | None = None


def load(text: str) -> Policy:
    """The policy in this text; PolicyError names the place and the fault."""
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it is not YAML"
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise PolicyError(f"{where}{problem}") from None
    try:
        return Policy.model_validate(data)
    except _ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise PolicyError(f"{where}: {first['msg']}") from None


def floor(approvals: int, surfaces: tuple[Surface, ...] = tuple(Surface)) -> Policy:
    """The server's own minimum as a policy of one rule for every tool."""
    group = Group(approvals=approvals)
    return Policy(version=1, rules=(Rule(tools=("*",), require=(group,), surfaces=surfaces),))
