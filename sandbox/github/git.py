"""Bare git repositories, spoken to as GitHub's git data API speaks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

import pygit2
from pygit2.enums import FileMode, SortMode

SHA = re.compile(r"[0-9a-f]{40}")
ZERO = "0" * 40
STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}


class GitError(Exception):
    """The repository cannot do this: the words are GitHub's, the caller picks the status."""


class MissingObject(GitError):
    """No such object, ref or path."""


class NotFastForward(GitError):
    """The update would lose commits and force was not asked for."""


class Conflict(GitError):
    """The two sides cannot be merged without a person."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who stands in a commit, and when."""

    name: str
    email: str
    when: datetime

    def signature(self) -> pygit2.Signature:
        """Give git's form of it."""
        return pygit2.Signature(self.name, self.email, int(self.when.timestamp()), 0)


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a difference."""

    path: str
    old_path: str
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str | None


class Git:
    """One bare repository. Every write of a ref is a compare-and-swap under one lock."""

    def __init__(self, path: Path, refs: dict[str, str] | None = None) -> None:
        self.path = path
        self.lock = RLock()
        self._past = refs
        found = path.exists()
        self.repo: Any = (
            pygit2.Repository(str(path))
            if found
            else pygit2.init_repository(str(path), bare=True, initial_head="main")
        )

    def __deepcopy__(self, _memo: object) -> "Git":
        """Keep the refs of this moment; objects never change, so they need no copy."""
        return Git(self.path, self.refs())

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """List full ref names and the shas they point to."""
        if self._past is not None:
            return {name: sha for name, sha in self._past.items() if name.startswith(prefix)}
        with self.lock:
            names = sorted(name for name in self.repo.references if name.startswith(prefix))
            return {name: str(self.repo.references[name].target) for name in names}

    def ref(self, name: str) -> str | None:
        """Give the sha a full ref name points to."""
        if self._past is not None:
            return self._past.get(name)
        try:
            found = self.repo.references.get(name)
        except (ValueError, pygit2.GitError):
            return None
        return str(found.target) if found else None

    def branch(self, name: str) -> str | None:
        """Give the head of a branch."""
        return self.ref(f"refs/heads/{name}")

    def commit_of(self, name: str) -> str:
        """Resolve a sha, branch, tag or full ref to a commit's sha; MissingObject otherwise."""
        for ref in (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name):
            if ref.startswith("refs/") and (sha := self.ref(ref)):
                return sha
        if SHA.fullmatch(name):
            return str(self._get(name, pygit2.Commit).id)
        raise MissingObject(f"No commit found for SHA: {name}")

    def _get(self, sha: str, kind: Any = pygit2.Object) -> Any:
        found = self.repo.get(sha) if SHA.fullmatch(sha) else None
        if not isinstance(found, kind):
            raise MissingObject(f"No object found for SHA: {sha}")
        return found

    def kind(self, sha: str) -> str:
        """Say commit, tree, blob or tag; MissingObject when there is none."""
        return str(self._get(sha).type_str)

    def commit(self, sha: str) -> Any:
        """Read a commit."""
        return self._get(sha, pygit2.Commit)

    def blob(self, sha: str) -> bytes:
        """Read a blob's bytes."""
        return bytes(self._get(sha, pygit2.Blob).data)

    def write_blob(self, data: bytes) -> str:
        """Store bytes and give their sha."""
        return str(self.repo.create_blob(data))

    def tree(self, sha: str) -> Any:
        """Read a tree, given its own or a commit's sha."""
        found = self._get(sha)
        if not isinstance(found, pygit2.Commit | pygit2.Tree):
            raise MissingObject(f"No tree found for SHA: {sha}")
        return found.peel(pygit2.Tree)

    def entry(self, commit: str, path: str) -> Any:
        """Find the blob or tree at a path of a commit; the root for the empty path."""
        root = self.tree(commit)
        try:
            return root[path] if path else root
        except (KeyError, ValueError) as missing:
            raise MissingObject("Not Found") from missing

    def walk(self, tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Yield every entry below a tree with its path, trees before their contents."""
        for item in tree:
            yield prefix + item.name, item
            if isinstance(item, pygit2.Tree):
                yield from self.walk(item, f"{prefix}{item.name}/")

    def write_tree(self, base: str | None, entries: list[dict[str, Any]]) -> str:
        """Write a tree from GitHub's entries (path, mode, sha or content; a null sha removes)."""
        index = pygit2.Index()
        if base:
            index.read_tree(self.tree(base))
        for entry in entries:
            self._place(index, entry)
        try:
            return str(index.write_tree(self.repo))
        except pygit2.GitError as refused:
            raise GitError("GitRPC::BadObjectState") from refused

    def _place(self, index: Any, entry: dict[str, Any]) -> None:
        path, sha = entry.get("path", ""), entry.get("sha", "")
        if not path or any(part in ("", ".", "..", ".git") for part in path.split("/")):
            raise GitError("tree.path contains a malformed path component")
        if sha is None:
            try:
                index.remove(path)
            except OSError as missing:
                raise GitError("GitRPC::BadObjectState") from missing
            return
        if entry.get("mode") == "040000":
            for below, item in self.walk(self.tree(sha), f"{path}/"):
                if not isinstance(item, pygit2.Tree):
                    index.add(pygit2.IndexEntry(below, item.id, item.filemode))
            return
        sha = sha or self.write_blob(entry.get("content", "").encode())
        self._get(sha, pygit2.Blob)
        mode = FileMode(int(entry.get("mode") or "100644", 8))
        index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=sha), mode))

    def write_commit(
        self, message: str, tree: str, parents: list[str], author: Person, committer: Person
    ) -> str:
        """Write a commit that no ref points to yet."""
        self._get(tree, pygit2.Tree)
        for parent in parents:
            self.commit(parent)
        return str(
            self.repo.create_commit(
                None, author.signature(), committer.signature(), message, tree, parents
            )
        )

    def create_ref(self, name: str, sha: str) -> None:
        """Create a ref, atomically; GitError when it exists or cannot be named so."""
        with self.lock:
            self._get(sha)
            if self.ref(name):
                raise GitError("Reference already exists")
            try:
                self.repo.references.create(name, sha)
            except (ValueError, OSError, pygit2.GitError) as refused:
                raise GitError("Reference update failed") from refused

    def update_ref(self, name: str, sha: str, *, force: bool = False) -> str:
        """Move a ref and give its old sha; NotFastForward unless forced."""
        with self.lock:
            before = self.ref(name)
            if before is None:
                raise MissingObject("Reference does not exist")
            self._get(sha)
            if not force and not self.contains(sha, before):
                raise NotFastForward("Update is not a fast forward")
            self.repo.references[name].set_target(sha)
            return before

    def delete_ref(self, name: str) -> str:
        """Delete a ref and give the sha it had."""
        with self.lock:
            before = self.ref(name)
            if before is None:
                raise MissingObject("Reference does not exist")
            self.repo.references.delete(name)
            return before

    def contains(self, commit: str, ancestor: str) -> bool:
        """Whether `ancestor` is the commit itself or reachable from it."""
        return commit == ancestor or bool(self.repo.descendant_of(commit, ancestor))

    def merge_base(self, one: str, other: str) -> str | None:
        """Give the best common ancestor; None for unrelated histories."""
        found = self.repo.merge_base(one, other)
        return str(found) if found else None

    def between(self, base: str | None, head: str) -> list[Any]:
        """List the commits of head that base lacks, oldest first."""
        walker = self.repo.walk(head, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        if base and base != ZERO:
            walker.hide(base)
        return list(walker)

    def history(self, head: str) -> list[Any]:
        """List all commits from head back, newest first."""
        return list(self.repo.walk(head, SortMode.TOPOLOGICAL))

    def diff(self, old: str | None, new: str) -> list[Change]:
        """Compare two commits or trees; None stands for the empty tree."""
        after = self.tree(new)
        diff = self.tree(old).diff_to_tree(after) if old else after.diff_to_tree(swap=True)
        diff.find_similar()
        return [_change(patch) for patch in diff]

    def merge_tree(self, ours: str, theirs: str) -> str:
        """Merge two commits and write the tree; Conflict when a person is needed."""
        index = self.repo.merge_commits(ours, theirs)
        if index.conflicts:
            raise Conflict("Pull Request is not mergeable")
        return str(index.write_tree(self.repo))

    def pick_tree(self, onto: str, commit: str) -> str:
        """Apply one commit's change onto another commit and write the tree."""
        picked = self.commit(commit)
        parent = picked.parents[0].tree if picked.parents else self.repo[self.write_tree(None, [])]
        index = self.repo.merge_trees(parent, self.tree(onto), picked.tree)
        if index.conflicts:
            raise Conflict("Pull Request is not mergeable")
        return str(index.write_tree(self.repo))


def _change(patch: Any) -> Change:
    delta = patch.delta
    removed = delta.status_char() == "D"
    _, additions, deletions = patch.line_stats
    hunks = patch.text.partition("\n@@")[2] if not delta.is_binary else ""
    return Change(
        path=delta.old_file.path if removed else delta.new_file.path,
        old_path=delta.old_file.path,
        status=STATUS.get(delta.status_char(), "modified"),
        sha=str(delta.old_file.id if removed else delta.new_file.id),
        additions=additions,
        deletions=deletions,
        patch=f"@@{hunks}".rstrip("\n") if hunks else None,
    )
