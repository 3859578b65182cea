"""`[upstream.<name>]` of placet.toml: a server of tools that Placet runs or reaches."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from proposals.tools.declaration import Argv, Env

MAX_WIRE_NAME = 64
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_NAME = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")


def _address(value: str) -> str:
    if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?", value):
        raise ValueError(f'"{value:.80}" is no address such as https://cal.example.com/mcp')
    return value


def _headers(said: dict[str, str]) -> dict[str, str]:
    for header, variable in said.items():
        if not (_HEADER.fullmatch(header) and _VARIABLE.fullmatch(variable)):
            raise ValueError("write HEADER = NAME, with the name of an environment variable")
    return said


def named(name: str) -> str:
    """The name of an upstream as it is; ValueError when it is none."""
    if not _NAME.fullmatch(name):
        raise ValueError("an upstream's name has letters and digits, with single _ or - between")
    return name


Address = Annotated[str, AfterValidator(_address)]
Headers = Annotated[dict[str, str], AfterValidator(_headers)]
Relayed = Literal["resources", "prompts", "completion"]
UpstreamName = Annotated[str, AfterValidator(named)]


class Upstream(BaseModel):
    """An MCP server, a `command` that Placet runs or the `url` where it answers; or an HTTP API."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    command: Argv = ()
    """The program of an MCP server and its arguments. No shell runs it; paths begin where
    placet.toml is."""
    env: Env = {}
    """Environment variables of the command, `NAME = "value"` or `NAME = "env:NAME"`; beside them it
    sees only PATH, HOME and LANG of the server."""
    url: Address | None = None
    """The address of an MCP server that runs elsewhere, such as `https://cal.example.com/mcp`."""
    base_url: Address | None = None
    """The address of an HTTP API, such as `https://api.example.com/v1`; each of its tools says its
    method and path below it. No other host is asked, and redirects are not followed."""
    headers_env: Headers = {}
    """Headers sent to the address, by the environment variable that holds each value."""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,32}$")] | None = None
    """What stands before `__` in its tools' names for agents; none: the upstream's own name; empty:
    nothing."""
    max_answer: Annotated[int, Field(ge=1_000, le=100_000_000)] = 10_000_000
    """The largest single answer taken from it, in bytes."""
    relay: tuple[Relayed, ...] = ()
    """What else of an MCP server agents may read, besides its declared tools: `"resources"`,
    `"prompts"`, `"completion"`. All of each is handed on, as reads, without asking anybody."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if sum(map(bool, (self.command, self.url, self.base_url))) != 1:
            raise ValueError("an upstream has one of command and url (MCP), or a base_url (HTTP)")
        if self.headers_env and self.command:
            raise ValueError("headers_env belongs to an address; a command has env")
        if self.env and not self.command:
            raise ValueError("env belongs to a command; an address has headers_env")
        if self.relay and self.base_url:
            raise ValueError("relay belongs to an MCP server; an HTTP API has tools alone")
        return self

    @property
    def kind(self) -> Literal["mcp", "http"]:
        """What its tools are."""
        return "http" if self.base_url else "mcp"

    def wire(self, tool: str) -> str:
        """What agents call a tool of it on MCP's wire: `fs.write_file` is `fs__write_file`."""
        upstream, _, name = tool.partition(".")
        prefix = upstream if self.prefix is None else self.prefix
        return f"{prefix}__{name}" if prefix else name
