"""The hands that arrange a world: people, teams, repositories, Apps."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from .actions.commits import push_files
from .caller import Caller
from .core import Core
from .lookup import rank
from .model import (
    Account,
    App,
    Installation,
    Registration,
    Repository,
    Ruleset,
    Team,
    Token,
)
from .person import Person
from .schema import Known
from .views.repositories import short_repository
from .webhooks import emit_installation, ping


class World(Core):
    """One GitHub, arranged by name. Names are `login`, `org` or `owner/repository`."""

    def add_user(self, login: str) -> Account:
        """Let a person sign up."""
        return self._account(login, "User")

    def _account(self, login: str, kind: str) -> Account:
        made = Account(self.new_id("user"), login, kind, self.clock.now())  # type: ignore[arg-type]
        self.state.accounts[made.id] = made
        return made

    def add_organisation(self, login: str, *, owners: Sequence[str] = ()) -> Account:
        """Found an organisation; its owners administer every repository of it."""
        made = self._account(login, "Organization")
        made.members = {self.account(owner).id: "admin" for owner in owners}
        return made

    def add_team(
        self, org: str, slug: str, *, members: Sequence[str] = (), pending: Sequence[str] = (),
        parent: str | None = None,
    ) -> Team:  # fmt: skip
        """Make a team; whoever joins it joins the organisation too."""
        owner = self.organisation(org)
        above = self.team(org, parent).id if parent else None
        made = Team(self.new_id("team"), owner.id, slug, self.clock.now(), above)
        self.state.teams[made.id] = made
        for login, state in [*((m, "active") for m in members), *((p, "pending") for p in pending)]:
            self.set_team_member(org, slug, login, state)
        return made

    def set_team_member(self, org: str, slug: str, login: str, state: str | None) -> None:
        """Let a person be active or pending in a team, or (None) leave it."""
        team, owner, person = self.team(org, slug), self.organisation(org), self.account(login)
        team.members.pop(person.id, None)
        if state:
            team.members[person.id] = state
            owner.members.setdefault(person.id, "member" if state == "active" else "pending")

    def add_repository(
        self, full_name: str, *, private: bool = True, files: Mapping[str, str] | None = None,
        collaborators: Mapping[str, str] | None = None, teams: Mapping[str, str] | None = None,
    ) -> Repository:  # fmt: skip
        """Make a repository with a first commit of `files` on main; roles by login and by slug."""
        login, name = full_name.split("/")
        owner, number = self.account(login), self.new_id("repository")
        made = Repository(number, owner.id, name, private, self.new_git(number), self.clock.now())
        self.state.repositories[number] = made
        for person, role in (collaborators or {}).items():
            self.set_permission(full_name, person, role)
        for slug, role in (teams or {}).items():
            made.team_roles[self.team(login, slug).id] = role
        first: dict[str, str | None] = dict(files or {"README.md": f"# {name}\n"})
        git_owner = Caller("user", owner)
        push_files(self, made, git_owner, made.default_branch, first, "Initial commit")
        return made

    def set_permission(self, full_name: str, login: str, role: str) -> None:
        """Give a person a role (none, read, triage, write, maintain, admin) in a repository."""
        repo, person = self.repository(full_name), self.account(login)
        rank(role)
        repo.roles.pop(person.id, None)
        if role != "none":
            repo.roles[person.id] = role

    def rename_user(self, old: str, new: str) -> None:
        """Let a person change the login; the id stays."""
        self.account(old).login = new

    def rename_repository(self, full_name: str, name: str) -> None:
        """Give a repository another name; the id stays."""
        self.repository(full_name).name = name

    def add_ruleset(
        self, full_name: str, name: str, *, branches: Sequence[str],
        rules: Sequence[dict[str, object]], bypass: Sequence[App] = (),
    ) -> Ruleset:  # fmt: skip
        """Add a ruleset (GitHub's rule objects) for branches by fnmatch pattern."""
        passes = {app.id for app in bypass}
        made = Ruleset(self.new_id("ruleset"), name, list(branches), list(rules), passes,
                       self.clock.now())  # fmt: skip
        self.repository(full_name).rulesets[made.id] = made
        return made

    def add_app(
        self, slug: str, *, permissions: Mapping[str, str], events: Sequence[str],
        owner: str | None = None, webhook_secret: str | None = None, hook_url: str | None = None,
        private_key: str | None = None,
    ) -> App:  # fmt: skip
        """Register an App; its bot is `slug[bot]`. Without a PEM it gets a fresh RSA key."""
        bot = self._account(f"{slug}[bot]", "Bot")
        number = self.new_id("app")
        owner_id = self.account(owner).id if owner else self._account(f"{slug}-owner", "User").id
        made = App(
            id=number, client_id=f"Iv23li{number:014d}", slug=slug, owner_id=owner_id,
            bot_id=bot.id, permissions={"metadata": "read", **permissions}, events=list(events),
            private_key=private_key or new_key(),
            webhook_secret=webhook_secret or secrets.token_hex(20),
            hook_url=hook_url, hook_id=self.new_id("hook"), created_at=self.clock.now(),
        )  # fmt: skip
        self.state.apps[number] = made
        return made

    def register(self, manifest: Mapping[str, Any], *, owner: str) -> str:
        """Confirm an App's manifest in the browser and give the code of the redirect (1 hour)."""
        hook = manifest.get("hook_attributes", {})
        app = self.add_app(
            manifest["name"], permissions=manifest.get("default_permissions", {}),
            events=manifest.get("default_events", []), owner=owner, hook_url=hook.get("url"),
        )  # fmt: skip
        code, end = secrets.token_hex(20), self.clock.now() + timedelta(hours=1)
        self.state.registrations[code] = Registration(app.id, end)
        return code

    def ping(self, app: App) -> None:
        """Send the App a ping."""
        ping(self, app)

    def install(
        self, app: App, account: str, repositories: Sequence[str] | None = None,
        *, by: str | None = None,
    ) -> Installation:  # fmt: skip
        """Install an App on an account, for all repositories or the named ones."""
        ids = None if repositories is None else {self.repository(r).id for r in repositories}
        owner, now = self.account(account), self.clock.now()
        made = Installation(
            self.new_id("installation"), app.id, owner.id, dict(app.permissions),
            list(app.events), ids, now, now,
        )  # fmt: skip
        self.state.installations[made.id] = made
        self._tell(made, "created", by)
        return made

    def _tell(self, found: Installation, action: str, by: str | None) -> None:
        covered = [r for r in self.state.repositories.values() if self.covers(found, r)]
        shown = [short_repository(self, repo) for repo in covered]
        emit_installation(self, found, self._hand(found, by), "installation", action,
                          repositories=shown)  # fmt: skip

    def _hand(self, found: Installation, by: str | None) -> Account:
        return self.account(by) if by else self.state.accounts[found.account_id]

    def suspend(self, found: Installation, *, by: str | None = None) -> None:
        """Suspend an installation: its tokens stop working."""
        found.suspended_at, found.suspended_by = self.clock.now(), self._hand(found, by).id
        self._tell(found, "suspend", by)

    def unsuspend(self, found: Installation, *, by: str | None = None) -> None:
        """Let a suspended installation work again."""
        found.suspended_at = found.suspended_by = None
        self._tell(found, "unsuspend", by)

    def uninstall(self, found: Installation, *, by: str | None = None) -> None:
        """Delete an installation and its tokens."""
        self._tell(found, "deleted", by)
        del self.state.installations[found.id]
        for text, token in list(self.state.tokens.items()):
            if token.installation_id == found.id:
                del self.state.tokens[text]

    def select_repositories(
        self, found: Installation, *, add: Sequence[str] = (), remove: Sequence[str] = (),
        by: str | None = None,
    ) -> None:  # fmt: skip
        """Add repositories to an installation, or take them away."""
        covered = {r.id for r in self.state.repositories.values() if self.covers(found, r)}
        added, removed = ([self.repository(r) for r in names] for names in (add, remove))
        found.repository_ids = (covered | {r.id for r in added}) - {r.id for r in removed}
        for action, repos in (("added", added), ("removed", removed)):
            if not repos:
                continue
            empty: dict[str, list[Known]] = {"repositories_added": [], "repositories_removed": []}
            shown = [short_repository(self, repo) for repo in repos]
            lists = empty | {f"repositories_{action}": shown}
            emit_installation(
                self, found, self._hand(found, by), "installation_repositories", action,
                repository_selection="selected", requester=None, **lists,
            )  # fmt: skip

    def token_for(self, login: str, *, via: App | None = None) -> str:
        """Make a personal access token, or a token that acts for a person through an App."""
        prefix = "ghu" if via else "ghp"
        text = f"{prefix}_{secrets.token_hex(18)}"
        app_id = via.id if via else None
        self.state.tokens[text] = Token(user_id=self.account(login).id, app_id=app_id)
        return text

    def person(self, login: str, *, via: App | None = None) -> Person:
        """Give the hands of a person, or of an App that acts for them."""
        return Person(self, self.account(login), via)


def new_key() -> str:
    """Make an RSA key as GitHub hands it out: a PEM file, PKCS#1."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    none = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, none).decode()
