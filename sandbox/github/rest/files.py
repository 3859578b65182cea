"""Contents: files by path and ref."""

import base64
from typing import Any
from urllib.parse import quote

from sandbox.github.actions import commits
from sandbox.github.git import GitError, MissingObject
from sandbox.github.refusal import not_found
from sandbox.github.schema import Known
from sandbox.github.views import repositories

from .call import Call, R, Reply, route

CONTENTS = f"{R}/contents/{{path}}"
SHOWN = 1024 * 1024
"""Bytes of the longest file that is shown with its content, unless raw."""

KINDS = {"tree": "dir", "blob": "file", "commit": "submodule"}


def _place(call: Call, path: str, item: Any, ref: str) -> Known:
    api = repositories.api_url(call.world, call.repo)
    web = repositories.web_url(call.world, call.repo)
    kind, name, where = str(item.type_str), path.rpartition("/")[2], quote(path)
    page = f"{web}/{'tree' if kind == 'tree' else 'blob'}/{quote(ref)}/{where}"
    url, git = f"{api}/contents/{where}?ref={quote(ref)}", f"{api}/git/{kind}s/{item.id}"
    raw = f"{web}/raw/{quote(ref)}/{where}" if kind == "blob" else None
    return Known(
        type=KINDS[kind],
        name=name,
        path=path,
        sha=str(item.id),
        size=item.size if kind == "blob" else 0,
        url=url,
        git_url=git,
        html_url=page,
        download_url=raw,
        _links=Known(self=url, git=git, html=page),
    )


@route("GET", CONTENTS, "contents:read")
def get_content(call: Call) -> Reply:
    """Show a file with its content, or list a directory."""
    ref, path = call.query.get("ref") or call.repo.default_branch, call.path["path"].strip("/")
    git = call.repo.git
    try:
        item = git.entry(git.commit_of(ref), path)
    except GitError as missing:
        raise not_found() from missing
    if item.type_str == "tree":
        below = f"{path}/" if path else ""
        return Reply([_place(call, below + child.name, child, ref) for child in item])
    data = git.blob(str(item.id))
    if "raw" in call.accept:
        return Reply(raw=data, media="application/vnd.github.raw+json; charset=utf-8")
    shown = ("", "none") if len(data) > SHOWN else (base64.encodebytes(data).decode(), "base64")
    return Reply(Known(_place(call, path, item, ref), content=shown[0], encoding=shown[1]))


def _people(call: Call) -> dict[str, Any]:
    return {role: call.body.get(role) for role in ("author", "committer")}


@route("PUT", CONTENTS, "contents:write")
def put_content(call: Call) -> Reply:
    """Create a file (201) or, with the sha of the old one, replace it (200)."""
    path, branch = call.path["path"], call.body.get("branch") or call.repo.default_branch
    data = commits.decoded(call.body["content"], "base64")
    sha, new = commits.write_file(
        call.world, call.repo, call.caller, path, data, call.body["message"],
        branch=branch, sha=call.body.get("sha"), people=_people(call),
    )  # fmt: skip
    return Reply(_written(call, sha, path, branch), 201 if new else 200)


@route("DELETE", CONTENTS, "contents:write")
def delete_content(call: Call) -> Reply:
    """Delete a file."""
    path, branch = call.path["path"], call.body.get("branch") or call.repo.default_branch
    sha, _ = commits.write_file(
        call.world, call.repo, call.caller, path, None, call.body["message"],
        branch=branch, sha=call.body.get("sha"), people=_people(call),
    )  # fmt: skip
    return Reply(_written(call, sha, path, branch))


def _written(call: Call, sha: str, path: str, branch: str) -> Known:
    git = call.repo.git
    try:
        content = _place(call, path, git.entry(sha, path), branch)
    except MissingObject:
        content = None
    parts = repositories.commit_parts(call.world, call.repo, git.commit(sha))
    return Known(content=content, commit=parts)
