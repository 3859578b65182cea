"""Commits and files: what git's data API and the contents API write."""

import base64
import binascii
from typing import Any

from sandbox.github.caller import Caller
from sandbox.github.clock import moment_of
from sandbox.github.core import Core
from sandbox.github.git import GitError, MissingObject, Person
from sandbox.github.model import Account, Repository
from sandbox.github.refusal import Refused, custom, invalid, not_found

from .refs import BRANCH, create_ref, update_ref
from .rules import obey


def signer(world: Core, account: Account) -> Person:
    """Give an account as git writes it, with the address by which GitHub finds it again."""
    # GitHub's own address of a bot holds [bot], which its webhook description refuses as an e-mail.
    local = account.login.replace("[bot]", "-bot")
    address = f"{account.id}+{local}@users.noreply.github.com"
    return Person(account.login, address, world.clock.now())


def decoded(text: str, encoding: str) -> bytes:
    """Read a blob's content; 422 for an encoding or bytes that are none."""
    if encoding in ("utf-8", "utf8"):
        try:
            return text.encode()
        except UnicodeEncodeError as bad:
            raise custom("Blob", "content is not valid UTF-8") from bad
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as bad:
        raise custom("Blob", "content is not valid Base64") from bad


def create_blob(world: Core, repo: Repository, by: Caller, content: str, encoding: str) -> str:
    """Store a blob."""
    by.allow(world, repo, "write")
    return repo.git.write_blob(decoded(content, encoding))


def create_tree(
    world: Core, repo: Repository, by: Caller, base: str | None, entries: list[dict[str, Any]]
) -> str:
    """Write a tree on top of another one."""
    by.allow(world, repo, "write")
    try:
        return repo.git.write_tree(base, entries)
    except MissingObject as missing:
        raise Refused(422, "tree.sha is not a valid tree or blob") from missing
    except GitError as refused:
        raise Refused(422, str(refused)) from refused


def _person(world: Core, given: dict[str, str] | None, default: Person) -> Person:
    if given is None:
        return default
    try:
        when = moment_of(given["date"]) if "date" in given else world.clock.now()
    except ValueError as bad:
        raise invalid("Commit", "date") from bad
    return Person(given.get("name", default.name), given.get("email", default.email), when)


def create_commit(
    world: Core,
    repo: Repository,
    by: Caller,
    message: str,
    tree: str,
    parents: list[str],
    people: dict[str, dict[str, str] | None],
) -> str:
    """Write a commit no branch has yet; an App that names no one else gets GitHub's signature.

    `people` may hold author and committer as GitHub's API takes them.
    """
    by.allow(world, repo, "write")
    author = _person(world, people.get("author"), signer(world, by.who()))
    committer = _person(world, people.get("committer"), author)
    try:
        sha = repo.git.write_commit(message, tree, parents, author, committer)
    except MissingObject as missing:
        raise Refused(422, "Tree SHA or parent SHA does not exist") from missing
    except ValueError as bad:
        raise invalid("Commit", "author") from bad
    if by.kind == "installation" and not any(people.values()):
        repo.signed.add(sha)
    return sha


def write_file(
    world: Core,
    repo: Repository,
    by: Caller,
    path: str,
    content: bytes | None,
    message: str,
    *,
    branch: str,
    **given: Any,
) -> tuple[str, bool]:
    """Create, replace or (content None) delete one file; give the commit and whether it is new.

    An existing path needs `sha`, that of its blob: 422 without it, 409 when it is another one.
    `people` are as in `create_commit`.
    """
    by.allow(world, repo, "write")
    head = repo.git.branch(branch)
    if head is None:
        raise Refused(404, f"Branch {branch} not found")
    old = _blob_at(repo, head, path)
    _expect(path, old, given.get("sha"), deleting=content is None)
    entry = {"path": path, "sha": repo.git.write_blob(content) if content is not None else None}
    tree = create_tree(world, repo, by, head, [entry])
    obey(world, repo, by, branch, "update")
    commit = create_commit(world, repo, by, message, tree, [head], given.get("people", {}))
    update_ref(world, repo, by, BRANCH + branch, commit)
    return commit, old is None


def _expect(path: str, old: str | None, sha: str | None, *, deleting: bool) -> None:
    if old is None and deleting:
        raise not_found()
    if old and not sha:
        raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if sha and sha != old:
        raise Refused(409, f"{path} does not match {sha}")


def _blob_at(repo: Repository, commit: str, path: str) -> str | None:
    try:
        found = repo.git.entry(commit, path)
    except MissingObject:
        return None
    if found.type_str != "blob":
        raise Refused(422, f"{path} is a directory")
    return str(found.id)


def push_files(
    world: Core, repo: Repository, by: Caller, branch: str, files: dict[str, str | None],
    message: str, *, force: bool = False,
) -> str:  # fmt: skip
    """Push one commit with these files (None deletes) and give its sha.

    Makes the branch when it is new. Forced, the commit replaces the head instead of following it.
    """
    by.allow(world, repo, "write")
    git = repo.git
    head = git.branch(branch)
    base = head or git.branch(repo.default_branch)
    entries = [{"path": path, "sha": None if text is None else git.write_blob(text.encode())}
               for path, text in files.items()]  # fmt: skip
    tree = create_tree(world, repo, by, base, entries)
    parents = [base] if base else []
    if force and head:
        parents = [str(parent) for parent in git.commit(head).parent_ids]
    sha = create_commit(world, repo, by, message, tree, parents, {})
    if head:
        update_ref(world, repo, by, BRANCH + branch, sha, force=force)
    else:
        create_ref(world, repo, by, BRANCH + branch, sha)
    return sha
