"""What may be declared of a tool of each kind; every ValueError is a sentence for its operator."""

from typing import TYPE_CHECKING

from .recipe import Recipe

if TYPE_CHECKING:
    from .declaration import Tool


def fit(tool: "Tool") -> None:
    """Refuse what does not belong to a tool of this kind and this effect."""
    _KINDS[tool.kind](tool)
    if tool.effect == "read":
        _read(tool)
    elif tool.absent or tool.memo or tool.retries or tool.fallback:
        raise ValueError("absent, memo, retries and fallback belong to tools that only read")
    if tool.mode != "approve":
        _unasked(tool)


def _unasked(tool: "Tool") -> None:
    """Refuse what is too grave to be done before a person has approved it."""
    instead = 'use mode = "approve" or leave mode out'
    if tool.effect != "write":
        raise ValueError(f'mode = "{tool.mode}" is for effect = "write" alone; {instead}')
    if tool.touches:
        raise ValueError(
            f'mode = "{tool.mode}" is for tools that touch none of spend, contact, start and '
            f"delete; {instead}"
        )
    if tool.targets:
        raise ValueError(f'mode = "{tool.mode}" asks on no page, so it has no targets; {instead}')
    if tool.mode == "announce" and not _reversible(tool):
        raise ValueError(
            'mode = "announce" is for tools that read back what they did and can always take it '
            "back: verify and undo, none of it irreversible, or verify_command and undo_command; "
            + instead
        )


def _reversible(tool: "Tool") -> bool:
    """Whether placet.toml itself says how each call is verified and undone."""
    commands = bool(tool.verify_command and tool.undo_command)
    undo = tool.recipe.undo
    return commands or bool(tool.recipe.verify and undo and not any(u.irreversible for u in undo))


def _command(tool: "Tool") -> None:
    changing = (tool.plan, tool.apply, tool.verify_command, tool.undo_command)
    _no_recipe(tool)
    if tool.effect == "read" and (tool.module or not tool.read or any(changing)):
        raise ValueError("a command that only reads has read, and nothing else to run")
    if tool.effect != "read" and (tool.module or not (tool.plan and tool.apply) or tool.read):
        raise ValueError('a tool of kind "command" has plan and apply, and no module')
    if tool.key_argument not in {None, *tool.arguments["properties"]}:
        raise ValueError("key_argument names no property of arguments")


def _python(tool: "Tool") -> None:
    _no_recipe(tool)
    if not tool.module or _runs(tool):
        raise ValueError('a tool of kind "python" has a module, and no commands')


def _mcp(tool: "Tool") -> None:
    _upstream(tool)
    if tool.request:
        raise ValueError("method and path belong to HTTP tools; this upstream speaks MCP")


def _upstream(tool: "Tool") -> None:
    if tool.module or _runs(tool) or tool.plan_env or tool.apply_env:
        raise ValueError("a tool of an upstream has no module, commands or environment of its own")
    if tool.recipe.undo and any(_is_undo(pointer) for pointer in tool.volatile):
        raise ValueError(
            "the call of its undo stands in /preview/undo; name what is below /preview"
        )
    if "spend" in tool.touches and tool.recipe.cost is None:
        raise ValueError("a tool that spends says its cost: cost = {amount = ..., unit = ...}")


def _http(tool: "Tool") -> None:
    if tool.request is None:
        raise ValueError("an HTTP tool has a method and a path")
    _upstream(tool)
    known = tool.arguments["properties"]
    if lacking := tool.request.unknown(known):
        raise ValueError(f"path, query and headers: {lacking!a:.80} is no property of arguments")
    if fault := tool.unflippable():
        raise ValueError(fault)


def _read(tool: "Tool") -> None:
    if tool.touches or tool.undo_command:
        raise ValueError("a tool that only reads has no touches and no undo_command")
    if tool.recipe != Recipe(forbid=tool.recipe.forbid):
        raise ValueError("a tool that only reads has no preview, apply, pre, effects, verify, undo")


def _no_recipe(tool: "Tool") -> None:
    if tool.recipe != Recipe() or tool.request:
        raise ValueError(
            "forbid, preview, pre, effects, cost, verify, undo, method and path are for tools of an"
            " upstream; a command or a module does these things itself"
        )


def _is_undo(pointer: str) -> bool:
    return pointer == "/preview" or pointer.startswith("/preview/undo")


def _runs(tool: "Tool") -> bool:
    return any((tool.read, tool.plan, tool.apply, tool.verify_command, tool.undo_command))


_KINDS = {"command": _command, "python": _python, "mcp": _mcp, "http": _http}
