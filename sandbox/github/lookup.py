"""Questions about the state that need no clock and change nothing."""

import base64
from collections.abc import Iterator
from fnmatch import fnmatchcase

from .model import ROLES, Account, App, Installation, Pull, Repository, Ruleset, State, Team
from .refusal import not_found


def rank(role: str) -> int:
    """Order roles: none 0 to admin 5."""
    return ROLES.index(role)


def node_id(kind: str, number: int) -> str:
    """Write a GraphQL node id that is stable and means nothing."""
    return f"{kind}_{base64.urlsafe_b64encode(f'{kind}:{number}'.encode()).decode().rstrip('=')}"


class Lookup:
    """Finds records by the names people use; every miss is GitHub's 404."""

    def __init__(self, state: State, url: str) -> None:
        self.state = state
        self.url = url.rstrip("/")

    def account(self, login: str) -> Account:
        """Find a person, organisation or bot by login, any case."""
        for account in self.state.accounts.values():
            if account.login.lower() == login.lower():
                return account
        raise not_found()

    def organisation(self, login: str) -> Account:
        """Find an organisation by login."""
        found = self.account(login)
        if found.type != "Organization":
            raise not_found()
        return found

    def team(self, org: str, slug: str) -> Team:
        """Find a team by organisation and slug."""
        owner = self.organisation(org)
        for team in self.state.teams.values():
            if team.org_id == owner.id and team.slug == slug.lower():
                return team
        raise not_found()

    def repository(self, full_name: str) -> Repository:
        """Find a repository by owner/name, any case."""
        for repo in self.state.repositories.values():
            if self.full_name(repo).lower() == full_name.lower():
                return repo
        raise not_found()

    def repository_of_check(self, check_id: int) -> Repository:
        """Find the repository a check run belongs to."""
        for repo in self.state.repositories.values():
            if check_id in repo.checks:
                return repo
        raise not_found()

    def pull(self, repo: Repository, number: int) -> Pull:
        """Find a pull request of a repository."""
        if number not in repo.pulls:
            raise not_found()
        return repo.pulls[number]

    def owner(self, repo: Repository) -> Account:
        """Give the account a repository belongs to."""
        return self.state.accounts[repo.owner_id]

    def full_name(self, repo: Repository) -> str:
        """Write owner/name."""
        return f"{self.owner(repo).login}/{repo.name}"

    def app_of_bot(self, account: Account) -> App:
        """Find the App whose bot an account is."""
        return next(app for app in self.state.apps.values() if app.bot_id == account.id)

    def installations_on(self, repo: Repository) -> Iterator[Installation]:
        """Give the living installations that cover a repository."""
        for found in self.state.installations.values():
            if self.covers(found, repo) and not found.suspended_at:
                yield found

    def covers(self, installation: Installation, repo: Repository) -> bool:
        """Whether an installation includes a repository."""
        ids = installation.repository_ids
        return installation.account_id == repo.owner_id and (ids is None or repo.id in ids)

    def team_states(self, team: Team) -> dict[int, str]:
        """Give user id -> active or pending, child teams included."""
        states = dict(team.members)
        for child in self.state.teams.values():
            if child.parent_id == team.id:
                for user_id, state in self.team_states(child).items():
                    if states.get(user_id) != "active":
                        states[user_id] = state
        return states

    def role(self, repo: Repository, user_id: int) -> str:
        """Give the highest role a person has: direct, by team, organisation or visibility."""
        owner = self.owner(repo)
        if user_id == owner.id or owner.members.get(user_id) == "admin":
            return "admin"
        roles = ["none" if repo.private else "read", repo.roles.get(user_id, "none")]
        for team_id, role in repo.team_roles.items():
            if self.team_states(self.state.teams[team_id]).get(user_id) == "active":
                roles.append(role)
        return max(roles, key=rank)

    def is_collaborator(self, repo: Repository, user_id: int) -> bool:
        """Whether a person has a role of their own, not only what everybody may."""
        return rank(self.role(repo, user_id)) > (0 if repo.private else 1) or user_id in repo.roles

    def rulesets_for(self, repo: Repository, branch: str) -> Iterator[Ruleset]:
        """Give the rulesets whose patterns match a branch."""
        for ruleset in repo.rulesets.values():
            if any(fnmatchcase(branch, pattern) for pattern in ruleset.branches):
                yield ruleset
