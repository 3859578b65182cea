"""What is found on GitHub of an earlier or another store; nobody vouches for it yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .plan import Place, Target


class LedgerFile(NamedTuple):
    """A file of a ledger as GitHub has it; nobody vouches for it yet."""

    path: str
    data: bytes


Knows: TypeAlias = Callable[[str], bool]
"""Whether the store has a proposal, by its id."""
Aims: TypeAlias = Callable[[LedgerFile], Target | None]
"""Which page of somebody's a plan says that it is for, if a key of ours signed it."""


@dataclass(frozen=True, slots=True)
class Stray:
    """An open page of ours whose proposal the store does not know; `files` lie in its folder.

    `place` is None where the files say all.
    """

    id: str
    place: Place | None
    plan: LedgerFile
    files: tuple[LedgerFile, ...]
