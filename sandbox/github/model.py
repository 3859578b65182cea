"""What the sandbox remembers: plain records, keyed by GitHub's numeric ids."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from .git import Git

ROLES = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(slots=True)
class Account:
    """A person, an organisation or the bot of an App."""

    id: int
    login: str
    type: Literal["User", "Organization", "Bot"]
    created_at: datetime
    members: dict[int, str] = field(default_factory=dict)
    """Of an organisation: user id -> admin, member or pending."""


@dataclass(slots=True)
class Team:
    """A team of an organisation; members of its child teams are members too."""

    id: int
    org_id: int
    slug: str
    created_at: datetime
    parent_id: int | None = None
    members: dict[int, str] = field(default_factory=dict)
    """User id -> active or pending."""


@dataclass(slots=True)
class App:
    """A GitHub App: its settings page, as data."""

    id: int
    client_id: str
    slug: str
    owner_id: int
    bot_id: int
    permissions: dict[str, str]
    events: list[str]
    private_key: str
    """PEM, as downloaded once from GitHub."""
    webhook_secret: str
    hook_url: str | None
    hook_id: int
    created_at: datetime


@dataclass(slots=True)
class Installation:
    """An App on one account, for all or for selected repositories."""

    id: int
    app_id: int
    account_id: int
    permissions: dict[str, str]
    events: list[str]
    repository_ids: set[int] | None
    """None means all repositories of the account."""
    created_at: datetime
    updated_at: datetime
    suspended_at: datetime | None = None
    suspended_by: int | None = None


@dataclass(frozen=True, slots=True)
class Renaming:
    """A pull request got another title."""

    at: datetime
    before: str
    after: str


@dataclass(slots=True)
class Pull:
    """A pull request; `fork` is the repository of a head that lives elsewhere."""

    id: int
    number: int
    author_id: int
    title: str
    body: str | None
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool
    created_at: datetime
    updated_at: datetime
    state: Literal["open", "closed"] = "open"
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merged_by: int | None = None
    merge_sha: str | None = None
    reviewers: list[int] = field(default_factory=list)
    teams: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    fork: int | None = None
    body_edited_at: datetime | None = None
    """When anybody last changed the body; only GraphQL tells."""
    renamings: list[Renaming] = field(default_factory=list)


@dataclass(slots=True)
class Review:
    """A submitted review; it can be dismissed, never deleted."""

    id: int
    number: int
    author_id: int
    body: str
    state: str
    commit_id: str
    submitted_at: datetime
    updated_at: datetime


@dataclass(slots=True)
class Reaction:
    """An emoji under a comment, or under the pull request itself (comment_id None)."""

    id: int
    author_id: int
    content: str
    created_at: datetime
    number: int
    comment_id: int | None


@dataclass(slots=True)
class Comment:
    """A comment in the conversation of a pull request."""

    id: int
    number: int
    author_id: int
    body: str
    created_at: datetime
    updated_at: datetime
    app_id: int | None = None
    """The App it was written through, its own bot's or a person's."""


@dataclass(slots=True)
class CheckRun:
    """A check run with its buttons."""

    id: int
    app_id: int
    name: str
    head_sha: str
    suite_id: int
    started_at: datetime
    external_id: str = ""
    details_url: str | None = None
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    output: dict[str, Any] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Ruleset:
    """Rules for the branches that match one of the fnmatch patterns."""

    id: int
    name: str
    branches: list[str]
    rules: list[dict[str, Any]]
    bypass_app_ids: set[int]
    created_at: datetime


@dataclass(slots=True)
class Repository:
    """A repository and all that happens inside it."""

    id: int
    owner_id: int
    name: str
    private: bool
    git: Git
    created_at: datetime
    default_branch: str = "main"
    roles: dict[int, str] = field(default_factory=dict)
    """User id -> a role of ROLES, of direct collaborators."""
    team_roles: dict[int, str] = field(default_factory=dict)
    delete_branch_on_merge: bool = False
    archived: bool = False
    """Read-only: every write is refused."""
    counter: int = 0
    pushed_at: datetime | None = None
    pulls: dict[int, Pull] = field(default_factory=dict)
    reviews: dict[int, Review] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    reactions: dict[int, Reaction] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    suites: dict[tuple[int, str], int] = field(default_factory=dict)
    """(App id, head sha) -> check suite id."""
    rulesets: dict[int, Ruleset] = field(default_factory=dict)
    signed: set[str] = field(default_factory=set)
    """Commits that GitHub signed in the name of an App."""

    def open_pulls(self) -> Iterator[Pull]:
        """Give the open pull requests, oldest first."""
        return (pull for pull in list(self.pulls.values()) if pull.state == "open")


@dataclass(slots=True)
class Token:
    """A credential: an installation's (with its narrowing) or a person's."""

    user_id: int | None = None
    app_id: int | None = None
    """The App: the owner of an installation token, or the one a person's token came through."""
    installation_id: int | None = None
    permissions: dict[str, str] = field(default_factory=dict)
    repository_ids: set[int] | None = None
    expires_at: datetime | None = None


@dataclass(slots=True)
class Registration:
    """An App whose manifest somebody has confirmed in the browser, waiting for its code."""

    app_id: int
    expires_at: datetime


@dataclass
class State:
    """Everything at one moment; a deep copy of it is how an earlier moment is kept."""

    accounts: dict[int, Account] = field(default_factory=dict)
    teams: dict[int, Team] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    repositories: dict[int, Repository] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    registrations: dict[str, Registration] = field(default_factory=dict)
