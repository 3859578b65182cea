"""A ledger read out of a plain git clone, through the `git` program, as values for the audit.

The clone may hold anything. Only plumbing that reads objects is run: no hook, no filter, no
signature program, no network, nothing of the user's configuration; no path is ever opened.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from proposals.audit import Change, Commit, File, Ledger
from proposals.receipt import MAX_FILE

BRANCHES = ("refs/remotes/origin/placet/ledger", "refs/heads/placet/ledger")
PATIENCE = 300  # seconds for one git command

_SAFE = (
    *(
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.commitGraph=false",
    ),
    *("-c", "protocol.allow=never", "-c", "log.showSignature=false", "-c", "log.showRoot=true"),
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class BadClone(Exception):
    """The folder cannot be audited; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Clone:
    """One clone on this machine; reading it changes nothing in it."""

    folder: Path
    _looked: dict[str, bytes | None] = field(default_factory=dict)

    def ledger(self, ref: str | None = None) -> Ledger:
        """Read the ledger branch, or the ref named instead; BadClone."""
        if self._git("rev-parse", "--is-shallow-repository").strip() != b"false":
            raise BadClone("the clone is shallow: fetch the whole history (git fetch --unshallow)")
        tip = self._tip(ref)
        changes = tuple(self._changes(tip))
        brought = {change.path: change.commit for change in reversed(changes)}
        own = self._git("rev-list", "--first-parent", tip, "--").decode().split()
        return Ledger(
            tip=tip,
            files=tuple(self._files(tip, brought)),
            changes=changes,
            commits=tuple(_commit(sha, raw) for sha, raw in self._objects(own) if raw),
            reachable=frozenset(self._git("rev-list", tip, "--").decode().split()),
            look=self.look,
        )

    def look(self, name: str) -> bytes | None:
        """One blob of the clone by `SHA` or `SHA:PATH`; None when it is not there or too large."""
        if name not in self._looked:
            head, _, rest = self._git("cat-file", "--batch", given=[name]).partition(b"\n")
            _, kind, size = [*head.decode("utf-8", "replace").split(), "", ""][:3]
            fits = kind == "blob" and size.isdigit() and int(size) <= MAX_FILE
            self._looked[name] = rest[: int(size)] if fits else None
        return self._looked[name]

    def _tip(self, ref: str | None) -> str:
        """The commit to audit; two branches of the name that differ are for a person to choose."""
        found = [t for name in ([ref] if ref else BRANCHES) if (t := self._commit_of(name))]
        if not found:
            where = ref or "placet/ledger"
            raise BadClone(f"{self.folder} has no branch {where}. Clone the repository whole.")
        if len(set(found)) > 1:
            why = "the clone's own branch placet/ledger is not the one that it fetched"
            raise BadClone(f"{why}. Name the one to audit: --ref {BRANCHES[0]} or {BRANCHES[1]}")
        return found[0]

    def _commit_of(self, ref: str) -> str | None:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        try:
            return self._git(*words).decode().strip()
        except BadClone:
            return None

    def _changes(self, tip: str) -> Iterator[Change]:
        """What each commit of the branch's own line did to which file, newest first."""
        raw = self._git(
            *("log", "--first-parent", "--diff-merges=first-parent", "--raw", "--no-abbrev", "-z"),
            *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes"),
            *("--no-mailmap", "--format=tformat:%H", tip, "--"),
        )
        commit, status = "", ""
        for token in raw.decode("utf-8", "surrogateescape").split("\0"):
            word = token.lstrip("\n")
            if status:
                yield Change(commit, status, token)
                status = ""
            elif word.startswith(":"):
                status = word.rsplit(" ", 1)[-1][:1]
            elif word:
                commit = word

    def _files(self, tip: str, brought: dict[str, str]) -> Iterator[File]:
        listed = self._git("ls-tree", "-r", "-l", "-z", "--full-tree", tip, "--")
        rows = [row for row in listed.decode("utf-8", "surrogateescape").split("\0") if row]
        parts = [(row.split("\t", 1)[0].split(), row.split("\t", 1)[1]) for row in rows]
        wanted = [about[2] for about, _ in parts if about[1] == "blob"]
        data = dict(self._objects(wanted))
        for (mode, _, sha, _), path in parts:
            yield File(path, data.get(sha), brought.get(path, ""), mode)

    def _objects(self, names: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Blobs and commits by name, all with one command; None for what is not there."""
        asked = [n for n in names if "\n" not in n]
        sizes = self._git("cat-file", "--batch-check=%(objecttype) %(objectsize)", given=asked)
        for_reading = []
        for name, line in zip(asked, sizes.decode("utf-8", "replace").splitlines(), strict=True):
            kind, _, size = line.partition(" ")
            if kind in ("blob", "commit") and size.isdigit() and int(size) <= MAX_FILE:
                for_reading.append(name)
            else:
                yield name, None
        raw, at = self._git("cat-file", "--batch=%(objectsize)", given=for_reading), 0
        for name in for_reading:
            end = raw.index(b"\n", at)
            start, length = end + 1, int(raw[at:end])
            yield name, raw[start : start + length]
            at = start + length + 1

    def _git(self, *words: str, given: Iterable[str] = ()) -> bytes:
        """Run one reading git command in the clone; BadClone when it fails."""
        stdin = "".join(f"{name}\n" for name in given).encode("utf-8", "surrogateescape")
        environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
        try:
            done = subprocess.run(  # noqa: S603 (plumbing with a fixed form)
                ["git", "--no-pager", *_SAFE, "-C", str(self.folder), *words],  # noqa: S607
                input=stdin,
                env=environment,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except FileNotFoundError:
            raise BadClone("there is no program `git` here. Install it.") from None
        except subprocess.TimeoutExpired:
            raise BadClone(f"git {words[0]} took more than {PATIENCE} s") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise BadClone(f"{self.folder} cannot be read as a git clone: {said}")
        return done.stdout


def _commit(sha: str, raw: bytes) -> Commit:
    head, _, message = raw.decode("utf-8", "replace").partition("\n\n")
    lines = head.split("\n")
    parents = tuple(line[7:] for line in lines if line.startswith("parent "))
    return Commit(sha, parents, message)
