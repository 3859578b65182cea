"""Pull requests: open, edit, close, reopen, ask for reviewers."""

from typing import Any

from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.model import Account, Pull, Renaming, Repository
from sandbox.github.refusal import Refused, custom, invalid
from sandbox.github.views.accounts import user

from .refs import close, keep_head, tell

BODY_LIMIT = 65_536


def checked_body(resource: str, body: str | None) -> str | None:
    """Refuse a body that GitHub finds too long (65,536 characters)."""
    if body is not None and len(body) > BODY_LIMIT:
        raise custom(resource, "body is too long (maximum is 65536 characters)")
    return body


def _branch_head(repo: Repository, branch: str, field: str) -> str:
    sha = repo.git.branch(branch)
    if sha is None:
        raise invalid("PullRequest", field)
    return sha


def open_pull(
    world: Core, repo: Repository, by: Caller, *, title: str, head: str, base: str,
    body: str | None = None, draft: bool = False,
) -> Pull:  # fmt: skip
    """Open a pull request from a branch of the same repository.

    422 when one is open for that head and base, without commits between, or without common history.
    """
    who = by.allow(world, repo, "read")
    owner, _, head_ref = head.rpartition(":")
    if owner and owner.lower() != world.owner(repo).login.lower():
        raise invalid("PullRequest", "head")
    head_sha, base_sha = _branch_head(repo, head_ref, "head"), _branch_head(repo, base, "base")
    _can_open(world, repo, head_ref, base)
    if not title.strip():
        raise invalid("PullRequest", "title", "missing_field")
    repo.counter += 1
    now = world.clock.now()
    pull = Pull(
        id=world.new_id("pull"), number=repo.counter, author_id=who.id, title=title,
        body=checked_body("PullRequest", body), head_ref=head_ref, head_sha=head_sha,
        base_ref=base, base_sha=base_sha, draft=draft, created_at=now, updated_at=now,
    )  # fmt: skip
    repo.pulls[pull.number] = pull
    keep_head(repo, pull)
    tell(world, repo, pull, who, "opened")
    return pull


def _can_open(world: Core, repo: Repository, head: str, base: str) -> None:
    git, sides = repo.git, (_branch_head(repo, base, "base"), _branch_head(repo, head, "head"))
    start = git.merge_base(*sides)
    if start is None:
        raise custom("PullRequest", f"The {head} branch has no history in common with {base}")
    if start == sides[1]:
        raise custom("PullRequest", f"No commits between {base} and {head}")
    if any((p.head_ref, p.base_ref) == (head, base) for p in repo.open_pulls()):
        label = f"{world.owner(repo).login}:{head}"
        raise custom("PullRequest", f"A pull request already exists for {label}.")


def edit_pull(
    world: Core, repo: Repository, by: Caller, number: int, wanted: dict[str, Any]
) -> Pull:
    """Change title, body, base or state: its author may, and everybody with write access.

    Absent members stay as they are; `state` is open or closed.
    """
    pull = world.pull(repo, number)
    who = _may_edit(world, repo, by, pull)
    if "title" in wanted and not wanted["title"].strip():
        raise invalid("PullRequest", "title", "missing_field")
    checked_body("PullRequest", wanted.get("body"))
    changes = _changes(world, repo, pull, wanted)
    if changes:
        pull.updated_at = world.clock.now()
        tell(world, repo, pull, who, "edited", changes=changes)
    if "state" in wanted and wanted["state"] != pull.state:
        _turn(world, repo, pull, who)
    return pull


def _may_edit(world: Core, repo: Repository, by: Caller, pull: Pull) -> Account:
    mine = by.kind == "user" and by.account is not None and by.account.id == pull.author_id
    return by.allow(world, repo, "read" if mine else "write")


def _changes(world: Core, repo: Repository, pull: Pull, wanted: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    base = wanted.get("base", pull.base_ref)
    if base != pull.base_ref:
        if pull.state == "closed":
            raise custom("PullRequest", "Cannot change the base branch of a closed pull request.")
        _can_open(world, repo, pull.head_ref, base)
        changes["base"] = {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}
        pull.base_ref, pull.base_sha = base, _branch_head(repo, base, "base")
    if wanted.get("title", pull.title) != pull.title:
        changes["title"] = {"from": pull.title}
        pull.renamings.append(Renaming(world.clock.now(), pull.title, wanted["title"]))
        pull.title = wanted["title"]
    if wanted.get("body", pull.body) != pull.body:
        changes["body"] = {"from": pull.body or ""}
        pull.body, pull.body_edited_at = wanted["body"], world.clock.now()
    return changes


def _turn(world: Core, repo: Repository, pull: Pull, who: Account) -> None:
    if pull.state == "open":
        close(world, repo, pull, who)
        return
    if pull.merged_at or not repo.git.branch(pull.head_ref) or not repo.git.branch(pull.base_ref):
        raise custom("PullRequest", "state cannot be changed. The pull request cannot be reopened.")
    _can_open(world, repo, pull.head_ref, pull.base_ref)
    pull.state, pull.closed_at = "open", None
    pull.head_sha = _branch_head(repo, pull.head_ref, "head")
    pull.updated_at = world.clock.now()
    keep_head(repo, pull)
    tell(world, repo, pull, who, "reopened")


def request_reviewers(
    world: Core, repo: Repository, by: Caller, number: int, *, logins: list[str], slugs: list[str]
) -> Pull:
    """Ask people and teams to review; 422 for a stranger or the author himself."""
    who, pull = by.allow(world, repo, "write"), world.pull(repo, number)
    people = [_reviewer(world, repo, pull, login) for login in logins]
    teams = [_team(world, repo, slug) for slug in slugs]
    for person in people:
        if person.id not in pull.reviewers:
            pull.reviewers.append(person.id)
            shown = user(world, person)
            tell(world, repo, pull, who, "review_requested", requested_reviewer=shown)
    pull.teams += [team_id for team_id in teams if team_id not in pull.teams]
    return pull


def _reviewer(world: Core, repo: Repository, pull: Pull, login: str) -> Account:
    try:
        person = world.account(login)
    except Refused:
        person = None
    if person and person.id == pull.author_id:
        raise Refused(422, "Review cannot be requested from pull request author.")
    if not person or person.type != "User" or not world.is_collaborator(repo, person.id):
        raise Refused(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams "
            f"you specified is not a collaborator of the {world.full_name(repo)} repository.",
        )
    return person


def _team(world: Core, repo: Repository, slug: str) -> int:
    for team in world.state.teams.values():
        if team.org_id == repo.owner_id and team.slug == slug and team.id in repo.team_roles:
            return team.id
    raise Refused(422, f"Could not resolve to a node with the global id of the team {slug}.")
