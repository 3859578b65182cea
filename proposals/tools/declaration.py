"""`[tool.<upstream>.<name>]` of placet.toml: what a tool is, as its operator says."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from checks.times import Duration
from proposals.canonical import JSON, digest, pointer_of

from .arguments import BadArguments, closed, fitting, nearest, printable
from .kinds import fit
from .recipe import Pattern, Recipe
from .references import pointer
from .request import Request
from .soundness import sound
from .title import check_template

_NAME = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*\.[A-Za-z0-9_-]+")
_MAX_WIRE_NAME = 64  # `fs__write_file`, on MCP's wire
_VOLATILE = re.compile(r"/(preview|warnings)(/.*)?", re.DOTALL)
_SECRET = re.compile(
    r"/(preview|result)|/(arguments|preview|effects|preconditions|result)/.+", re.DOTALL
)
MAX_RETRIES = 5


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


def _secret(at: str) -> str:
    if not _SECRET.fullmatch(at):
        raise ValueError(
            "a secret is a pointer below /arguments, /preview, /effects, /preconditions or /result"
        )
    return pointer(at)


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
    `conclusive`: its verify may say for certain that nothing happened. Tools of an upstream have a
    `recipe` (kind mcp and http) and a `request` (http). `absent` matches the error of a read that
    means "it is not there"; `memo`, `retries` and `fallback` are for reads. `secrets` are pointers
    to what nobody may see. Not declared: `undoable`, which a Python tool's module says,
    `published`, what an upstream says of the tool and of itself, `lacking`, why it cannot be used:
    what it calls is not declared, `proven`, the definition whose preview changed nothing when that
    was tried, `own`: no agent's, but named by recipes (see `named`), and `through`: the other tools
    that its change or its undo calls, as the catalog has them.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, AfterValidator(_name)]
    kind: Literal["command", "python", "mcp", "http"]
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
    read: Argv = ()
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
    recipe: Annotated[Recipe, AfterValidator(sound)] = Recipe()
    request: Request | None = None
    secrets: Annotated[
        tuple[Annotated[str, AfterValidator(_secret)], ...], Field(strict=False)
    ] = ()
    absent: Pattern = ""
    memo: Duration | None = None
    retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = 0
    fallback: str | None = None
    published: Mapping[str, Any] = Field(default_factory=dict)
    lacking: str = ""
    proven: str = ""
    own: bool = False
    through: tuple["Tool", ...] = Field(default=(), repr=False)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        fit(self)
        return self

    @property
    def undo(self) -> bool:
        """Whether it can take back what it did."""
        return self.undoable or bool(self.undo_command) or bool(self.recipe.undo)

    @property
    def definition(self) -> str:
        """The digest of what it is; another one is another tool."""
        return str(self.identity()["definition"])

    @property
    def isolated(self) -> bool:
        """Whether its preview, as it is defined now, was seen to change nothing."""
        return bool(self.proven) and self.proven == self.definition

    @property
    def offered(self) -> dict[str, Any]:
        """The schema of the arguments that an agent may give: without the operator's flags."""
        hidden = {*self.recipe.forbid, *([self.key_argument] if self.key_argument else [])}
        if not hidden or self.kind in ("command", "python"):
            return self.arguments
        shown = {k: v for k, v in self.arguments["properties"].items() if k not in hidden}
        needed = [n for n in self.arguments.get("required", ()) if n not in hidden]
        return {**self.arguments, "properties": shown, "required": needed}

    def identity(self) -> dict[str, JSON]:
        """What a plan says of the tool; a tool that changes gets another definition: drift."""
        said = self.model_dump(
            mode="json",
            exclude={
                *("plan_env", "apply_env", "section", "repository", "mode"),
                *("memo", "retries", "fallback", "proven", "own", "through"),
            },
        )
        if self.through:  # what they are decides what is done
            said["through"] = {other.name: other.definition for other in self.through}
        said["touches"] = sorted(self.touches)
        said["targets"] = sorted(self.targets)  # one taken off stops what is tied to it
        said["env"] = {"plan": sorted(self.plan_env), "apply": sorted(self.apply_env)}
        hidden: dict[str, JSON] = {"secrets": [*sorted(self.secrets)]} if self.secrets else {}
        grave: dict[str, JSON] = {"touches": [*sorted(self.touches)]} if self.touches else {}
        return {
            "name": self.name,
            "kind": self.kind,
            "effect": self.effect,
            "definition": digest(said),
            "undo": self.undo,
            **grave,
            **hidden,
        }

    def undo_identity(self) -> dict[str, JSON]:
        """What the plan of an undo says of the tool; an undo is not undone again.

        It is as grave as the gravest of its ways back.
        """
        back = {way.tool for way in self.recipe.undo}
        made = [self, *(other for other in self.through if other.name in back)]
        effect = "destructive" if any(t.effect == "destructive" for t in made) else self.effect
        touches: list[JSON] = [*sorted({touch for t in made for touch in t.touches})]
        grave: dict[str, JSON] = {"touches": touches} if touches else {}
        return {**self.identity(), **grave, "effect": effect, "undo": False, "verb": "undo"}

    def with_schema(
        self,
        schema: Mapping[str, Any],
        *,
        undoable: bool = False,
        published: Mapping[str, JSON] | None = None,
    ) -> "Tool":
        """The tool with what its module or its upstream publishes; BadDeclaration.

        That is an argument schema, whether it can be undone, and what it says of the tool.
        """
        try:
            said = {"arguments": closed(schema), "undoable": undoable}
        except ValueError as error:
            raise BadDeclaration(f"[tool.{self.name}] arguments: {error}") from None
        return self.model_copy(update={**said, "published": published or {}})

    def unflippable(self) -> str:
        """Why a flag of the recipe cannot be set or left out as it says; empty when all can be.

        An MCP server says its schema only when it runs: until then, ask with `with_schema`.
        """
        known, recipe = self.arguments["properties"], self.recipe
        flags = [*recipe.forbid, *([self.key_argument] if self.key_argument else [])]
        for change in (recipe.preview, None if recipe.apply.tool else recipe.apply):
            flags += [*change.set, *change.unset] if change else []
        missing = [flag for flag in flags if flag not in known]
        if missing:
            near = nearest(missing[0], list(known))
            return f"the tool has no argument {missing[0]!a:.80}.{near}"
        return ""

    # Only a classmethod of pydantic 1 had this name.
    def validate(self, arguments: object) -> JSON:  # type: ignore[override]
        """The arguments as the tool gets them, nothing converted; BadArguments.

        A flag of the operator's is dropped if it says what a preview says, and refused otherwise.
        Code upstream_down: nothing can be said of them, for the upstream does not offer the tool;
        not_usable: it is lacking a declaration.
        """
        if self.lacking:
            message = f"The tool {self.name} cannot be used: {self.lacking}"
            raise BadArguments("not_usable", message, "Its operator must declare that first.")
        for one in (self, *self.through):
            if one.kind == "mcp" and not one.published:
                message = f"The upstream of {one.name} is down, or does not offer this tool now."
                raise BadArguments("upstream_down", message, "Try again later.")
        if isinstance(arguments, dict) and self.recipe.forbid:
            arguments, wrong = self.recipe.dropped(arguments)
            if wrong:
                raise BadArguments(
                    "flag_not_yours",
                    f'The argument "{printable(wrong[0], 80)}" is not yours to set.',
                    "Leave it out: nothing is done before a person has approved it.",
                    pointer_of(wrong[:1]),
                )
        try:
            return fitting(self.offered, arguments)
        except BadArguments as error:
            if error.code != "bad_arguments" or not self.secrets:
                raise
            message = "It does not fit the tool's schema."  # the validator's words quote the value
            raise BadArguments(error.code, message, error.hint, error.pointer) from None
