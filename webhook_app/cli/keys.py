"""`placet keys`: what auditors pin, and a new key that the old one signs."""

from datetime import UTC, datetime
from typing import Any

import typer

from webhook_app.settings import SettingsError, store_path

from .operators import ConfigOption, call
from .say import AsJson, give_up, print_json, print_rows, say

keys = typer.Typer(
    invoke_without_command=True, help="Tell the keys that sign statements, or make a new one."
)


@keys.callback()
def _keys(context: typer.Context, config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Tell the fingerprint that auditors pin, and the public half of the key in use."""
    if context.invoked_subcommand is None:
        listed(config, as_json)


@keys.command("list")
def listed(config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Tell the fingerprint that auditors pin, and every key since."""
    said = call(config, "GET", "/keys")
    if as_json:
        print_json(said)
        return
    _print(said)


@keys.command("new")
def new(config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Make a new signing key and let the old one sign it; the server uses it from its next start.

    Auditors go on with the fingerprint they have.
    """
    from webhook_app.app.key import key_path, new_key  # noqa: PLC0415 (the whole server is in it)

    try:
        made = new_key(key_path(store_path(config)), datetime.now(UTC))
    except SettingsError as error:
        give_up(str(error))
    if as_json:
        print_json({"fingerprint": made.keyid, "public_pem": made.public_pem().decode()})
        return
    say(f"{made.keyid} follows. Restart the server, which signs with it from then on.")
    say("The old key is gone. Auditors keep the fingerprint they have and follow.")


def _print(said: dict[str, Any]) -> None:
    typer.echo(said["first"])
    if said["successions"]:
        rows = [(s["signed"], s["from"], s["to"]) for s in said["successions"]]
        print_rows([("signed", "key", "followed by"), *rows])
    typer.echo(said["public_pem"], nl=False)
