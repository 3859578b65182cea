"""The agents' commands, over HTTP with PLACET_URL and PLACET_TOKEN."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from proposals.canonical import NotCanonical, digest, loads
from webhook_app.client import Placet, PlacetError

from .say import AsJson, give_up, print_json, print_proposal


def propose(
    tool: Annotated[str, typer.Argument(help="Such as fs.write_file.")],
    arguments: Annotated[str, typer.Argument(help="A JSON file, or - for stdin.")],
    reason: Annotated[str, typer.Option(help="Why; people read it as your claim.")] = "",
    key: Annotated[str | None, typer.Option(help="Same key, same proposal.")] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait until it is over.")] = 0.0,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Ask for a tool call; a person must approve it before anything is done."""
    value = _value(arguments)
    if not isinstance(value, dict):
        give_up('the arguments are not a JSON object. Send something like {"ids": [17]}.')
    with _placet() as placet:
        try:
            said = placet.propose(tool, value, reason=reason, key=key)
            if wait > 0:
                said = placet.wait(said["proposal"], wait)
        except PlacetError as error:
            give_up(str(error))
    if as_json:
        print_json(said)
    else:
        print_proposal(said)


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
    if as_json:
        print_json(said)
    else:
        print_proposal(said)


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


def _value(file: str) -> object:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return loads(data)
    except OSError as error:
        give_up(f"{file} cannot be read: {error.strerror}.")
    except NotCanonical as error:
        give_up(f"{file} is not usable JSON ({error.code}): {error}")


def _placet() -> Placet:
    url, token = os.environ.get("PLACET_URL"), os.environ.get("PLACET_TOKEN")
    if not (url and token):
        give_up(
            "no server to ask. Set PLACET_URL to its address and PLACET_TOKEN to the token that "
            "`placet agents add` printed."
        )
    return Placet(url, token)
