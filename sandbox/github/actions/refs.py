"""Branches: create, move, delete, and what follows for pull requests."""

from datetime import UTC, datetime
from typing import Any

from sandbox.github.caller import Caller
from sandbox.github.clock import iso
from sandbox.github.core import Core
from sandbox.github.git import ZERO, GitError, MissingObject, NotFastForward
from sandbox.github.model import Account, Pull, Repository
from sandbox.github.refusal import Refused
from sandbox.github.schema import Known
from sandbox.github.views import pulls
from sandbox.github.views.repositories import web_url
from sandbox.github.webhooks import emit

from .rules import obey

BRANCH = "refs/heads/"


def create_ref(world: Core, repo: Repository, by: Caller, name: str, sha: str) -> None:
    """Create a branch or tag; 422 when it exists, so it serves as a lock."""
    who = by.allow(world, repo, "write")
    if not name.startswith(("refs/heads/", "refs/tags/")) or name.count("/") < 2:  # noqa: PLR2004
        raise Refused(422, "Reference name must start with 'refs/' and have two or more slashes.")
    obey(world, repo, by, name.removeprefix(BRANCH), "creation")
    try:
        repo.git.create_ref(name, sha)
    except MissingObject as missing:
        raise Refused(422, "Object does not exist") from missing
    except GitError as refused:
        raise Refused(422, str(refused)) from refused
    pushed(world, repo, who, name, ZERO, sha)


def update_ref(
    world: Core, repo: Repository, by: Caller, name: str, sha: str, *, force: bool = False
) -> None:
    """Move a branch: only forward unless forced. This is no compare-and-swap, as on GitHub."""
    who = by.allow(world, repo, "write")
    branch = name.removeprefix(BRANCH)
    obey(world, repo, by, branch, "update")
    before = repo.git.ref(name)
    if before is None:
        raise Refused(422, "Reference does not exist")
    try:
        if force and not repo.git.contains(sha, before):
            obey(world, repo, by, branch, "non_fast_forward")
        repo.git.update_ref(name, sha, force=force)
    except MissingObject as missing:
        raise Refused(422, "Object does not exist") from missing
    except (GitError, NotFastForward, ValueError) as refused:
        raise Refused(422, str(refused)) from refused
    pushed(world, repo, who, name, before, sha)


def delete_ref(world: Core, repo: Repository, by: Caller, name: str) -> None:
    """Delete a branch; the pull requests from or to it close."""
    who = by.allow(world, repo, "write")
    obey(world, repo, by, name.removeprefix(BRANCH), "deletion")
    if name == f"{BRANCH}{repo.default_branch}":
        raise Refused(422, "Cannot delete the default branch")
    try:
        before = repo.git.delete_ref(name)
    except MissingObject as missing:
        raise Refused(422, "Reference does not exist") from missing
    pushed(world, repo, who, name, before, ZERO)


def pushed(world: Core, repo: Repository, who: Account, name: str, before: str, after: str) -> None:
    """Tell of a moved ref and let the pull requests follow it."""
    if before == after:
        return
    repo.pushed_at = world.clock.now()
    emit(world, repo, who, "push", **_push(world, repo, who, name, before, after))
    if not name.startswith(BRANCH):
        return
    branch = name.removeprefix(BRANCH)
    for pull in repo.open_pulls():
        if after == ZERO and branch in (pull.head_ref, pull.base_ref):
            close(world, repo, pull, who)
        elif branch == pull.head_ref:
            _synchronise(world, repo, pull, who, after)
        elif branch == pull.base_ref and repo.git.contains(after, pull.head_sha):
            merged(world, repo, pull, who, after)


def _synchronise(world: Core, repo: Repository, pull: Pull, who: Account, after: str) -> None:
    before, pull.head_sha = pull.head_sha, after
    pull.base_sha = repo.git.branch(pull.base_ref) or pull.base_sha
    pull.updated_at = world.clock.now()
    keep_head(repo, pull)
    tell(world, repo, pull, who, "synchronize", before=before, after=after)


def keep_head(repo: Repository, pull: Pull) -> None:
    """Keep refs/pull/N/head, by which a closed pull request stays readable."""
    name = f"refs/pull/{pull.number}/head"
    if repo.git.ref(name):
        repo.git.update_ref(name, pull.head_sha, force=True)
    else:
        repo.git.create_ref(name, pull.head_sha)


def tell(
    world: Core, repo: Repository, pull: Pull, who: Account, action: str, **members: Any
) -> None:
    """Send a pull_request event."""
    shown = pulls.pull_request(world, repo, pull)
    members |= {"number": pull.number, "pull_request": shown}
    emit(world, repo, who, "pull_request", action, **members)


def close(world: Core, repo: Repository, pull: Pull, who: Account) -> None:
    """Close a pull request unmerged."""
    pull.state, pull.closed_at = "closed", world.clock.now()
    pull.updated_at = pull.closed_at
    tell(world, repo, pull, who, "closed")


def merged(world: Core, repo: Repository, pull: Pull, who: Account, sha: str) -> None:
    """Close a pull request as merged by a commit."""
    pull.state, pull.closed_at = "closed", world.clock.now()
    pull.updated_at = pull.merged_at = pull.closed_at
    pull.merged_by, pull.merge_sha = who.id, sha
    tell(world, repo, pull, who, "closed")


def _push(
    world: Core, repo: Repository, who: Account, name: str, before: str, after: str
) -> dict[str, Any]:
    git, gone = repo.git, after == ZERO
    commits = [] if gone or git.kind(after) != "commit" else _new(repo, name, before, after)
    shown = [_commit(world, repo, found) for found in commits[-20:]]
    forced = ZERO not in (before, after) and not git.contains(after, before)
    head = None if gone or git.kind(after) != "commit" else git.commit(after)
    return {
        "ref": name,
        "before": before,
        "after": after,
        "created": before == ZERO,
        "deleted": gone,
        "forced": forced,
        "base_ref": None,
        "compare": f"{web_url(world, repo)}/compare/{before[:12]}...{after[:12]}",
        "commits": shown,
        "head_commit": _commit(world, repo, head) if head else None,
        "pusher": Known(name=who.login, email=f"{who.id}+push@users.noreply.github.com"),
    }


def _new(repo: Repository, name: str, before: str, after: str) -> list[Any]:
    if before != ZERO:
        return repo.git.between(before, after)
    default = repo.git.branch(repo.default_branch)
    return repo.git.between(None if name == f"{BRANCH}{repo.default_branch}" else default, after)


def _commit(world: Core, repo: Repository, found: Any) -> Known:
    parent = str(found.parent_ids[0]) if found.parent_ids else None
    changes = repo.git.diff(parent, str(found.id))
    by = {status: [c.path for c in changes if c.status == status]
          for status in ("added", "removed", "modified")}  # fmt: skip
    people = {
        role: Known(name=signature.name, email=signature.email)
        for role, signature in (("author", found.author), ("committer", found.committer))
    }
    return Known(
        by,
        **people,
        id=str(found.id),
        tree_id=str(found.tree_id),
        distinct=True,
        message=found.message,
        timestamp=iso(datetime.fromtimestamp(found.commit_time, UTC)),
        url=f"{web_url(world, repo)}/commit/{found.id}",
    )
