"""`placet resolve`: what the operator found out about an outcome that nobody knows."""

from enum import StrEnum
from typing import Annotated

import typer

from .operators import ConfigOption, call
from .say import AsJson, print_json, print_proposal


class Outcome(StrEnum):
    """What can be found out."""

    APPLIED = "applied"
    FAILED = "failed"


def resolve(
    proposal: Annotated[str, typer.Argument(help="The proposal, such as p_1f0c.")],
    outcome: Annotated[Outcome, typer.Argument(help="Whether it was done.")],
    why: Annotated[str, typer.Argument(help="How you know; it stands in the signed receipt.")],
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Settle an unknown outcome where nobody can comment, as on a bare commit.

    On a pull request people who may decide comment `/resolve` instead.
    """
    body = {"proposal": proposal, "outcome": outcome.value, "why": why}
    said = call(config, "POST", "/resolve", body)
    if as_json:
        print_json(said)
    else:
        print_proposal(said)
