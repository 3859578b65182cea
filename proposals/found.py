"""What is found on GitHub of an earlier or another store; nobody vouches for it yet."""

from dataclasses import dataclass
from typing import NamedTuple

from .plan import Place


class LedgerFile(NamedTuple):
    """A file of a ledger as GitHub has it; nobody vouches for it yet."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Stray:
    """An open page of ours whose proposal the store does not know; `files` lie in its folder."""

    id: str
    place: Place
    plan: LedgerFile
    files: tuple[LedgerFile, ...]
