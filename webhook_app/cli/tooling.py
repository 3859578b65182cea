"""`placet tools`: what is declared, a start for what is not yet, and proof of what previews do."""

import asyncio
import json
import logging
import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from proposals.canonical import NotCanonical, loads
from proposals.tools import BadDeclaration
from webhook_app.settings import FILE, Upstream

from .operators import ConfigOption, call
from .say import AsJson, give_up, print_json, print_rows, say

tools = typer.Typer(
    invoke_without_command=True, help="List the declared tools, or prepare others for it."
)
ServerArgument = Annotated[
    list[str], typer.Argument(help="The server's command, after --, or its URL.")
]
EnvOption = Annotated[
    list[str] | None, typer.Option(help="NAME: a variable of yours that the server gets.")
]
HeaderOption = Annotated[
    list[str] | None, typer.Option(help="HEADER=NAME: sent to the URL, from that variable.")
]
PATIENCE = 300.0  # seconds for a preview and the reads around it
WAIT = 60.0


@tools.callback()
def _tools(context: typer.Context, config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the declared tools; every other one is denied."""
    if context.invoked_subcommand is None:
        listed(config, as_json)


@tools.command("list")
def listed(config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the declared tools; every other one is denied."""
    said = call(config, "GET", "/tools")
    if as_json:
        print_json(said)
        return
    rows: list[tuple[object, ...]] = [("tool", "effect", "mode", "repository", "preview")]
    rows += [
        (
            *(t["name"], t["effect"], t["mode"] if t["gated"] else "runs"),
            *(t["repository"] or "none", t["preview"] or "none"),
        )
        for t in said["tools"]
    ]
    print_rows(rows)


@tools.command("suggest")
def suggest(
    server: ServerArgument,
    name: Annotated[str, typer.Option(help="What to call the upstream.")] = "",
    env: EnvOption = None,
    header: HeaderOption = None,
    out: Annotated[Path | None, typer.Option(help="A new file, instead of stdout.")] = None,
) -> None:
    """Write a start for placet.toml from what a server lists; nothing in it is in force.

    The server is started and asked for its list; none of its tools is called.
    """
    from webhook_app.toolkits import suggesting  # noqa: PLC0415

    # What cannot be used stands in the file, with the reason.
    logging.getLogger("placet").addHandler(logging.NullHandler())
    upstream = upstream_of(server, env or [], header or [])
    try:
        listing = asyncio.run(suggesting.listed(upstream, Path.cwd(), os.environ))
        called = _called(name or suggesting.named(listing))
        text = suggesting.starter(called, upstream, listing)
    except suggesting.NotListed as error:
        give_up(f"the server did not say what tools it has: {error}. Try it by hand.")
    except BadDeclaration as error:
        give_up(str(error))
    _write(text, out)


@tools.command("check")
def check(
    tool: Annotated[str | None, typer.Argument(help="Such as fs.edit_file.")] = None,
    arguments: Annotated[str, typer.Option(help="JSON: the call whose preview is run.")] = "{}",
    read: Annotated[
        list[str] | None,
        typer.Option(help='TOOL or TOOL={"json": 1}: a read whose answer must stay the same.'),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds before the last reading.")] = WAIT,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Prove that a preview changes nothing: read, preview, read, and read again after a minute.

    A preview that does change something changes it here: use data that may be lost. Without TOOL:
    tell which previews are proven. Exit 1: not proven.
    """
    if tool is None:
        _previews(config, as_json=as_json)
        return
    body = {"tool": tool, "arguments": _object(arguments), "reads": [_read(r) for r in read or []]}
    said = call(config, "POST", "/previews", body, PATIENCE)
    if said["trial"]:
        if not as_json:
            say(f"Nothing has changed so far. Reading again in {wait:g} s.")
        time.sleep(wait)
        said = call(config, "POST", f"/previews/{said['trial']}/again", None, PATIENCE)
    _print(said, as_json=as_json)
    raise typer.Exit(0 if said["proven"] else 1)


def _previews(config: Path | None, *, as_json: bool) -> None:
    found = [t for t in call(config, "GET", "/tools")["tools"] if t["preview"]]
    if as_json:
        print_json({"previews": {t["name"]: t["preview"] for t in found}})
        return
    print_rows([("tool", "preview"), *((t["name"], t["preview"]) for t in found)])


def _print(said: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json({name: said[name] for name in said if name != "trial"})
        return
    if said["proven"]:
        say(f"Proven: the preview of {said['tool']} changed nothing that was read.")
        say("Plans say no more that it is not isolated, until the tool changes.")
    else:
        say(f"NOT a preview: with {said['tool']} something changed. Do not declare it as one.")
    for name in said["reads"]:
        say(f"  {'CHANGED' if name in said['changed'] else 'the same'}  {name}")


def upstream_of(server: list[str], env: list[str], header: list[str]) -> Upstream:
    """The server that words of the command line name; gives up when they name none."""
    try:
        headers = dict(one.split("=", 1) for one in header)
        if len(server) == 1 and server[0].startswith(("http://", "https://")):
            return Upstream(url=server[0], headers_env=headers)
        variables = {name: f"env:{name}" for name in env}
        return Upstream(command=_absolute(server), env=variables, headers_env=headers)
    except ValueError as error:
        words = str(error).split("Value error, ")[-1].split(" [type=")[0]
        give_up(f"that is no server: {words}. Write -- COMMAND ARGUMENTS..., or a URL.")


def _absolute(command: list[str]) -> tuple[str, ...]:
    """The command with its files as absolute paths: relative ones begin where placet.toml is."""
    program, *rest = command
    files = [word if word[:1] == "-" or not Path(word).exists() else _path(word) for word in rest]
    return (_path(program) if "/" in program else program, *files)


def _path(word: str) -> str:
    return str(Path(word).absolute())


def _called(name: str) -> str:
    from webhook_app.settings.upstreams import named  # noqa: PLC0415

    try:
        return named(name)
    except ValueError as error:
        give_up(f"--name {name}: {error}.")


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        give_up(f"{out} is there already, and is not overwritten. Name another file.")
    except OSError as error:
        give_up(f"{out} cannot be written: {error.strerror}.")
    say(f"Written to {out}. Nothing in it is in force; confirm what you want in your {FILE}.")


def _read(said: str) -> dict[str, Any]:
    name, _, given = said.partition("=")
    return {"tool": name, "arguments": _object(given or "{}")}


def _object(text: str) -> dict[str, Any]:
    try:
        value = loads(text)
    except NotCanonical as error:
        give_up(f"the arguments are not strict JSON: {error}.")
    if not isinstance(value, dict):
        give_up(f"{json.dumps(text)} is not a JSON object, such as {{}}.")
    return value
