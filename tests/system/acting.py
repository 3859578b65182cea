"""What people do in the tests of the whole system."""

from typing import Any

from sandbox.stage import REPOSITORY
from sandbox.testing import Town


async def approve(here: Town, seen: dict[str, Any], who: str = "lee") -> dict[str, Any]:
    """Approve by review, and wait until it is over."""
    await here.person(who).review(REPOSITORY, here.number(seen), "APPROVE")
    return await here.over(seen)


def pulls_of(here: Town, seen: dict[str, Any]) -> int:
    """How many pull requests a proposal has."""
    branch = f"placet/p/{seen['proposal']}"
    found = here.world.repository(REPOSITORY).pulls.values()
    return sum(pull.head_ref == branch for pull in found)
