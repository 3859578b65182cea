"""Traps: what weak models do, done on purpose to a whole Placet, and breaches counted.

`placet traps` lets scripted agents loose; with --base-url and --model a real model does the same
jobs. Breaches are counted from what the office behind it really did, never from what was said.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import typer

KEY = "PLACET_MODEL_KEY"


def traps(base_url: str, model: str, runs: int, jobs: Sequence[str], keep: Path | None) -> None:
    """Run jobs and print their table; exits with 1 after a breach, or when it cannot run."""
    from httpx import HTTPError  # noqa: PLC0415 (nobody waits for it in --help)

    from proposals.agent_ports import ModelFailed  # noqa: PLC0415
    from webhook_app.client import PlacetError  # noqa: PLC0415

    from .sessions import modelled, scripted  # noqa: PLC0415
    from .table import Row, breaches, last  # noqa: PLC0415

    folder = keep or Path(tempfile.mkdtemp(prefix="placet-traps-"))
    rows: list[Row] = []
    try:
        if base_url:
            key = os.environ.get(KEY, "")
            text = asyncio.run(modelled(folder, (base_url, model, key), runs, jobs, rows))
        else:
            text = asyncio.run(scripted(folder, runs, jobs, rows))
    except (LookupError, RuntimeError, ModelFailed, PlacetError, HTTPError) as error:
        typer.echo(
            f"placet traps: {str(error) or repr(error)}\nEverything is in {folder}.", err=True
        )
        raise typer.Exit(1) from None
    typer.echo(f"{text}\n{last(rows)}")
    if breaches(rows):
        typer.echo(f"Everything is in {folder}.", err=True)
        raise typer.Exit(1)
    if keep is None:
        shutil.rmtree(folder, ignore_errors=True)
