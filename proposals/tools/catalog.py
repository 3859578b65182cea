"""The tools that exist; every other name is denied."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .arguments import nearest, printable
from .declaration import BadDeclaration, Tool
from .soundness import through


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
    """The declared tools by their names, and apart from them Placet's `own`: no agent's."""

    tools: dict[str, Tool]
    own: dict[str, Tool] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "Catalog":
        """A catalog of these tools; BadDeclaration when two have one name."""
        made = cls({})
        for tool in tools:
            if tool.name in made.tools or tool.name in made.own:
                raise BadDeclaration(f"[tool.{tool.name}] is declared twice; remove one.")
            (made.own if tool.own else made.tools)[tool.name] = tool
        for tool in made.whole():
            made._keep(tool)
        return made

    def find(self, name: str) -> Tool:
        """The tool of exactly this name; UnknownTool names the nearest one."""
        if name in self.tools:
            return self.tools[name]
        raise missing(name, self.tools)

    def reach(self, name: str) -> Tool:
        """The same for a recipe's calls, which have Placet's own tools as well; UnknownTool."""
        return self.own[name] if name in self.own else self.find(name)

    def publish(self, tool: Tool) -> None:
        """Replace a tool by what its upstream says of it now; UnknownTool.

        Those that change things through it are other tools by that.
        """
        self.reach(tool.name)
        self._keep(tool)
        for other in self.whole():
            if any(one.name == tool.name for one in other.through):
                self._keep(other)

    def whole(self) -> list[Tool]:
        """Placet's own as well as the declared ones."""
        return [*self.list(), *(self.own[name] for name in sorted(self.own))]

    def list(self) -> list[Tool]:
        """All that are declared, by name."""
        return [self.tools[name] for name in sorted(self.tools)]

    def _keep(self, tool: Tool) -> None:
        """Put a tool in its place, with those that it changes things through."""
        found = through(tool, self._known)
        whole = tool.model_copy(update={"through": tuple(found.values())})
        (self.own if tool.name in self.own else self.tools)[tool.name] = whole

    def _known(self, name: str) -> Tool | None:
        return self.own.get(name) or self.tools.get(name)
