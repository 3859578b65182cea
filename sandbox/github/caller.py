"""Who is asking: a person, an App, one of its installations, or nobody."""

from dataclasses import dataclass
from typing import Literal

from .lookup import Lookup, rank
from .model import Account, App, Installation, Repository, Token
from .refusal import Refused, not_accessible, not_found

LEVELS = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Caller:
    """The one who acts. `account` is the person or the App's bot, None for nobody."""

    kind: Literal["user", "app", "installation", "nobody"]
    account: Account | None = None
    app: App | None = None
    """The App itself, or the one a person's token came through."""
    installation: Installation | None = None
    token: Token | None = None

    def who(self) -> Account:
        """Give the account, or GitHub's 401 for nobody."""
        if self.account is None:
            raise Refused(401, "Requires authentication")
        return self.account

    def sees(self, lookup: Lookup, repo: Repository) -> bool:
        """Whether the repository exists for this caller."""
        if self.kind == "installation" and self.installation and self.token:
            ids = self.token.repository_ids
            return lookup.covers(self.installation, repo) and (ids is None or repo.id in ids)
        if self.kind == "user" and self.account:
            return rank(lookup.role(repo, self.account.id)) >= rank("read")
        return self.kind == "app" or not repo.private

    def has(self, needs: str) -> bool:
        """Whether an installation's token holds one of `contents:write|issues:read`."""
        held = self.token.permissions if self.token else {}
        for need in needs.split("|"):
            name, _, level = need.partition(":")
            have = held.get(name, "read" if name == "metadata" else "")
            if have and LEVELS.index(have) >= LEVELS.index(level):
                return True
        return False

    def allow(self, lookup: Lookup, repo: Repository, role: str) -> Account:
        """Give the account when it may act with this role; the door has asked an App already."""
        account = self.who()
        if not self.sees(lookup, repo):
            raise not_found()
        if self.kind == "installation":
            return account
        if self.kind != "user":
            raise not_accessible()
        if rank(lookup.role(repo, account.id)) < rank(role):
            raise Refused(403, f"Must have {role} access to this repository.")
        return account
