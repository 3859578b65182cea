"""What the operator declares of a tool in placet.toml, and the catalog of them. Pure, no I/O."""

from .arguments import BadArguments, printable
from .catalog import Catalog, UnknownTool, missing
from .declaration import BadDeclaration, Tool
from .table import declared
from .title import title, undo_title

__all__ = [
    "BadArguments",
    "BadDeclaration",
    "Catalog",
    "Tool",
    "UnknownTool",
    "declared",
    "missing",
    "printable",
    "title",
    "undo_title",
]
