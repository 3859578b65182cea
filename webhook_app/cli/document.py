"""The commands as a page of the docs, made from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

HEAD = """\
# Commands

Made from the code by `make docs`. Operators' commands reach the running server through its socket
beside the store; agents' commands use `PLACET_URL` and `PLACET_TOKEN`.
"""


def document(program: typer.Typer) -> str:
    """The page; commands in the order of the alphabet, each with its arguments and options."""
    return "\n".join([HEAD, *_pages(typer.main.get_command(program), "placet")])


def _pages(command: Any, name: str) -> Iterator[str]:
    """One section per command; click's own classes differ from version to version, so by duck."""
    for child, found in sorted(getattr(command, "commands", {}).items()):
        if hasattr(found, "commands"):
            yield from _pages(found, f"{name} {child}")
        else:
            yield _page(found, f"{name} {child}")


def _page(command: Any, name: str) -> str:
    given = [p for p in command.params if p.name != "help"]
    arguments = [p for p in given if p.param_type_name == "argument"]
    usage = " ".join([name, *(_shown(p) for p in arguments)])
    rows = [f"| `{_called(p)}` | {_help(p)} |" for p in given]
    table = ["", "| argument or option | what it is |", "|---|---|", *rows] if rows else []
    return "\n".join([f"## `{usage}`", "", (command.help or "").strip(), *table, ""])


def _shown(parameter: Any) -> str:
    word = (parameter.metavar or parameter.name).upper()
    word += "..." if parameter.nargs == -1 else ""
    return word if parameter.required else f"[{word}]"


def _called(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _shown(parameter)
    return ", ".join(parameter.opts)


def _help(parameter: Any) -> str:
    return str(getattr(parameter, "help", None) or "").replace("|", "\\|")
