"""The operator's commands; they reach the running server through its socket."""

import os
import socket
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import typer

from webhook_app.client import Placet, PlacetError
from webhook_app.settings import FILE, SettingsError, store_path

from .say import AsJson, give_up, print_json, print_proposal, print_rows, say

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help=f"Your {FILE}; it says where the store is.")
]
agents = typer.Typer(no_args_is_help=True, help="Add, list and revoke agents.")


class Unanswered(Exception):
    """No server answers, or it refuses; the words are for the operator."""


def call(
    config: Path | None, method: str, path: str, body: Any = None, seconds: float = 30.0
) -> dict[str, Any]:
    """Ask the server that owns the store; where none runs, say so and exit."""
    try:
        return ask(store_path(config), method, path, body, seconds)
    except (SettingsError, Unanswered) as error:
        give_up(str(error))


def ask(
    store: Path, method: str, path: str, body: Any = None, seconds: float = 30.0
) -> dict[str, Any]:
    """What the server of a store answers; Unanswered."""
    listening = str(store.with_name(store.name + ".sock"))
    absent = (
        f"no server answers for the store {store}. Start it with `placet serve`, or name your "
        f"{FILE} with --config."
    )
    if not _listens(listening):
        raise Unanswered(absent)
    transport = httpx.HTTPTransport(uds=listening)
    try:
        with httpx.Client(transport=transport, base_url="http://placet", timeout=seconds) as http:
            response = http.request(method, path, json=body)
            said = response.json()
    except (httpx.HTTPError, ValueError):
        raise Unanswered(absent) from None
    if not response.is_success:
        raise Unanswered(f"{said.get('detail', 'refused')} {said.get('hint', '')}".strip())
    return dict(said)


def _listens(path: str) -> bool:
    """Knock first: httpcore leaks the socket of a connection that is refused."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        try:
            knock.connect(path)
        except OSError:
            return False
    return True


@agents.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Such as cleanup-bot.")],
    identities: Annotated[
        list[int], typer.Argument(help="Numeric GitHub ids of everyone it works for.")
    ],
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Add an agent and print its token, this once."""
    added = call(config, "POST", "/agents", {"name": name, "identities": identities})
    if as_json:
        print_json(added)
        return
    typer.echo(added["token"])
    typer.echo(f"This is the token of {added['name']}. It is not shown again.", err=True)


@agents.command("list")
def listed(config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the agents and the ids of those they work for."""
    said = call(config, "GET", "/agents")
    if as_json:
        print_json(said)
        return
    rows: list[tuple[object, ...]] = [("agent", "works for", "since", "revoked")]
    rows += [
        (a["name"], ",".join(map(str, a["identities"])), a["created"][:10], a["revoked"] or "no")
        for a in said["agents"]
    ]
    print_rows(rows)


@agents.command("revoke")
def revoke(name: str, config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Shut an agent out at once and withdraw what it has open."""
    said = call(config, "POST", "/agents/revoke", {"name": name})
    if as_json:
        print_json(said)
        return
    withdrawn = ", ".join(said["withdrawn"]) or "none"
    typer.echo(f"{said['name']} can ask for nothing more. Withdrawn proposals: {withdrawn}.")


def status(
    proposal: Annotated[str | None, typer.Argument(help="One proposal, or all in short.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Tell how a proposal, or the whole server, stands.

    With PLACET_URL and PLACET_TOKEN set, an agent asks about its own.
    """
    about = f"?proposal={quote(proposal, safe='')}" if proposal else ""
    said = _asked(proposal) or call(config, "GET", f"/status{about}")
    if as_json:
        print_json(said)
    elif proposal:
        print_proposal(said)
    else:
        _print_overview(said)


def _asked(proposal: str | None) -> dict[str, Any] | None:
    """What an agent with its token in the environment is told; None for an operator."""
    url, token = os.environ.get("PLACET_URL"), os.environ.get("PLACET_TOKEN")
    if not (url and token):
        return None
    try:
        with Placet(url, token) as placet:
            return placet.status(proposal) if proposal else {"latest": placet.proposals()}
    except PlacetError as error:
        give_up(str(error))


def _print_overview(said: dict[str, Any]) -> None:
    counts = said.get("counts", {})
    if counts:
        print_rows([(what, count) for what, count in counts.items()])
    for name, fine in said.get("ready", {}).items():
        if not fine:
            typer.echo(f"NOT READY: {name}")
    _print_stops(said)
    rows = [(p["proposal"], p["status"], p["tool"], p["summary"]) for p in said["latest"]]
    print_rows([("proposal", "status", "tool", "summary"), *rows])


def _print_stops(said: dict[str, Any]) -> None:
    """What stops or slows the server, each in one line with what to do."""
    for scope, why in said.get("halts", {}).items():
        say(f"HALTED {scope or 'everything'}: {why}")
    for found in said.get("problems", []):
        about = found["proposal"] or f"repository {found['repository']}"
        say(f"PROBLEM {found['code']}, {about}, since {found['since']}: {found['why']}")
    for brake in said.get("brakes", []):
        say(
            f"BRAKE installation {brake['installation']}: {brake['waiting']} writes wait for "
            f"GitHub's limits, the next one {brake['seconds']} s"
        )
