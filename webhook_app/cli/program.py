"""The commands put together, and `placet serve`."""

from pathlib import Path
from typing import Annotated

import typer

from webhook_app.settings import FILE, SettingsError, load

from . import asking, operators
from .say import give_up

program = typer.Typer(
    name="placet",
    help="Agents propose, people dispose.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
program.add_typer(operators.agents, name="agents")
program.command("status")(operators.status)
program.command("tools")(operators.tools)
program.command("keys")(operators.keys)
program.command("propose")(asking.propose)
program.command("withdraw")(asking.withdraw)
program.command("digest")(asking.digest_of)


@program.command("serve")
def serve(
    config: Annotated[Path | None, typer.Option(help=f"Your {FILE}.")] = None,
    poll: Annotated[  # noqa: FBT002 (a switch of the command line)
        bool, typer.Option("--poll", help="Fetch deliveries from GitHub's log, without a webhook.")
    ] = False,
) -> None:
    """Run the server."""
    try:
        loaded = load(config)
    except SettingsError as error:
        give_up(str(error))
    # Half a second of imports that no other command needs.
    from webhook_app.app import run  # noqa: PLC0415

    refusal = run(loaded, poll=poll)
    if refusal:
        give_up(refusal)


def main() -> None:
    """Run the command line."""
    program()
