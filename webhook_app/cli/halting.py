"""`placet freeze`, `unfreeze` and `resume`: the operator's stop."""

from typing import Annotated

import typer

from .operators import ConfigOption, call
from .say import AsJson, print_json, say


def freeze(
    why: Annotated[str, typer.Argument(help="What approvers are told, such as: quarter end.")],
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Let nothing start any more until `placet unfreeze`."""
    said = call(config, "POST", "/freeze", {"why": why})
    if as_json:
        print_json(said)
        return
    say(f"Frozen: nothing starts. Proposals that wait and show it: {len(said['waiting'])}.")


def unfreeze(config: ConfigOption = None, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Let proposals start again."""
    said = call(config, "POST", "/unfreeze")
    if as_json:
        print_json(said)
        return
    was = "No longer frozen" if said["was_frozen"] else "It was not frozen"
    say(f"{was}. Proposals that are looked at again: {len(said['waiting'])}.")


def resume(
    repository: Annotated[str, typer.Argument(help="Its name in placet.toml, or its numeric id.")],
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Go on with a repository that an alarm has halted; look at its ledger first."""
    said = call(config, "POST", "/resume", {"repository": repository})
    if as_json:
        print_json(said)
        return
    was = "No longer halted" if said["was_halted"] else "It was not halted"
    say(f"{was}. Proposals that are looked at again: {len(said['waiting'])}.")
