"""Pull requests: the list, and the four tabs of each."""

from collections import Counter, defaultdict
from typing import Any

from starlette.responses import Response

from sandbox.github.actions.rules import obey_merge
from sandbox.github.git import Change
from sandbox.github.lookup import rank
from sandbox.github.model import Pull, Repository
from sandbox.github.refusal import Refused
from sandbox.github.views.pulls import mergeable

from .code import runs_by_commit
from .diff import shown
from .timeline import commit_entry, commits_of, runs_of, stances, timeline
from .visit import Visit

REFRESH = 3
"""Seconds between reloads of a page that follows what happens."""


async def listed(visit: Visit, owner: str, repo: str) -> Response:
    """List the open or the closed pull requests, newest first."""
    found = visit.repository(owner, repo)
    want = "closed" if visit.request.query_params.get("state") == "closed" else "open"
    pulls = sorted(found.pulls.values(), key=lambda pull: -pull.number)
    opened = sum(pull.state == "open" for pull in pulls)
    return visit.show(
        "pulls.html",
        found,
        want=want,
        pulls=[pull for pull in pulls if pull.state == want],
        counts={"open": opened, "closed": len(pulls) - opened},
        runs={pull.number: runs_of(found, pull.head_sha) for pull in pulls},
    )


def changes_of(repo: Repository, pull: Pull) -> list[Change]:
    """Give the files a pull request changes, from where it left its base."""
    start = repo.git.merge_base(pull.base_sha, pull.head_sha)
    return repo.git.diff(start, pull.head_sha)


def _tab(visit: Visit, template: str, repo: Repository, pull: Pull, **values: Any) -> Response:
    runs = runs_of(repo, pull.head_sha)
    written = [comment.number for comment in repo.comments.values()]
    written += [review.number for review in repo.reviews.values() if review.body]
    counts = {
        "comments": written.count(pull.number),
        "commits": len(commits_of(repo, pull)),
        "checks": len(runs),
        "files": len(changes_of(repo, pull)),
    }
    around: dict[str, Any] = {"pull": pull, "counts": counts, "runs": runs}
    return visit.show(template, repo, **around | values)


async def conversation(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Show the conversation with its forms."""
    return talk(visit, *visit.pull(owner, repo, number))


def talk(
    visit: Visit, repo: Repository, pull: Pull, refused: Refused | None = None, form: str = ""
) -> Response:
    """Show the conversation; after a refusal with its words and what the person had typed."""
    typed = {"comment": "", "review": ""} | {form: visit.form.get("body", "")}
    live = visit.request.method == "GET" and "live" in visit.request.query_params
    return _tab(
        visit,
        "pull.html",
        repo,
        pull,
        status=refused.status if refused else 200,
        flash=said(refused) if refused else None,
        typed=typed,
        entries=timeline(visit.world, repo, pull),
        stances=stances(visit.world, repo, pull),
        teams=[visit.world.state.teams[number].slug for number in pull.teams],
        blocks=blocks(visit, repo, pull),
        may_write=_writes(visit, repo),
        may_edit=_may_edit(visit, repo, pull),
        may_close=_may_edit(visit, repo, pull) and not pull.merged_at,
        reactions=reactions(repo, pull),
        refresh=REFRESH if live else None,
    )


def said(refused: Refused) -> str:
    """Put a refusal into one line, as GitHub's API words it."""
    errors = [e if isinstance(e, str) else e.get("message") or str(e) for e in refused.errors]
    return ": ".join([refused.message, *errors])


def blocks(visit: Visit, repo: Repository, pull: Pull) -> list[str]:
    """Say everything that keeps this visitor from merging; the action itself decides."""
    if pull.state == "closed":
        return []
    found = []
    if not _writes(visit, repo):
        found.append("Merging needs write access to this repository.")
    if pull.draft:
        found.append("This pull request is still a draft.")
    try:
        obey_merge(visit.world, repo, visit.caller, pull)
    except Refused as refused:
        found.append(refused.message)
    if not mergeable(repo, pull):
        found.append(f"This branch has conflicts with {pull.base_ref}.")
    return found


def _writes(visit: Visit, repo: Repository) -> bool:
    return visit.me is not None and rank(visit.world.role(repo, visit.me.id)) >= rank("write")


def _may_edit(visit: Visit, repo: Repository, pull: Pull) -> bool:
    mine = visit.me is not None and visit.me.id == pull.author_id
    return mine or _writes(visit, repo)


def reactions(repo: Repository, pull: Pull) -> dict[int | None, Counter[str]]:
    """Count the reactions to each comment, and under None those to the pull request itself."""
    found: dict[int | None, Counter[str]] = defaultdict(Counter)
    for one in repo.reactions.values():
        if one.number == pull.number:
            found[one.comment_id][one.content] += 1
    return found


async def commits(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Show the commits of a pull request."""
    found, pull = visit.pull(owner, repo, number)
    entries = [commit_entry(visit.world, one) for one in commits_of(found, pull)]
    by_commit = runs_by_commit(found, entries)
    return _tab(visit, "pull_commits.html", found, pull, commits=entries, runs=by_commit, older=0)


async def files(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Show what a pull request changes."""
    found, pull = visit.pull(owner, repo, number)
    return _tab(
        visit, "pull_files.html", found, pull, files=[shown(c) for c in changes_of(found, pull)]
    )


async def checks(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Show the check runs of the head, with their buttons; it follows what is in progress."""
    found, pull = visit.pull(owner, repo, number)
    running = any(run.status != "completed" for run in runs_of(found, pull.head_sha))
    live = running or "live" in visit.request.query_params
    return _tab(
        visit,
        "checks.html",
        found,
        pull,
        may_press=visit.me is not None,
        refresh=REFRESH if live else None,
    )


async def run(visit: Visit, owner: str, repo: str, run_id: str) -> Response:
    """Show one check run, also of a commit without a pull request."""
    found, one = visit.check(owner, repo, run_id)
    return visit.show(
        "one_run.html",
        found,
        run=one,
        may_press=visit.me is not None,
        pulls=[pull for pull in found.pulls.values() if pull.head_sha == one.head_sha],
        refresh=REFRESH if one.status != "completed" else None,
    )
