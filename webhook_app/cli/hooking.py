"""`placet hook claude-code`: the facts of each turn for an agent that brings its own loop.

Its hooks give one JSON object on stdin. What a prompt's hook prints is context for the model; a
stop's hook may send it back once. A hook never fails: an agent must not stand still for it.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

import typer

from webhook_app.client import Placet, PlacetError, not_confirmed, read_facts

hook = typer.Typer(help="Commands for the hooks of agents' programs.", no_args_is_help=True)

_MOST = 9_000
"""Characters of context that arrive whole."""
_SECONDS = 10.0
"""How long an answer may take: after 30 the hook itself is stopped, and nothing is told."""


@hook.callback()
def hooks() -> None:
    """Answer the hooks of an agent's program."""


@hook.command("claude-code")
def claude_code() -> None:
    """Answer UserPromptSubmit (a new turn, and the report) and Stop (the guard, once)."""
    event = _event(sys.stdin.buffer.read())
    match event.get("hook_event_name"):
        case "UserPromptSubmit":
            typer.echo(prompted(event))
        case "Stop" if not event.get("stop_hook_active"):
            if said := stopped(event):
                typer.echo(json.dumps(said))


def prompted(event: Mapping[str, Any]) -> str:
    """Close the turn before, open the next, and tell what became of everything."""
    try:
        told = _asked("open", event)
    except PlacetError as error:
        return not_confirmed(error)
    return _whole(f"Facts from Placet about the turn before:\n{told['text']}\n{told['pending']}")


def stopped(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Run the guard; None lets the turn end. Its user is told when nobody could be asked."""
    try:
        told = _asked("guard", event)
    except PlacetError as error:
        return {"systemMessage": not_confirmed(error)}
    if not told["correction"]:
        return None
    return {"decision": "block", "reason": _whole(f"{told['correction']}\n{told['text']}")}


def _asked(action: Literal["open", "guard"], event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask the server; PlacetError also when it is not known or is none of ours."""
    url, token = os.environ.get("PLACET_URL"), os.environ.get("PLACET_TOKEN")
    if not (url and token):
        raise PlacetError("not_set_up", "PLACET_URL and PLACET_TOKEN are not set.")
    said = event.get("session_id")
    session = said if isinstance(said, str) else None
    with Placet(url, token, session=session, timeout=_SECONDS) as placet:
        return read_facts(placet.turn(action))


def _event(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _whole(text: str) -> str:
    """The text, or its first lines and a word about the rest: a cut line could say anything."""
    kept: list[str] = []
    size = 0
    for line in text.split("\n"):
        size += len(line) + 1
        if size > _MOST:
            return "\n".join([*kept, "The rest is not shown; placet_list tells all of it."])
        kept.append(line)
    return text
