"""The commands put together, and `placet serve`."""

from pathlib import Path
from typing import Annotated

import typer

from webhook_app.settings import FILE, SettingsError, load

from . import (
    asking,
    auditing,
    bridging,
    doctoring,
    explaining,
    exporting,
    halting,
    hooking,
    keys,
    operators,
    policies,
    resolving,
    restoring,
    simulating,
    tooling,
    tricking,
)
from .say import give_up
from .uncollected import uncollected

program = typer.Typer(
    name="placet",
    help="Agents propose, people dispose.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
program.add_typer(operators.agents, name="agents")
program.add_typer(policies.policy, name="policy")
program.add_typer(keys.keys, name="keys")
program.add_typer(hooking.hook, name="hook")
program.add_typer(bridging.mcp, name="mcp")
program.add_typer(tooling.tools, name="tools")
program.command("status")(operators.status)
program.command("doctor")(doctoring.doctor)
program.command("freeze")(halting.freeze)
program.command("unfreeze")(halting.unfreeze)
program.command("resume")(halting.resume)
program.command("resolve")(resolving.resolve)
program.command("audit")(auditing.audit_clone)
program.command("restore")(restoring.restore)
program.command("export")(exporting.export)
program.command("propose")(asking.propose)
program.command("withdraw")(asking.withdraw)
program.command("undo")(asking.undo)
program.command("digest")(asking.digest_of)
program.command("explain")(explaining.explain)
program.command("simulate")(simulating.simulate)
program.command("traps")(tricking.traps)


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
    with uncollected():  # half a second of imports that no other command needs
        from webhook_app.app import run  # noqa: PLC0415
    refusal = run(loaded, poll=poll)
    if refusal:
        give_up(refusal)
