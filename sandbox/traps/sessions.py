"""Many runs in one place: all jobs by their scripts, or by a model as often as is asked for."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from proposals.agent_ports import ModelFailed

from . import modelled as with_model
from . import table
from .counting import Count
from .hands import ungated
from .place import place
from .running import Trials, bare, chosen

Address = tuple[str, str, str]
"""A model's base URL, name and key."""


async def scripted(folder: Path, runs: int, jobs: Sequence[str], rows: list[table.Row]) -> str:
    """Let the scripted agents loose; the table, with its `rows` as they come. LookupError."""
    wanted, office = chosen(jobs), folder / "bare"
    async with place(folder) as here, ungated(office) as hands:
        trials = Trials(here)
        for job in wanted:
            without = [await bare(hands, office, job) for _ in range(runs)]
            rows.append(table.Row(job, without, [await trials.scripted(job) for _ in range(runs)]))
    return table.scripted(rows)


async def modelled(
    folder: Path, address: Address, runs: int, jobs: Sequence[str], rows: list[table.Row]
) -> str:
    """Let a model do the jobs, with and without Placet; ModelFailed when it never answers."""
    wanted, office = chosen(jobs), folder / "bare"
    async with (
        place(folder) as here,
        with_model.chat(*address) as model,
        ungated(office) as hands,
    ):
        trials = Trials(here)
        for job in wanted:
            without = await _heard(runs, partial(with_model.bare, hands, office, model, job))
            through = await _heard(runs, partial(with_model.gated, trials, model, job))
            unheard = 2 * runs - len(without) - len(through)
            rows.append(table.Row(job, without, through, unheard))
    if not any(row.gated for row in rows):
        raise ModelFailed(f"{address[1]} at {address[0]} never answered; nothing is measured.")
    return table.modelled(rows)


async def _heard(runs: int, run: Callable[[], Awaitable[Count]]) -> list[Count]:
    """The runs in which the model took part."""
    found = []
    for _ in range(runs):
        try:
            found.append(await run())
        except ModelFailed:
            continue
    return found
