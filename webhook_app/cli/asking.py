"""The agents' commands, over HTTP with PLACET_URL and PLACET_TOKEN."""

import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from proposals.canonical import NotCanonical, digest, loads
from webhook_app.client import Placet, PlacetError

from .say import AsJson, give_up, print_json, print_proposal


def propose(
    tool: Annotated[str, typer.Argument(help="Such as fs.write_file.")],
    arguments: Annotated[str, typer.Argument(help="A JSON file, or - for stdin.")],
    reason: Annotated[str, typer.Option(help="Why; people read it as your claim.")] = "",
    key: Annotated[str | None, typer.Option(help="Same key, same proposal.")] = None,
    target: Annotated[
        str | None, typer.Option(help="Show it there: owner/name#12 or owner/name@SHA.")
    ] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait until it is over.")] = 0.0,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Ask for a tool call; a person must approve it before anything is done."""
    value = _value(arguments)
    if not isinstance(value, dict):
        give_up('the arguments are not a JSON object. Send something like {"ids": [17]}.')
    page = _target(target) if target else None
    with _placet() as placet:
        try:
            said = placet.propose(tool, value, reason=reason, key=key, target=page)
            if wait > 0:
                said = placet.wait(said["proposal"], wait)
        except PlacetError as error:
            give_up(str(error))
    _print(said, as_json=as_json)


def withdraw(
    proposal: str,
    reason: Annotated[str, typer.Option(help="Why; people read it.")] = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Take a proposal back; nothing of it is done any more."""
    with _placet() as placet:
        try:
            said = placet.withdraw(proposal, reason=reason)
        except PlacetError as error:
            give_up(str(error))
    _print(said, as_json=as_json)


def undo(
    proposal: str,
    reason: Annotated[str, typer.Option(help="Why; people read it as your claim.")] = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Ask for taking back what was applied; a person must approve that too."""
    with _placet() as placet:
        try:
            said = placet.undo(proposal, reason=reason)
        except PlacetError as error:
            give_up(str(error))
    _print(said, as_json=as_json)


def digest_of(
    file: Annotated[str, typer.Argument(help="A plan as JSON, or - for stdin.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Print the digest of a JSON file, to compare it with what was approved."""
    found = digest(_value(file))
    if as_json:
        print_json({"digest": found})
    else:
        typer.echo(found)


def _target(text: str) -> dict[str, object]:
    """The page that `owner/name#12` or `owner/name@SHA` means."""
    found = re.fullmatch(r"([^#@\s]+)(?:#([1-9][0-9]{0,14})|@([0-9a-f]{40}))", text)
    if found is None:
        give_up("--target is owner/name#12 or owner/name@SHA, with all 40 digits of the sha.")
    repository, number, commit = found.groups()
    named: dict[str, object] = {"pull_request": int(number)} if number else {"commit": commit}
    return {"repository": repository, **named}


def _print(said: dict[str, Any], *, as_json: bool) -> None:
    """Show an answer as the agent asked for it."""
    if as_json:
        print_json(said)
    else:
        print_proposal(said)


def _value(file: str) -> object:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return loads(data)
    except OSError as error:
        give_up(f"{file} cannot be read: {error.strerror}.")
    except NotCanonical as error:
        give_up(f"{file} is not usable JSON ({error.code}): {error}")


def server() -> tuple[str, str]:
    """Where the agent's server is, and the agent's token; without both the command ends."""
    url, token = os.environ.get("PLACET_URL"), os.environ.get("PLACET_TOKEN")
    if not (url and token):
        give_up(
            "no server to ask. Set PLACET_URL to its address and PLACET_TOKEN to the token that "
            "`placet agents add` printed."
        )
    return url.rstrip("/"), token


def _placet() -> Placet:
    return Placet(*server())
