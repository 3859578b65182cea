"""A small upstream that is real: tools over a folder, with the names and ways of a file server."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proposals.canonical import JSON
from proposals.ports import Done, Order
from proposals.runner import Runner
from proposals.tools import Catalog, Tool
from proposals.upstreams import Heard, Unreached, Unreturned
from webhook_app.toolkits.recipes import RecipeToolkit

TEXT = {"type": "string"}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "read_text_file": {"properties": {"path": TEXT}, "required": ["path"]},
    "get_file_info": {"properties": {"path": TEXT}, "required": ["path"]},
    "write_file": {
        "properties": {"path": TEXT, "content": TEXT},
        "required": ["path", "content"],
    },
    "edit_file": {
        "properties": {
            "path": TEXT,
            "old": TEXT,
            "new": TEXT,
            "dryRun": {"type": "boolean", "default": False},
        },
        "required": ["path", "old", "new"],
    },
    "move_file": {
        "properties": {"source": TEXT, "destination": TEXT},
        "required": ["source", "destination"],
    },
    "delete_file": {"properties": {"path": TEXT}, "required": ["path"]},
}


@dataclass(slots=True)
class Folder:
    """The tools; `calls` are those that came, `fault` is what goes wrong with the next write."""

    root: Path
    calls: list[tuple[str, dict[str, JSON], str | None]] = field(default_factory=list)
    fault: str = ""

    async def ready(self, tool: Tool) -> None:
        """It is always there."""

    async def call(self, tool: Tool, arguments: dict[str, JSON], key: str | None) -> Heard:
        name = tool.name.partition(".")[2]
        self.calls.append((name, arguments, key))
        fault, self.fault = (self.fault, "") if self._writes(name, arguments) else ("", self.fault)
        if (instead := self._before(fault, arguments)) is not None:
            return instead
        try:
            said = getattr(self, name)(**arguments)
        except (OSError, ValueError) as error:
            kind = "ENOENT" if isinstance(error, FileNotFoundError) else type(error).__name__
            return self._error(f"{kind}: {error}")
        if fault == "lie":
            self.write_file(str(arguments["path"]), "something else")
        if fault == "error after":
            return self._error("EIO: something went wrong")
        if fault == "lost":
            self._lose()
        return Heard({"content": [], "structuredContent": {"content": said}, "isError": False})

    def writes(self) -> list[tuple[str, dict[str, JSON], str | None]]:
        """The calls that changed something, or were meant to."""
        return [call for call in self.calls if self._writes(call[0], call[1])]

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def read_text_file(self, path: str) -> str:
        return self.text(path)

    def get_file_info(self, path: str) -> str:
        size = (self.root / path).stat().st_size
        return f"size: {size}\naccessed: {len(self.calls)}\nisFile: true"

    def write_file(self, path: str, content: str) -> str:
        (self.root / path).write_text(content)
        return f"Wrote {path}"

    def edit_file(self, path: str, old: str, new: str, *, dryRun: bool = False) -> str:  # noqa: N803
        before = self.text(path)
        if old not in before:
            raise ValueError(f"{old!r} is not in {path}")
        after = before.replace(old, new)
        if not dryRun:
            self.write_file(path, after)
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="")
        return "\n".join(lines)

    def move_file(self, source: str, destination: str) -> str:
        (self.root / source).rename(self.root / destination)
        return "Moved"

    def delete_file(self, path: str) -> str:
        (self.root / path).unlink()
        return "Deleted"

    def _writes(self, name: str, arguments: Mapping[str, JSON]) -> bool:
        return name.split("_", maxsplit=1)[0] not in ("read", "get") and not arguments.get("dryRun")

    def _before(self, fault: str, arguments: Mapping[str, JSON]) -> Heard | None:
        """What comes of a call that does nothing."""
        match fault:
            case "unreached":
                raise Unreached("upstream_down", "the server is down")
            case "lost before":
                self._lose()
            case "error":
                return self._error("EIO: the disk is full")
            case "echo":
                return self._error(f"EIO: it still holds {self.text(str(arguments['path']))}")
            case "idle":
                return Heard({"content": [], "structuredContent": {}, "isError": False})
        return None

    def _error(self, words: str) -> Heard:
        return Heard({"content": [], "structuredContent": None, "isError": True}, words)

    def _lose(self) -> Heard:
        raise Unreturned("no answer came")


@dataclass(slots=True)
class Desk:
    """A runner over a folder, with the declared tools as the folder's server defines them."""

    folder: Folder
    tools: list[Tool]
    catalog: Catalog = field(init=False)
    runner: Runner = field(init=False)

    def __post_init__(self) -> None:
        named = [(tool, tool.name.partition(".")[2]) for tool in self.tools]
        shaped = [t.with_schema(SCHEMAS[n], published={"name": n}) for t, n in named]
        self.catalog = Catalog.of(shaped)
        toolkits: dict[str, Any] = {}
        self.runner = Runner(toolkits)
        toolkits["mcp"] = RecipeToolkit({"mcp": self.folder}, self.catalog.reach, self.runner.read)

    async def plan(self, name: str, **arguments: JSON) -> Any:
        return await self.runner.plan_twice(self.catalog.find(name), arguments)

    async def done(self, name: str, **arguments: JSON) -> Done:
        """A call that was planned, applied and read back, as a receipt tells it."""
        pinned = await self.plan(name, **arguments)
        tool, order = self.catalog.find(name), Order(pinned.plan, "p_1", pinned.kept)
        returned = await self.runner.apply(tool, order)
        checked = await self.runner.verify(tool, order, returned.result)
        return Done(pinned.plan, returned.result, {"after": checked.after}, pinned.kept)

    async def undo(self, name: str, done: Done) -> Any:
        return await self.runner.plan_twice(self.catalog.find(name), done.plan["arguments"], done)
