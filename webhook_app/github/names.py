"""What people are called and who is in a team, to be shown; nothing is ever decided by it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from proposals.ports import Refused

from .repository import Repository
from .shapes import Account

FRESH = 3600.0
"""Seconds in which what was read is not asked again."""
MOST = 30  # people of one team

Named = Mapping[str, int]


@dataclass(slots=True)
class Names:
    """Reads logins and members, and keeps them for an hour by `clock` (seconds that only grow).

    What GitHub refuses is left out. Raises Unavailable like any other reading.
    """

    clock: Callable[[], float]
    _kept: dict[str, tuple[float, Named]] = field(default_factory=dict)

    async def people(self, repo: Repository, ids: Iterable[int]) -> dict[str, int]:
        """Login -> id of these accounts, as they are called now."""
        found: dict[str, int] = {}
        for id_ in ids:
            found |= await self._read(repo, "user", str(id_))
        return found

    async def members(self, repo: Repository, teams: Iterable[str]) -> dict[str, int]:
        """Login -> id of the first members of these teams (`org/slug`)."""
        found: dict[str, int] = {}
        for team in teams:
            org, _, slug = team.partition("/")
            found |= await self._read(repo, "orgs", org, "teams", slug, "members")
        return found

    async def _read(self, repo: Repository, *parts: str) -> Named:
        key = "/".join((str(repo.id), *parts))
        at, known = self._kept.get(key, (0.0, {}))
        if key in self._kept and self.clock() - at < FRESH:
            return known
        found = await _ask(repo, *parts)
        self._kept[key] = (self.clock(), found)
        return found


async def _ask(repo: Repository, *parts: str) -> Named:
    teams = parts[0] == "orgs"
    query = {"per_page": MOST} if teams else None
    try:
        reply = await repo.reach("GET", parts, query, teams=teams)
    except Refused:
        return {}
    found = reply.read(list[Account]) if teams else [reply.read(Account)]
    return {account.login: account.id for account in found}
