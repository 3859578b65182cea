"""Repositories and what git holds in them."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sandbox.github.clock import iso
from sandbox.github.git import Change
from sandbox.github.lookup import Lookup, node_id, rank
from sandbox.github.model import Repository
from sandbox.github.schema import Known

from .accounts import user

PATHS = (
    "archive={archive_format}{/ref}", "assignees={/user}", "blobs=git/blobs{/sha}",
    "branches={/branch}", "collaborators={/collaborator}", "comments={/number}",
    "commits={/sha}", "compare=compare/{base}...{head}", "contents=contents/{+path}",
    "contributors", "deployments", "downloads", "events", "forks",
    "git_commits=git/commits{/sha}", "git_refs=git/refs{/sha}", "git_tags=git/tags{/sha}",
    "hooks", "issue_comment=issues/comments{/number}", "issue_events=issues/events{/number}",
    "issues={/number}", "keys={/key_id}", "labels={/name}", "languages", "merges",
    "milestones={/number}", "notifications={?since,all,participating}", "pulls={/number}",
    "releases={/id}", "stargazers", "statuses=statuses/{sha}", "subscribers", "subscription",
    "tags", "teams", "trees=git/trees{/sha}",
)  # fmt: skip
ROLE_FLAGS = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain",
              "admin": "admin"}  # fmt: skip


def api_url(look: Lookup, repo: Repository) -> str:
    """Give the root of a repository's API."""
    return f"{look.url}/repos/{look.full_name(repo)}"


def web_url(look: Lookup, repo: Repository) -> str:
    """Give the root of a repository's pages."""
    return f"{look.url}/{look.full_name(repo)}"


def flags(role: str) -> dict[str, bool]:
    """Spell a role out as GitHub's five flags."""
    return {flag: rank(role) >= rank(least) for flag, least in ROLE_FLAGS.items()}


def repository(look: Lookup, repo: Repository) -> Known:
    """Show a repository, for its full, its short and its webhook form."""
    return Known(
        **_addresses(look, repo),
        **_settings(repo),
        id=repo.id,
        node_id=node_id("R", repo.id),
        name=repo.name,
        full_name=look.full_name(repo),
        owner=user(look, look.owner(repo)),
        created_at=iso(repo.created_at),
        updated_at=iso(repo.created_at),
        pushed_at=iso(repo.pushed_at or repo.created_at),
    )


def _addresses(look: Lookup, repo: Repository) -> dict[str, str]:
    api, web = api_url(look, repo), web_url(look, repo)
    urls = {}
    for path in PATHS:
        name, _, rest = path.partition("=")
        urls[f"{name}_url"] = f"{api}/{rest if rest[:1].isalpha() else name + rest}"
    return urls | {
        "url": api,
        "html_url": web,
        "svn_url": web,
        "clone_url": f"{web}.git",
        "git_url": f"{web.replace('http', 'git', 1)}.git",
        "ssh_url": f"git@127.0.0.1:{look.full_name(repo)}.git",
    }


def _settings(repo: Repository) -> dict[str, Any]:
    counted = sum(1 for _ in repo.open_pulls())
    return {
        "private": repo.private,
        "visibility": "private" if repo.private else "public",
        "description": None,
        "topics": [],
        "default_branch": repo.default_branch,
        "master_branch": repo.default_branch,
        "has_issues": True,
        "open_issues": counted,
        "open_issues_count": counted,
        "archived": repo.archived,
        "delete_branch_on_merge": repo.delete_branch_on_merge,
        "allow_merge_commit": True,
        "allow_squash_merge": True,
        "allow_rebase_merge": True,
    }


def short_repository(look: Lookup, repo: Repository) -> Known:
    """Show a repository as installation events name it."""
    return Known(
        id=repo.id,
        node_id=node_id("R", repo.id),
        name=repo.name,
        full_name=look.full_name(repo),
        private=repo.private,
    )


def _git_user(signature: Any, when: str) -> Known:
    return Known(name=signature.name, email=signature.email, date=when)


def _when(seconds: int) -> str:
    return iso(datetime.fromtimestamp(seconds, UTC))


def commit_parts(look: Lookup, repo: Repository, found: Any) -> Known:
    """Show a commit as git's own data (`git-commit`)."""
    api, web, sha = api_url(look, repo), web_url(look, repo), str(found.id)
    signed = sha in repo.signed
    return Known(
        sha=sha,
        node_id=node_id("C", int(sha[:12], 16)),
        url=f"{api}/git/commits/{sha}",
        html_url=f"{web}/commit/{sha}",
        author=_git_user(found.author, _when(found.author.time)),
        committer=_git_user(found.committer, _when(found.committer.time)),
        message=found.message,
        tree=Known(sha=str(found.tree_id), url=f"{api}/git/trees/{found.tree_id}"),
        parents=[
            Known(sha=str(p), url=f"{api}/git/commits/{p}", html_url=f"{web}/commit/{p}")
            for p in found.parent_ids
        ],
        comment_count=0,
        verification=Known(
            verified=signed,
            reason="valid" if signed else "unsigned",
            signature=None,
            payload=None,
            verified_at=None,
        ),
    )


def author_of(look: Lookup, signature: Any) -> Known | None:
    """Find the account behind a commit's address `ID+login@users.noreply...`."""
    number = signature.email.partition("+")[0]
    account = look.state.accounts.get(int(number)) if number.isdecimal() else None
    return user(look, account) if account else None


def commit(look: Lookup, repo: Repository, found: Any) -> Known:
    """Show a commit as GitHub's history lists it (`commit`)."""
    api, parts = api_url(look, repo), commit_parts(look, repo, found)
    url = f"{api}/commits/{parts['sha']}"
    parents = [Known(p, url=f"{api}/commits/{p['sha']}") for p in parts["parents"]]
    return Known(
        parts,
        url=url,
        comments_url=f"{url}/comments",
        commit=parts,
        author=author_of(look, found.author),
        committer=author_of(look, found.committer),
        parents=parents,
    )


def change(look: Lookup, repo: Repository, found: Change, sha: str) -> Known:
    """Show one changed file (`diff-entry`)."""
    api, web, path = api_url(look, repo), web_url(look, repo), quote(found.path)
    moved = {"previous_filename": found.old_path} if found.status == "renamed" else {}
    patch = {"patch": found.patch} if found.patch else {}
    return Known(
        sha=found.sha,
        filename=found.path,
        status=found.status,
        additions=found.additions,
        deletions=found.deletions,
        changes=found.additions + found.deletions,
        blob_url=f"{web}/blob/{sha}/{path}",
        raw_url=f"{web}/raw/{sha}/{path}",
        contents_url=f"{api}/contents/{path}?ref={sha}",
        **patch,
        **moved,
    )


def ref(look: Lookup, repo: Repository, name: str, sha: str) -> Known:
    """Show a git ref."""
    api, kind = api_url(look, repo), repo.git.kind(sha)
    return Known(
        ref=name,
        node_id=node_id("REF", repo.id),
        url=f"{api}/git/{quote(name)}",
        object=Known(type=kind, sha=sha, url=f"{api}/git/{kind}s/{sha}"),
    )
