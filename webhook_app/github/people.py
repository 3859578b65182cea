"""What people may do on the governing repository, asked of GitHub each time."""

import asyncio
from collections.abc import Iterable

from checks.facts import Access, Person, Voice
from checks.voices import behind
from proposals.plan import Proposal
from proposals.ports import ForgeError, Refused

from .repository import NOT_FOUND, Repository
from .shapes import Account, Membership, Permission

_FINER = {("write", "maintain"), ("read", "triage")}


def to_ask(voices: Iterable[Voice], proposal: Proposal) -> dict[int, Person]:
    """The people whose access a decision may need; for the excluded ones nothing is asked."""
    spoke = [voice.person for voice in voices]
    spoke += [voice.dismisser for voice in voices if voice.dismisser]
    out, own = proposal.askers | proposal.contributors, proposal.identities
    people = (p for p in spoke if p.kind == "User" and p.id not in out)
    return {p.id: p for p in people if not behind(p, own)}


async def access_of(repo: Repository, person: Person, teams: frozenset[str]) -> Access:
    """One person's permission and team memberships; what GitHub doesn't say is not granted."""
    access = await _permission(repo, person)
    if access.permission in (None, "none") or access.id != person.id or not teams:
        return access
    asked = sorted(teams)
    answers = await asyncio.gather(*(_member(repo, team, person.login) for team in asked))
    member = dict(zip(asked, answers, strict=True))
    return Access(
        access.id,
        access.permission,
        frozenset(team for team in asked if member[team]),
        frozenset(team for team in asked if member[team] is None),
    )


async def account_of(repo: Repository, login: str) -> int | None:
    """The numeric id of the person who has this login now; None when no person has it."""
    try:
        found = (await repo.reach("GET", ("users", login))).read(Account)
    except Refused as refused:
        if refused.status == NOT_FOUND:
            return None
        raise
    same = found.login.lower() == login.lower() and found.type == "User"
    return found.id if same else None


async def _permission(repo: Repository, person: Person) -> Access:
    try:
        reply = await repo.ask("GET", "collaborators", person.login, "permission")
        found = reply.read(Permission)
    except Refused as refused:
        return Access(person.id, "none" if refused.status == NOT_FOUND else None)
    except ForgeError:
        return Access(person.id, None)
    if found.user is None:
        return Access(person.id, None)
    finer = (found.permission, found.role_name) in _FINER
    return Access(found.user.id, found.role_name if finer else found.permission)


async def _member(repo: Repository, team: str, login: str) -> bool | None:
    """Whether they are an active member; None when nobody can tell."""
    org, _, slug = team.partition("/")
    try:
        parts = ("orgs", org, "teams", slug, "memberships", login)
        reply = await repo.reach("GET", parts, teams=True)
        return reply.read(Membership).state == "active"
    except Refused as refused:
        return False if refused.status == NOT_FOUND else None
    except ForgeError:
        return None
