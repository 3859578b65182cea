"""`[tool.<upstream>.<name>]` of placet.toml: what a tool is, as its operator says."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from checks.policy import Duration
from proposals.canonical import JSON, digest

from .arguments import closed, fitting, nearest
from .title import check_template

NOT_BUILT = frozenset(
    {"absent", "cost", "effects", "fallback", "forbid", "memo", "pre", "preview"}
    | {"retries", "secrets", "undo", "verify"}
)
_NAME = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*\.[A-Za-z0-9_-]+")
_MAX_WIRE_NAME = 64  # `fs__write_file`, on MCP's wire
_VOLATILE = re.compile(r"/(preview|warnings)(/.*)?", re.DOTALL)


class BadDeclaration(ValueError):
    """placet.toml declares a tool that cannot be used: the operator must change it."""


def _name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) >= _MAX_WIRE_NAME:
        raise ValueError("a name is <upstream>.<name> of letters, digits, _ and -, under 64 long")
    return name


def _variables(env: dict[str, str]) -> dict[str, str]:
    for name, value in env.items():
        reads = value.removeprefix("env:") if value.startswith("env:") else name
        if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", n) for n in (name, reads)):
            raise ValueError('write NAME = "value" or NAME = "env:NAME"')
        if "\0" in value:
            raise ValueError("an environment value cannot hold a NUL")
    return env


def _volatile(pointer: str) -> str:
    if not _VOLATILE.fullmatch(pointer):
        raise ValueError("only /preview and /warnings, and what is below them, may be volatile")
    return pointer


Argv = Annotated[
    tuple[Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")], ...], Field(strict=False)
]
Env = Annotated[dict[str, str], AfterValidator(_variables)]
Touch = Literal["spend", "contact", "start", "delete"]
FullName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$")]
Module = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]


class Tool(BaseModel):
    """One declared tool. `plan`, `apply` and the other commands are argv lists, run by no shell.

    An environment value `env:NAME` takes the server's variable NAME; any other is literal.
    `targets` are the repositories to whose pull requests and commits a call may be tied; `forks`:
    also to pull requests from forks.
    `conclusive`: its verify may say for certain that nothing happened. `undoable` is not declared:
    a Python tool's module says it.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, AfterValidator(_name)]
    kind: Literal["command", "python"]
    effect: Literal["read", "write", "destructive"]
    touches: Annotated[tuple[Touch, ...], Field(strict=False)] = ()
    mode: Literal["approve", "confirm", "announce"] = "approve"
    repository: Annotated[str, Field(min_length=1)] = "default"
    summary: Annotated[str, AfterValidator(check_template), Field(max_length=200)] = ""
    section: str = ""
    volatile: Annotated[
        tuple[Annotated[str, AfterValidator(_volatile)], ...], Field(strict=False)
    ] = ()
    timeout: Duration = timedelta(seconds=60)
    plan: Argv = ()
    apply: Argv = ()
    verify_command: Argv = ()
    undo_command: Argv = ()
    plan_env: Env = Field(default_factory=dict)
    apply_env: Env = Field(default_factory=dict)
    module: Module | None = None
    arguments: Annotated[dict[str, Any], AfterValidator(closed)] = Field(
        default_factory=dict, validate_default=True
    )
    key_argument: str | None = None
    idempotent: bool = False
    conclusive: bool = False
    undoable: bool = False
    targets: Annotated[tuple[FullName, ...], Field(strict=False)] = ()
    forks: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        commands = (self.plan, self.apply, self.verify_command, self.undo_command)
        if self.kind == "command" and (self.module or not (self.plan and self.apply)):
            raise ValueError('a tool of kind "command" has plan and apply, and no module')
        if self.kind == "python" and (not self.module or any(commands)):
            raise ValueError('a tool of kind "python" has a module, and no commands')
        if self.effect == "read" and (self.touches or self.undo_command):
            raise ValueError("a tool that only reads has no touches and no undo_command")
        if self.mode != "approve":
            raise ValueError(f'mode = "{self.mode}" is not built yet; use "approve" or leave it')
        known = self.arguments["properties"]
        if self.kind == "command" and self.key_argument not in {None, *known}:
            raise ValueError("key_argument names no property of arguments")
        return self

    @property
    def undo(self) -> bool:
        """Whether it can take back what it did."""
        return self.undoable or bool(self.undo_command)

    def identity(self) -> dict[str, JSON]:
        """What a plan says of the tool; a tool that changes gets another definition: drift."""
        said = self.model_dump(
            mode="json", exclude={"plan_env", "apply_env", "section", "repository", "mode"}
        )
        said["touches"] = sorted(self.touches)
        said["targets"] = sorted(self.targets)  # one taken off stops what is tied to it
        said["env"] = {"plan": sorted(self.plan_env), "apply": sorted(self.apply_env)}
        return {
            "name": self.name,
            "kind": self.kind,
            "effect": self.effect,
            "definition": digest(said),
            "undo": self.undo,
        }

    def undo_identity(self) -> dict[str, JSON]:
        """What the plan of an undo says of the tool; an undo is not undone again."""
        return {**self.identity(), "undo": False, "verb": "undo"}

    def with_schema(self, schema: Mapping[str, Any], *, undoable: bool = False) -> "Tool":
        """The tool with what its module publishes: an argument schema, an undo; BadDeclaration."""
        try:
            return self.model_copy(update={"arguments": closed(schema), "undoable": undoable})
        except ValueError as error:
            raise BadDeclaration(f"[tool.{self.name}] arguments: {error}") from None

    # Only a classmethod of pydantic 1 had this name.
    def validate(self, arguments: object) -> JSON:  # type: ignore[override]
        """The arguments as the tool gets them, nothing converted; BadArguments."""
        return fitting(self.arguments, arguments)


def declared(table: Mapping[str, Any]) -> list[Tool]:
    """The tools of placet.toml's `tool` table; BadDeclaration says which line must change."""
    found = []
    for upstream, tools in table.items():
        named = tools.values() if isinstance(tools, Mapping) else [None]
        if not all(isinstance(fields, Mapping) for fields in named):
            raise BadDeclaration(f"[tool.{upstream}] has no name; write [tool.{upstream}.NAME].")
        found += [_declared(f"{upstream}.{name}", fields) for name, fields in tools.items()]
    return found


def _declared(name: str, fields: Mapping[str, Any]) -> Tool:
    known = [key for key in Tool.model_fields if key not in {"name", "undoable"}]
    for key in fields:
        if key in NOT_BUILT:
            raise BadDeclaration(f'[tool.{name}] "{key}" is not built yet; remove it.')
        if key not in known:
            near = nearest(key, [*known, *NOT_BUILT])
            raise BadDeclaration(f'[tool.{name}] has an unknown key "{key}".{near}')
    if "kind" not in fields:
        raise BadDeclaration(
            f'[tool.{name}] needs kind = "command" or "python"; tools of MCP servers are not built.'
        )
    if fields["kind"] == "python" and "arguments" in fields:
        raise BadDeclaration(f"[tool.{name}] arguments: its module says them; remove the key.")
    try:
        return Tool(name=name, **fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise BadDeclaration(f"[tool.{name}] {where + ': ' if where else ''}{message}") from None
