"""`placet traps`: what weak models do, done on purpose to a whole Placet on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from .announced import announced
from .say import give_up


def traps(
    base_url: Annotated[
        str, typer.Option(help="A model's OpenAI-compatible address, such as http://HOST:PORT/v1.")
    ] = "",
    model: Annotated[str, typer.Option(help="Its name there.")] = "",
    runs: Annotated[int, typer.Option(min=1, help="How often each job is run.")] = 1,
    job: Annotated[list[str] | None, typer.Option(help="Only this job.")] = None,
    keep: Annotated[Path | None, typer.Option(help="Keep everything in this folder.")] = None,
) -> None:
    """Run the jobs in which agents go wrong, and count what ran without approval. Exit 1: any.

    Scripted agents, or a real model with --base-url and --model; its key in PLACET_MODEL_KEY.
    Everything runs on this machine and is made up; nothing of yours is touched.
    """
    if bool(base_url) != bool(model):
        give_up("--base-url and --model go together: where the model is, and what it is called.")
    announced("traps", "the traps are")(base_url, model, runs, job or [], keep)
