"""The few members of GitHub's answers that are read; everything else is ignored."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

Sha = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Account(_Shape):
    """A user, organisation or bot."""

    id: int
    login: str
    type: str = "User"


class OfApp(_Shape):
    """An App, named inside something it made."""

    id: int
    slug: str | None = None


class Object(_Shape):
    """Anything that has a sha."""

    sha: Sha


class Ref(_Shape):
    """A branch."""

    object: Object


class Commit(_Shape):
    """A commit with its parents."""

    sha: Sha
    parents: tuple[Object, ...] = ()


class Written(_Shape):
    """The answer to a file that was written."""

    commit: Commit
    content: Object


class Contents(_Shape):
    """A file; beyond 1 MB GitHub leaves its content out (`encoding` none)."""

    type: str
    sha: Sha
    encoding: str = "none"
    content: str = ""


class Compared(_Shape):
    """What one commit has that another one lacks."""

    class File(_Shape):
        """A changed file: status added, modified, removed, renamed, ..."""

        filename: str
        status: str
        sha: str | None = None

    ahead_by: int
    status: str = ""
    files: tuple[File, ...] = ()


class Told(_Shape):
    """A commit with its message; `files` only when it was asked for alone."""

    class Message(_Shape):
        """What it says."""

        message: str

    sha: Sha
    commit: Message
    files: tuple[Compared.File, ...] = ()


class Side(_Shape):
    """Head or base of a pull request; `repo` is null when a fork was deleted."""

    class Repo(_Shape):
        """The repository of one side."""

        id: int
        private: bool = False

    ref: str
    sha: Sha
    repo: Repo | None = None


class Pull(_Shape):
    """A pull request; `comments` counts those of its conversation."""

    number: int
    html_url: str
    state: str
    title: str
    body: str | None = None
    merged: bool = False
    draft: bool = False
    head: Side
    base: Side
    user: Account | None = None
    created_at: datetime
    updated_at: datetime


class Review(_Shape):
    """A submitted review; state in upper case, as REST writes it."""

    id: int
    state: str
    user: Account | None = None
    commit_id: str | None = None
    submitted_at: datetime | None = None


class Comment(_Shape):
    """A comment in the conversation of a pull request."""

    id: int
    body: str | None = None
    user: Account | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    performed_via_github_app: dict[str, Any] | None = None


class CheckRun(_Shape):
    """A check run."""

    id: int
    external_id: str | None = None
    app: OfApp | None = None
    head_sha: str | None = None
    html_url: str | None = None
    started_at: datetime | None = None


class CheckRuns(_Shape):
    """A page of the check runs of a commit."""

    check_runs: tuple[CheckRun, ...]


class Permission(_Shape):
    """What a collaborator may do."""

    permission: str
    role_name: str | None = None
    user: Account | None = None


class Membership(_Shape):
    """A team membership: active or pending."""

    state: str


class Merged(_Shape):
    """The answer to a merge."""

    sha: Sha
    merged: bool


class Delivery(_Shape):
    """A line of the App's delivery log."""

    id: int
    guid: str
    delivered_at: datetime
    redelivery: bool = True  # what is not said to be the first attempt may be a later one
    status_code: int = 0
    event: str
    action: str | None = None
    installation_id: int | None = None
    repository_id: int | None = None


class Sent(Delivery):
    """A line of the delivery log with what was sent."""

    class Request(_Shape):
        """The request as GitHub made it."""

        headers: dict[str, Any] | None = None
        payload: dict[str, Any] | None = None

    request: Request


class Installation(_Shape):
    """The App on one account."""

    id: int
    account: Account | None = None
    suspended_at: datetime | None = None


class InstalledRepository(_Shape):
    """A repository that an installation covers."""

    class Owner(_Shape):
        """Whose it is."""

        id: int
        login: str

    id: int
    name: str
    owner: Owner
    private: bool = False
    archived: bool = False
    default_branch: str


class InstalledRepositories(_Shape):
    """A page of the repositories of an installation."""

    repositories: tuple[InstalledRepository, ...]


class InstallationToken(_Shape):
    """A fresh installation token."""

    token: str
    expires_at: datetime


class ThisApp(_Shape):
    """The App itself."""

    id: int
    slug: str


class Branch(_Shape):
    """A branch; `protected`: some rule or an older protection binds it."""

    protected: bool


class RuleOf(_Shape):
    """A rule that binds a branch, and the ruleset it comes from."""

    type: str
    ruleset_id: int | None = None
    parameters: dict[str, Any] | None = None

    @property
    def reviews(self) -> int:
        """How many approving reviews it asks for."""
        asked = (self.parameters or {}).get("required_approving_review_count")
        return asked if self.type == "pull_request" and type(asked) is int else 0

    @property
    def owners(self) -> bool:
        """Whether it asks for the review of a file's owners, where it has some."""
        asked = (self.parameters or {}).get("require_code_owner_review")
        return self.type == "pull_request" and asked is True


class Ruleset(_Shape):
    """A ruleset, as far as whether we may pass it: always, exempt, pull_requests_only, never."""

    name: str
    current_user_can_bypass: str | None = None


class Fault(_Shape):
    """What GitHub does not understand in a CODEOWNERS file, which it then skips."""

    line: int
    path: str


class Faults(_Shape):
    """All of them."""

    errors: list[Fault]
