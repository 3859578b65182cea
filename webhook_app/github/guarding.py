"""Whether GitHub asks for a review before the default branch, and the policy in it, can change."""

from collections.abc import Callable
from dataclasses import dataclass, field

from proposals.ports import ForgeError

from .repository import Repository
from .shapes import Branch, RuleOf

FRESH = 3600.0
"""Seconds in which what was read is not asked again."""


@dataclass(slots=True)
class Guards:
    """Keeps each answer for an hour by `clock` (seconds that only grow)."""

    clock: Callable[[], float]
    _kept: dict[int, tuple[float, bool | None]] = field(default_factory=dict)

    async def of(self, repo: Repository) -> bool | None:
        """Whether a change needs somebody's approving review; None when nobody can tell."""
        at, known = self._kept.get(repo.id, (0.0, None))
        if repo.id in self._kept and self.clock() - at < FRESH:
            return known
        try:
            found = await _read(repo)
        except ForgeError:
            return None
        self._kept[repo.id] = (self.clock(), found)
        return found


async def _read(repo: Repository) -> bool | None:
    """By the rules that everybody can read; what an older protection asks for, only owners can."""
    branch = repo.default_branch.split("/")
    rules: list[RuleOf] = await repo.every(RuleOf, "rules", "branches", *branch)
    if any(rule.reviews >= 1 for rule in rules):
        return True
    shown = (await repo.ask("GET", "branches", *branch)).read(Branch)
    return None if shown.protected else False
