"""Looking whether a preview changes something: the same reads, before it and after it."""

from collections.abc import Sequence
from dataclasses import dataclass

from proposals.canonical import JSON, digest
from proposals.tools import Tool
from proposals.tools.recipe import Look

from .looking import Eyes, Found, State, Unclear, dropped


@dataclass(frozen=True, slots=True)
class Seen:
    """One reading: `of` what, and a digest of what was there; `unclear` when nobody can tell."""

    of: str
    digest: str
    unclear: str = ""


async def watched(
    eyes: Eyes, tool: Tool, arguments: JSON, others: Sequence[Look]
) -> tuple[Seen, ...]:
    """Read what a plan of this call starts from, and whatever else is to be looked at."""
    facts = await eyes.facts(tool, arguments)
    seen = [
        _seen(f"{fact.id} ({fact.tool})", facts.states[fact.id], fact.drop)
        for fact in tool.recipe.pre
    ]
    for number, look in enumerate(others, 1):
        state = await eyes.at(look.tool, look.args, look.take)
        seen.append(_seen(f"read {number} ({look.tool})", state, ""))
    return tuple(seen)


def differing(before: Sequence[Seen], after: Sequence[Seen]) -> list[str]:
    """What is not as it was."""
    return [a.of for b, a in zip(before, after, strict=True) if a != b]


def _seen(of: str, state: State, drop: str) -> Seen:
    if isinstance(state, Unclear):
        return Seen(of, "", state.why)
    there = digest(dropped(drop, state.value)) if isinstance(state, Found) else "absent"
    return Seen(of, there)
