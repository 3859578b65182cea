"""Reading the `tool` table of placet.toml: every fault is a sentence that says what to change."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .arguments import nearest
from .declaration import BadDeclaration, Tool
from .named import named
from .recipe import Change, Check, Cost, Effect, Fact, Preview, Recipe, Undo
from .request import Request
from .soundness import together

_NOT_DECLARED = frozenset(
    {"name", "undoable", "published", "lacking", "proven", "own", "through", "recipe", "request"}
)
_PARTS: Mapping[str, type[BaseModel]] = {
    "preview": Preview,
    "apply": Change,
    "pre": Fact,
    "effects": Effect,
    "cost": Cost,
    "verify": Check,
    "undo": Undo,
}
_NEEDS_KIND = """needs kind = "command" or "python", or a server of its own: [upstream.{0}] with \
command or url (MCP), or base_url (HTTP)."""


def declared(table: Mapping[str, Any], kinds: Mapping[str, str] | None = None) -> list[Tool]:
    """The tools of placet.toml's `tool` table; BadDeclaration says which line must change.

    `kinds`: what the tools of each declared upstream are, `mcp` or `http`. Those that recipes
    name come last, as their `own`. A tool that calls one that is not declared comes with what it is
    `lacking`, and is not usable.
    """
    found: list[Tool] = []
    for upstream, tools in table.items():
        tables = tools.values() if isinstance(tools, Mapping) else [None]
        if not all(isinstance(fields, Mapping) for fields in tables):
            raise BadDeclaration(f"[tool.{upstream}] has no name; write [tool.{upstream}.NAME].")
        kind = (kinds or {}).get(upstream)
        found += [_declared(f"{upstream}.{name}", fields, kind) for name, fields in tools.items()]
    by_name = {tool.name: tool for tool in found}
    own = named(by_name, kinds or {})
    return [*(_together(by_name, own, tool) for tool in found), *own.values()]


def _together(tools: Mapping[str, Tool], own: Mapping[str, Tool], tool: Tool) -> Tool:
    try:
        lacking = together(tools, own, tool)
    except ValueError as error:
        raise BadDeclaration(f"[tool.{tool.name}] {error}") from None
    return tool.model_copy(update={"lacking": lacking}) if lacking else tool


def _declared(name: str, fields: Mapping[str, Any], implied: str | None) -> Tool:
    own = [key for key in Tool.model_fields if key not in _NOT_DECLARED]
    known = [*own, *Recipe.model_fields, *Request.model_fields]
    for key in fields:
        if key not in known:
            raise BadDeclaration(f'[tool.{name}] has an unknown key "{key}".{nearest(key, known)}')
    kind = _kind(name, fields, implied)
    if kind in ("mcp", "python") and "arguments" in fields:
        whose = "module" if kind == "python" else "server"
        raise BadDeclaration(f"[tool.{name}] arguments: its {whose} says them; remove the key.")
    try:
        return Tool(name=name, **_sorted({**fields, "kind": kind}))
    except ValidationError as error:
        raise BadDeclaration(f"[tool.{name}] {_words(error.errors()[0])}") from None


def _kind(name: str, fields: Mapping[str, Any], implied: str | None) -> object:
    kind, upstream = fields.get("kind", implied), name.partition(".")[0]
    if kind is None:
        raise BadDeclaration(f"[tool.{name}] {_NEEDS_KIND.format(upstream)}")
    if kind in ("mcp", "http") and kind != implied:
        needs = "command or url" if kind == "mcp" else "base_url"
        raise BadDeclaration(f'[tool.{name}] kind = "{kind}" needs [upstream.{upstream}] {needs}.')
    return kind


def _sorted(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields in their groups. `apply` is a command's argv, or a table of a recipe."""
    recipe = {k: v for k, v in fields.items() if k in Recipe.model_fields}
    request = {k: v for k, v in fields.items() if k in Request.model_fields}
    if isinstance(recipe.get("apply"), list | tuple | str):
        del recipe["apply"]
    own = {k: v for k, v in fields.items() if k not in recipe and k not in request}
    groups = {"recipe": recipe, "request": request}
    return own | {name: group for name, group in groups.items() if group}


def _words(error: ErrorDetails) -> str:
    """A fault in words; a wrong key inside a table gets the nearest known one."""
    path = [step for step in error["loc"] if step not in ("recipe", "request")]
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden" and path[0] in _PARTS:
        near = nearest(str(path[-1]), list(_PARTS[str(path[0])].model_fields))
        message = f"there is no such key.{near}"
    where = ".".join(str(step) for step in path)
    return f"{where + ': ' if where else ''}{message}"
