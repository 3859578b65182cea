"""Asking the people the policy names to review; never those the agent works for."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from proposals.plan import Proposal
from proposals.ports import ForgeError, Refused

from .repository import NOT_FOUND, Repository
from .shapes import Account

MOST = 15


@dataclass(slots=True)
class Reviewers:
    """Requests reviews; remembers which account a login is, which only decides who is notified."""

    _ids: dict[str, int | None] = field(default_factory=dict)

    async def ask(self, repo: Repository, proposal: Proposal, number: int) -> None:
        """Request the reviews; one that GitHub refuses changes nothing else."""
        named = wanted(proposal)
        try:
            logins = [n[5:] for n in named if n.startswith("user:")]
            people = [login for login in logins if await self._outside(repo, proposal, login)]
            body = {"reviewers": people, "team_reviewers": teams_of(repo.owner, named)}
            if any(body.values()):
                await repo.ask("POST", "pulls", number, "requested_reviewers", body=body)
        except ForgeError:
            return

    async def _outside(self, repo: Repository, proposal: Proposal, login: str) -> bool:
        if login not in self._ids:
            self._ids[login] = await _id_of(repo, login)
        number = self._ids[login]
        return number is not None and number not in proposal.identities | proposal.askers


async def _id_of(repo: Repository, login: str) -> int | None:
    try:
        found = (await repo.reach("GET", ("users", login))).read(Account)
    except Refused as refused:
        if refused.status != NOT_FOUND:
            raise
        return None
    return found.id if found.type == "User" else None


def wanted(proposal: Proposal) -> list[str]:
    """The users and teams that the policy at propose names for this tool, each once."""
    rule = proposal.rule
    return list(dict.fromkeys(rule.named()))[:MOST] if rule else []


def teams_of(owner: str, named: Iterable[str]) -> list[str]:
    """The slugs of the named teams that belong to this owner; no other team can be asked."""
    teams = (name[5:].partition("/") for name in named if name.startswith("team:"))
    return [slug for org, _, slug in teams if org.lower() == owner.lower()]
