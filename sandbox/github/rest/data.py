"""Git data: refs, blobs, trees, commits."""

import base64
from typing import Any

from sandbox.github.actions import commits, refs
from sandbox.github.git import GitError, MissingObject
from sandbox.github.refusal import Refused, not_found
from sandbox.github.schema import Known
from sandbox.github.views import repositories

from .call import Call, R, Reply, route

READ, WRITE = "contents:read", "contents:write"


def shown_ref(call: Call, name: str) -> Known:
    """Show one ref as it is now."""
    sha = call.repo.git.ref(name)
    if sha is None:
        raise not_found()
    return repositories.ref(call.world, call.repo, name, sha)


@route("GET", f"{R}/git/ref/{{ref}}", READ)
def get_ref(call: Call) -> Reply:
    """Show a ref, named without `refs/`."""
    return Reply(shown_ref(call, f"refs/{call.path['ref']}"))


@route("GET", f"{R}/git/matching-refs/{{ref}}", READ)
def list_matching_refs(call: Call) -> Reply:
    """List the refs that begin so."""
    found = call.repo.git.refs(f"refs/{call.path['ref']}")
    return Reply([shown_ref(call, name) for name in found])


@route("POST", f"{R}/git/refs", WRITE)
def create_ref(call: Call) -> Reply:
    """Create a ref."""
    name = call.body["ref"]
    refs.create_ref(call.world, call.repo, call.caller, name, call.body["sha"])
    return Reply(shown_ref(call, name), 201)


@route("PATCH", f"{R}/git/refs/{{ref}}", WRITE)
def update_ref(call: Call) -> Reply:
    """Move a ref."""
    name, force = f"refs/{call.path['ref']}", call.body.get("force", False)
    refs.update_ref(call.world, call.repo, call.caller, name, call.body["sha"], force=force)
    return Reply(shown_ref(call, name))


@route("DELETE", f"{R}/git/refs/{{ref}}", WRITE)
def delete_ref(call: Call) -> Reply:
    """Delete a ref."""
    refs.delete_ref(call.world, call.repo, call.caller, f"refs/{call.path['ref']}")
    return Reply(status=204)


@route("POST", f"{R}/git/blobs", WRITE)
def create_blob(call: Call) -> Reply:
    """Store a blob."""
    encoding = call.body.get("encoding", "utf-8")
    sha = commits.create_blob(call.world, call.repo, call.caller, call.body["content"], encoding)
    return Reply(Known(sha=sha, url=_url(call, "blobs", sha)), 201)


def _url(call: Call, kind: str, sha: str) -> str:
    return f"{repositories.api_url(call.world, call.repo)}/git/{kind}/{sha}"


@route("GET", f"{R}/git/blobs/{{file_sha}}", READ)
def get_blob(call: Call) -> Reply:
    """Show a blob as base64."""
    sha = call.path["file_sha"]
    try:
        data = call.repo.git.blob(sha)
    except MissingObject as missing:
        raise not_found() from missing
    return Reply(
        Known(
            sha=sha,
            node_id=f"B_{sha}",
            size=len(data),
            url=_url(call, "blobs", sha),
            content=base64.encodebytes(data).decode(),
            encoding="base64",
        )
    )


def shown_tree(call: Call, sha: str, *, recursive: bool = False) -> Known:
    """Show a tree."""
    git = call.repo.git
    try:
        tree = git.tree(sha)
    except MissingObject as missing:
        raise not_found() from missing
    entries = git.walk(tree) if recursive else ((item.name, item) for item in tree)
    shown = [_entry(call, path, item) for path, item in entries]
    return Known(sha=str(tree.id), url=_url(call, "trees", tree.id), tree=shown, truncated=False)


def _entry(call: Call, path: str, item: Any) -> Known:
    kind = str(item.type_str)
    size = {"size": item.size} if kind == "blob" else {}
    return Known(
        size,
        path=path,
        mode=f"{item.filemode:06o}",
        type=kind,
        sha=str(item.id),
        url=_url(call, f"{kind}s", str(item.id)),
    )


@route("GET", f"{R}/git/trees/{{tree_sha}}", READ)
def get_tree(call: Call) -> Reply:
    """Show a tree by its sha, a commit or a branch; `recursive` in any form means deep."""
    name = call.path["tree_sha"]
    try:
        sha = call.repo.git.commit_of(name)
    except GitError:
        sha = name
    return Reply(shown_tree(call, sha, recursive="recursive" in call.query))


@route("POST", f"{R}/git/trees", WRITE)
def create_tree(call: Call) -> Reply:
    """Write a tree."""
    base, entries = call.body.get("base_tree"), call.body["tree"]
    sha = commits.create_tree(call.world, call.repo, call.caller, base, entries)
    return Reply(shown_tree(call, sha), 201)


@route("POST", f"{R}/git/commits", WRITE)
def create_commit(call: Call) -> Reply:
    """Write a commit that no branch has yet."""
    people = {role: call.body.get(role) for role in ("author", "committer")}
    sha = commits.create_commit(
        call.world, call.repo, call.caller, call.body["message"], call.body["tree"],
        call.body.get("parents", []), people,
    )  # fmt: skip
    found = call.repo.git.commit(sha)
    return Reply(repositories.commit_parts(call.world, call.repo, found), 201)


@route("GET", f"{R}/git/commits/{{commit_sha}}", READ)
def get_commit(call: Call) -> Reply:
    """Show a commit as git holds it."""
    try:
        found = call.repo.git.commit(call.path["commit_sha"])
    except MissingObject as missing:
        raise not_found() from missing
    return Reply(repositories.commit_parts(call.world, call.repo, found))


def found_or(status: int, call: Call, name: str) -> str:
    """Resolve a branch, tag or sha; refuse with this status when there is none."""
    try:
        return call.repo.git.commit_of(name)
    except GitError as missing:
        raise Refused(status, str(missing)) from missing
