"""A ledger as it was read from git: files, commits and changes as values. Nothing is trusted."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_SPOT = re.compile(
    r"proposals/([0-9]{4}/[0-9]{2})/(p_[0-9a-z]{1,40})/(?:(plan|start)|(end)(?:-([2-9]|[1-9][0-9]{1,3}))?)\.json"
)
PLAIN = "100644"


@dataclass(frozen=True, slots=True)
class Spot:
    """Which proposal's which file a path names, and the month of its folder (`2026/11`).

    `part` counts the statements of one kind: 1 for `end.json`, 2 for `end-2.json`.
    """

    month: str
    proposal: str
    kind: str
    part: int = 1


@dataclass(frozen=True, slots=True)
class File:
    """One file at the tip; `commit` brought it, `data` is None when it is larger than we write."""

    path: str
    data: bytes | None
    commit: str = ""
    mode: str = PLAIN

    @property
    def spot(self) -> Spot | None:
        """What its path says it is; None: nothing that Placet writes."""
        found = _SPOT.fullmatch(self.path)
        return Spot(found[1], found[2], found[3] or found[4], int(found[5] or 1)) if found else None


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit did to one file: git's status letter (A added, M changed, D deleted)."""

    commit: str
    status: str
    path: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the ledger's own line (each one's first parent), newest first."""

    sha: str
    parents: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole branch; `reachable` holds every commit in its history, merged ones too.

    `look` reads another object of the clone, by `SHA` or `SHA:PATH`; None when it is not there.
    """

    tip: str
    files: tuple[File, ...]
    changes: tuple[Change, ...] = ()
    commits: tuple[Commit, ...] = ()
    reachable: frozenset[str] = frozenset()
    look: Callable[[str], bytes | None] = lambda _: None
