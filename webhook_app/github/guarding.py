"""Whether GitHub asks for a review before the default branch, and the policy in it, can change."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checks.policy import POLICY_PATH
from proposals.ports import ForgeError

from .files import read
from .owners import PLACES, Line, deciding
from .repository import Repository
from .shapes import Branch, Fault, Faults, RuleOf

FRESH = 3600.0
"""Seconds in which what was read is not asked again."""

_SHOWN = 3
_OPEN = f"whoever can push to the default branch can change `{POLICY_PATH}` without a review"
_UNSURE = f"nobody can tell whether `{POLICY_PATH}` can be changed without a review"
_RULE = (
    "somebody with admin access must add a ruleset for the default branch which requires a pull "
    "request with 1 approval"
)
_COUNT = "somebody with admin access must have the ruleset require 1 approval"


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether a change needs somebody's review (None: nobody can tell), and else why, in words."""

    kept: bool | None
    weakness: str = ""


UNKNOWN = Guard(None)


@dataclass(slots=True)
class Guards:
    """Keeps each answer for an hour by `clock` (seconds that only grow)."""

    clock: Callable[[], float]
    _kept: dict[int, tuple[float, Guard]] = field(default_factory=dict)

    async def of(self, repo: Repository) -> Guard:
        """Whether a change of the policy needs somebody's approving review."""
        at, known = self._kept.get(repo.id, (0.0, UNKNOWN))
        if repo.id in self._kept and self.clock() - at < FRESH:
            return known
        try:
            found = await _read(repo)
        except ForgeError:
            return UNKNOWN
        self._kept[repo.id] = (self.clock(), found)
        return found


async def _read(repo: Repository) -> Guard:
    """By the rules that everybody can read; what an older protection asks for, only owners can."""
    branch = repo.default_branch.split("/")
    rules: list[RuleOf] = await repo.every(RuleOf, "rules", "branches", *branch)
    if any(rule.reviews >= 1 for rule in rules):
        return Guard(kept=True)
    if any(rule.owners for rule in rules):
        return await _by_owners(repo)
    shown = (await repo.ask("GET", "branches", *branch)).read(Branch)
    return (
        UNKNOWN if shown.protected else Guard(kept=False, weakness=f"{_OPEN}. To end that, {_RULE}")
    )


async def _by_owners(repo: Repository) -> Guard:
    """By the file that GitHub takes owners from: no owner, no review.

    The file must have owners too, and so must each place that GitHub would look at before it:
    whoever can write there without a review names himself the owner of the policy.
    """
    for at, path in enumerate(PLACES):
        if file := await read(repo, path):
            listed = (await repo.ask("GET", "codeowners", "errors")).read(Faults).errors
            paths = (POLICY_PATH, *PLACES[: at + 1])
            # In a thread of its own: whoever may push can make it long.
            return await asyncio.to_thread(_judged, path, file.data, listed, paths)
    why = "GitHub asks for the review of code owners, but no CODEOWNERS file names any"
    todo = _name_owners(PLACES[0], (POLICY_PATH, PLACES[0]))
    return Guard(kept=False, weakness=f"{_OPEN}: {why}. To end that, {todo}")


def _judged(used: str, data: bytes | None, faults: Sequence[Fault], paths: Sequence[str]) -> Guard:
    if data is None:
        return Guard(None, f"{_UNSURE}: `{used}` is too long to be read. To end that, {_COUNT}")
    if faults:
        return Guard(None, _faulty(used, faults))
    text = data.decode(errors="replace")
    lines = {path: deciding(text, path) for path in paths}
    weak = [path for path in paths if not lines[path].owned]
    if not weak:
        return Guard(kept=True)
    sure = any(lines[path].owned is False for path in weak)
    why = "; ".join(_why(used, path, lines[path]) for path in weak)
    said = f"{_OPEN if sure else _UNSURE}: {why}"
    return Guard(False if sure else None, f"{said}. To end that, {_name_owners(used, weak)}")


def _faulty(used: str, faults: Sequence[Fault]) -> str:
    lines = sorted({fault.line for fault in faults})
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    where = f"line{'s'[: len(lines) > 1]} {', '.join(map(str, lines[:_SHOWN]))}{more}"
    return (
        f"{_UNSURE}: GitHub finds errors in `{used}` ({where}) and skips what it does not "
        f"understand. To end that, somebody with write access must mend the file, or {_COUNT}"
    )


def _why(used: str, path: str, line: Line) -> str:
    if line.owned is None:
        return f"line {line.number} of `{used}` may be about `{path}`, and Placet cannot read it"
    if line.number:
        return f"line {line.number} of `{used}` leaves `{path}` without an owner"
    return f"`{used}` names no owner of `{path}`"


def _name_owners(used: str, paths: Sequence[str]) -> str:
    named = ", ".join(f"`/{path}`" for path in paths)
    return (
        f"somebody with write access must name owners of {named} in the last lines of `{used}`, "
        f"or {_COUNT}"
    )
