"""The tools that exist; every other name is denied."""

from collections.abc import Iterable
from dataclasses import dataclass

from .arguments import nearest, printable
from .declaration import BadDeclaration, Tool


class UnknownTool(LookupError):
    """No tool of this name is declared: the agent must take another, or the operator declare it."""

    code = "unknown_tool"
    hint = "Undeclared tools are denied; an operator can declare it in placet.toml."


def missing(name: str, names: Iterable[str]) -> UnknownTool:
    """Say that none of these names is this one, and which is nearest."""
    near = nearest(name, [*names])
    return UnknownTool(f'No tool "{printable(name, 80)}" is declared.{near}')


@dataclass(frozen=True, slots=True)
class Catalog:
    """The declared tools by their names."""

    tools: dict[str, Tool]

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "Catalog":
        """A catalog of these tools; BadDeclaration when two have one name."""
        named: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in named:
                raise BadDeclaration(f"[tool.{tool.name}] is declared twice; remove one.")
            named[tool.name] = tool
        return cls(named)

    def find(self, name: str) -> Tool:
        """The tool of exactly this name; UnknownTool names the nearest one."""
        if name in self.tools:
            return self.tools[name]
        raise missing(name, self.tools)

    def publish(self, tool: Tool) -> None:
        """Replace a declared tool by what its upstream says of it now; UnknownTool."""
        self.find(tool.name)
        self.tools[tool.name] = tool

    def list(self) -> list[Tool]:
        """All of them, by name."""
        return [self.tools[name] for name in sorted(self.tools)]
