"""`placet doctor`: what is wrong, or not behind the gate, each with what to do about it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from webhook_app.mcp_clients import Unreadable, read, ungated
from webhook_app.settings import FILE, SettingsError, load, store_path

from .importing import address
from .operators import ConfigOption, Unanswered, ask
from .say import AsJson, print_json, say

# Events whose workflows run from the default branch, whatever branch they are about.
_ELSEWHERE = frozenset(
    {
        *("pull_request_target", "issue_comment", "check_run", "check_suite", "status"),
        *("workflow_run", "delete"),
    }
)


class Finding(NamedTuple):
    """One thing that was looked at: whether it is as it should be, and in words what and why."""

    check: str
    ok: bool
    says: str


def doctor(
    client: Annotated[
        list[Path] | None, typer.Option(help="A client's file to look for ungated servers in.")
    ] = None,
    clone: Annotated[
        Path | None, typer.Option(help="A clone of the governing repository: its workflows.")
    ] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Say what is wrong with this Placet, and what reaches tools without it; exit 1 if anything."""
    found = [*_configuration(config), *_server(config)]
    for file in client or []:
        found += _client(file, address(config or Path(FILE)))
    found += _workflows(clone) if clone else []
    if as_json:
        print_json({"ok": all(f.ok for f in found), "findings": [f._asdict() for f in found]})
    else:
        for one in found:
            say(f"{'ok     ' if one.ok else 'PROBLEM'}  {one.check}: {one.says}")
    raise typer.Exit(0 if all(one.ok for one in found) else 1)


def _configuration(config: Path | None) -> Iterator[Finding]:
    try:
        loaded = load(config)
    except SettingsError as error:
        yield Finding("configuration", ok=False, says=str(error).removeprefix("placet: "))
        return
    tools = loaded.tools.list()
    yield Finding("configuration", ok=True, says=f"it loads; {len(tools)} tools are declared")
    for tool in tools:
        if tool.lacking:
            yield Finding(f"tool {tool.name}", ok=False, says=tool.lacking)


def _server(config: Path | None) -> Iterator[Finding]:
    try:
        store = store_path(config)
        said, tools = ask(store, "GET", "/status"), ask(store, "GET", "/tools")["tools"]
    except (SettingsError, Unanswered) as error:
        yield Finding("server", ok=False, says=str(error).removeprefix("placet: "))
        return
    yield Finding("server", ok=True, says="it answers")
    yield from _standing(said)
    yield from _app(store)
    for tool in tools:
        if tool["preview"] == "not proven":
            says = f"nobody has proven that it changes nothing: placet tools check {tool['name']}"
            yield Finding(f"preview of {tool['name']}", ok=False, says=says)


def _app(store: Path) -> Iterator[Finding]:
    try:
        said = ask(store, "GET", "/app")
    except Unanswered as error:
        said = {"problem": str(error)}
    if said["problem"]:
        yield Finding("GitHub App", ok=False, says=said["problem"])
        return
    for says in said["lacking"]:
        yield Finding("GitHub App", ok=False, says=f"{says} docs/install.md says what it needs.")
    if not said["lacking"]:
        yield Finding("GitHub App", ok=True, says="it may do and is told of all that it needs")


def _standing(said: dict[str, Any]) -> Iterator[Finding]:
    """What the server knows to be wrong, the App's reach on GitHub included."""
    for name, fine in said["ready"].items():
        if not fine:
            yield Finding(name, ok=False, says="it is not ready; look at the server's log")
    for name, why in said["upstreams"].items():
        yield Finding(f"upstream {name}", ok=not why, says=why or "it is up")
    for scope, why in said["halts"].items():
        yield Finding(scope or "everything", ok=False, says=f"halted: {why}")
    for one in said["problems"]:
        about = one["proposal"] or f"repository {one['repository']}"
        yield Finding(about, ok=False, says=f"{one['code']}: {one['why']}")


def _client(file: Path, url: str) -> Iterator[Finding]:
    try:
        document = read(file)
    except Unreadable as error:
        yield Finding(f"client {file}", ok=False, says=str(error))
        return
    around = ungated(document, url)
    for one in around:
        says = f"{one.name} is reached without Placet. Run: placet mcp import {file}"
        yield Finding(f"client {file}", ok=False, says=says)
    if not around:
        says = "no server in it is reached without Placet; its shell and file tools are its own"
        yield Finding(f"client {file}", ok=True, says=says)


def _workflows(clone: Path) -> Iterator[Finding]:
    """Workflows of the default branch that events about Placet's own branches still start."""
    folder = clone / ".github" / "workflows"
    started = 0
    for file in sorted(folder.glob("*.y*ml")):
        try:
            said = YAML(typ="safe", pure=True).load(file.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, YAMLError):
            yield Finding(f"workflow {file.name}", ok=False, says="it cannot be read")
            continue
        if events := sorted(_ELSEWHERE.intersection(_events(said))):
            started += 1
            says = f"runs on {', '.join(events)}, so also for what Placet does. Have it ignore that"
            yield Finding(f"workflow {file.name}", ok=False, says=f"{says} or drop the event.")
    if not started:
        yield Finding("workflows", ok=True, says="none runs for what Placet does")


def _events(workflow: Any) -> Iterable[str]:
    said = workflow.get("on") if isinstance(workflow, dict) else None
    names = [said] if isinstance(said, str) else said if isinstance(said, list | dict) else []
    return [name for name in names if isinstance(name, str)]
