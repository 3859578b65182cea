"""The conversation of a pull request, in the order it happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sandbox.github.lookup import Lookup
from sandbox.github.model import Account, CheckRun, Pull, Repository
from sandbox.github.views.repositories import author_of

ORDER = ("commit", "review", "comment", "merged", "closed")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened; `what` is the record or the git commit it is about."""

    kind: str
    at: datetime
    id: int
    who: Account | None
    name: str
    what: Any


def commits_of(repo: Repository, pull: Pull) -> list[Any]:
    """List the commits a pull request brings, oldest first."""
    start = repo.git.merge_base(pull.base_sha, pull.head_sha)
    return repo.git.between(start, pull.head_sha)


def commit_entry(look: Lookup, found: Any) -> Entry:
    """Show a git commit with the account behind its address."""
    shown = author_of(look, found.author)
    who = look.state.accounts[shown["id"]] if shown else None
    at = datetime.fromtimestamp(found.committer.time, UTC)
    return Entry("commit", at, 0, who, found.author.name, found)


def timeline(look: Lookup, repo: Repository, pull: Pull) -> list[Entry]:
    """Everything below the first comment of a pull request."""
    found = [commit_entry(look, commit) for commit in commits_of(repo, pull)]
    found += _written(look, repo, pull)
    return sorted(found, key=lambda e: (e.at, ORDER.index(e.kind), e.id))


def _written(look: Lookup, repo: Repository, pull: Pull) -> Iterator[Entry]:
    accounts = look.state.accounts
    for comment in list(repo.comments.values()):
        if comment.number == pull.number:
            who = accounts[comment.author_id]
            yield Entry("comment", comment.created_at, comment.id, who, who.login, comment)
    for review in list(repo.reviews.values()):
        if review.number == pull.number:
            who = accounts[review.author_id]
            yield Entry("review", review.submitted_at, review.id, who, who.login, review)
    if pull.closed_at:
        by = accounts.get(pull.merged_by or 0)
        kind = "merged" if pull.merged_at else "closed"
        yield Entry(kind, pull.closed_at, 0, by, by.login if by else "", pull)


def stances(look: Lookup, repo: Repository, pull: Pull) -> list[tuple[Account, str]]:
    """Who reviewed and what stands: the latest opinion of each person, then who was asked."""
    latest: dict[int, str] = {}
    for review in sorted(repo.reviews.values(), key=lambda r: (r.submitted_at, r.id)):
        if review.number == pull.number:
            opinion = review.state != "COMMENTED" or review.author_id not in latest
            latest |= {review.author_id: review.state} if opinion else {}
    asked = {user_id: "REQUESTED" for user_id in pull.reviewers if user_id not in latest}
    return [(look.state.accounts[user_id], state) for user_id, state in (latest | asked).items()]


def runs_of(repo: Repository, sha: str) -> list[CheckRun]:
    """List the check runs of a commit: the newest of each App and name, as GitHub shows them."""
    newest = {(run.app_id, run.name): run for run in repo.checks.values() if run.head_sha == sha}
    return sorted(newest.values(), key=lambda run: (run.name, run.id))
