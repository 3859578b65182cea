"""Repositories and their files, at a branch or at a commit."""

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from sandbox.github.git import MissingObject
from sandbox.github.model import Account, Repository
from sandbox.github.refusal import not_found

from .diff import shown
from .timeline import Entry, commit_entry, runs_of
from .visit import Visit

LONGEST_FILE = 524_288
MOST_COMMITS = 100


@dataclass(frozen=True, slots=True)
class Step:
    """One name of a path, with the path that leads to it."""

    name: str
    path: str
    folder: bool = True


async def home(visit: Visit) -> Response:
    """List what the visitor may see, and who they could be."""
    world = visit.world
    seen = [repo for repo in world.state.repositories.values() if visit.caller.sees(world, repo)]
    people = [account for account in world.state.accounts.values() if account.type == "User"]
    return visit.show(
        "home.html",
        repositories=[(world.full_name(r), r, len(list(r.open_pulls()))) for r in seen],
        people=[(person, _roles(visit, person)) for person in people],
        apps=[app for app in world.state.apps.values() if visit.runs(app)],
    )


def _roles(visit: Visit, person: Account) -> str:
    world, repos = visit.world, visit.world.state.repositories.values()
    roles = [(world.role(repo, person.id), repo.name) for repo in repos]
    return ", ".join(f"{role} in {name}" for role, name in roles if role != "none")


async def account(visit: Visit, owner: str) -> Response:
    """Show a person, organisation or bot with the repositories the visitor may see."""
    who = visit.world.account(owner)
    repos = [
        repo
        for repo in visit.world.state.repositories.values()
        if repo.owner_id == who.id and visit.caller.sees(visit.world, repo)
    ]
    return visit.show("account.html", who=who, repositories=repos)


async def app_page(visit: Visit, slug: str) -> Response:
    """Show the account of an App's bot."""
    return await account(visit, f"{slug}[bot]")


async def front(visit: Visit, owner: str, repo: str) -> Response:
    """Show the files of the default branch."""
    found = visit.repository(owner, repo)
    if found.git.branch(found.default_branch) is None:
        return _tree(visit, found, found.default_branch, None, "")
    return await tree(visit, owner, repo, found.default_branch)


async def tree(visit: Visit, owner: str, repo: str, rest: str) -> Response:
    """Show a folder at a branch, tag or commit."""
    found = visit.repository(owner, repo)
    ref, commit, path = split_ref(found, rest)
    return _tree(visit, found, ref, commit, path)


def _tree(visit: Visit, repo: Repository, ref: str, commit: str | None, path: str) -> Response:
    entry = repo.git.entry(commit, path) if commit else ()
    if getattr(entry, "type_str", "tree") != "tree":
        raise not_found()
    before = f"{path}/" if path else ""
    rows = [Step(e.name, before + e.name, e.type_str == "tree") for e in entry]
    readme = next((e.data for e in entry if e.name.lower() == "readme.md" and _is_blob(e)), b"")
    return visit.show(
        "tree.html",
        repo,
        ref=ref,
        trail=_trail(path),
        entries=sorted(rows, key=lambda row: (not row.folder, row.name)),
        readme=readme.decode(errors="replace"),
        latest=repo.git.commit(commit) if commit else None,
        branches=[name.removeprefix("refs/heads/") for name in repo.git.refs("refs/heads/")],
    )


def _is_blob(entry: Any) -> bool:
    return bool(entry.type_str == "blob")


async def blob(visit: Visit, owner: str, repo: str, rest: str) -> Response:
    """Show a file at a branch, tag or commit."""
    found = visit.repository(owner, repo)
    ref, commit, path = split_ref(found, rest)
    entry = found.git.entry(commit, path)
    if not path or not _is_blob(entry):
        raise not_found()
    text = _text_of(entry.data)
    return visit.show(
        "blob.html",
        found,
        ref=ref,
        trail=_trail(path),
        text=text,
        size=len(entry.data),
        lines=text.splitlines() if text else [],
        prose=path.lower().endswith(".md") and "plain" not in visit.request.query_params,
    )


def _text_of(data: bytes) -> str | None:
    if len(data) > LONGEST_FILE or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _trail(path: str) -> list[Step]:
    names = path.split("/") if path else []
    return [Step(name, "/".join(names[: i + 1])) for i, name in enumerate(names)]


def split_ref(repo: Repository, rest: str) -> tuple[str, str, str]:
    """Split `branch/with/slashes/path` into ref, commit and path: the shortest ref that exists."""
    parts = rest.strip("/").split("/")
    for end in range(1, len(parts) + 1):
        ref, path = "/".join(parts[:end]), "/".join(parts[end:])
        try:
            commit = repo.git.commit_of(ref)
            repo.git.entry(commit, path)
        except MissingObject:
            continue
        return ref, commit, path
    raise not_found()


async def commits(visit: Visit, owner: str, repo: str, rest: str) -> Response:
    """Show the history of a branch, newest first."""
    found = visit.repository(owner, repo)
    ref, commit, _ = split_ref(found, rest)
    history = found.git.history(commit)
    entries = [commit_entry(visit.world, one) for one in history[:MOST_COMMITS]]
    return visit.show(
        "commits.html",
        found,
        ref=ref,
        commits=entries,
        runs=runs_by_commit(found, entries),
        older=len(history[MOST_COMMITS:]),
    )


def runs_by_commit(repo: Repository, entries: list[Entry]) -> dict[str, Any]:
    """Give the check runs of each commit on a page."""
    return {str(entry.what.id): runs_of(repo, str(entry.what.id)) for entry in entries}


async def commit(visit: Visit, owner: str, repo: str, sha: str) -> Response:
    """Show one commit with what it changed."""
    found = visit.repository(owner, repo)
    one = found.git.commit(found.git.commit_of(sha))
    parent = str(one.parent_ids[0]) if one.parent_ids else None
    return visit.show(
        "commit.html",
        found,
        sha=str(one.id),
        entry=commit_entry(visit.world, one),
        rest="\n".join(one.message.splitlines()[1:]).strip(),
        signed=str(one.id) in found.signed,
        runs=runs_of(found, str(one.id)),
        files=[shown(change) for change in found.git.diff(parent, str(one.id))],
    )
