"""`placet explain`: why a proposal is or is not approved, for its operator or its agent."""

import os
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import typer

from checks.telling import as_text
from checks.wording import stamp
from proposals.tools import printable
from webhook_app.client import Placet, PlacetError

from .operators import ConfigOption, call
from .say import AsJson, give_up, print_json


def explain(
    proposal: str,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Tell why a proposal is or is not approved: rules, people, what is missing, what to do.

    With PLACET_URL and PLACET_TOKEN set, an agent asks about its own. Nothing is changed.
    """
    query = urlencode({"proposal": proposal})
    said = _asked(proposal) or call(config, "GET", f"/explanation?{query}")
    if as_json:
        print_json(said)
        return
    typer.echo(printable(f"Proposal {said['proposal']} ({said['tool']}) is {said['state']}.", 500))
    if said["why"]:
        typer.echo(f"Why: {printable(said['why'], 500)}")
    as_of = stamp(datetime.fromisoformat(said["as_of"]))
    typer.echo(f"As of {as_of}. {printable(said['note'], 500)}")
    if said["verdict"]:
        typer.echo("\n" + as_text(said["verdict"]), nl=False)


def _asked(proposal: str) -> dict[str, Any] | None:
    """What an agent with its token in the environment is told; None for an operator."""
    url, token = os.environ.get("PLACET_URL"), os.environ.get("PLACET_TOKEN")
    if not (url and token):
        return None
    try:
        with Placet(url, token) as placet:
            return placet.explain(proposal)
    except PlacetError as error:
        give_up(str(error))
