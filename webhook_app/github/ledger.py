"""The ledger branch: an orphan made on first use, its tip known from the last answer."""

import asyncio
from collections import defaultdict

from proposals.ports import Lost, Refused, Unavailable

from .files import EXISTS
from .repository import Repository
from .shapes import Object

BRANCH = "placet/ledger"
README = """\
# Placet's ledger

What was proposed, approved and done through Placet in this repository: one folder for each
proposal, with the plan, the signed statement made before it started and the one made after it
ended. Files are only ever added. Do not delete this branch or rewrite its history: Placet
relies on it to do nothing twice.
"""


class Ledger:
    """The ledger branches of all repositories; one write to each at a time."""

    def __init__(self) -> None:
        self._tips: dict[int, str] = {}
        self._locks = defaultdict[int, asyncio.Lock](asyncio.Lock)

    def line(self, repo: Repository) -> asyncio.Lock:
        """Hold this while writing to the ledger branch."""
        return self._locks[repo.id]

    def moved(self, repo: Repository, tip: str) -> None:
        """Remember the commit that a write made the tip."""
        self._tips[repo.id] = tip

    def forget(self, repo: Repository) -> None:
        """Read the tip again before its next use."""
        self._tips.pop(repo.id, None)

    async def tip(self, repo: Repository) -> str:
        """A commit of the ledger branch, the newest that is known; makes the branch once."""
        async with self.line(repo):
            if repo.id not in self._tips:
                self._tips[repo.id] = await repo.branch(BRANCH) or await _make(repo)
            return self._tips[repo.id]


async def _make(repo: Repository) -> str:
    """An orphan root: no workflow that listens to pushes of the code runs on it."""
    file = {"path": "README.md", "mode": "100644", "type": "blob", "content": README}
    tree = await _loose(repo, "trees", {"tree": [file]})
    commit = await _loose(
        repo, "commits", {"message": "Begin Placet's ledger", "tree": tree, "parents": []}
    )
    try:
        body = {"ref": f"refs/heads/{BRANCH}", "sha": commit}
        await repo.ask("POST", "git", "refs", body=body)
    except (Refused, Lost) as trouble:
        found = await repo.branch(BRANCH) if _may_exist(trouble) else None
        if found is None:
            raise
        return found
    return commit


def _may_exist(trouble: Refused | Lost) -> bool:
    return isinstance(trouble, Lost) or trouble.status in EXISTS


async def _loose(repo: Repository, kind: str, body: dict[str, object]) -> str:
    """A git object that no branch shows yet, so that making it twice changes nothing."""
    try:
        reply = await repo.ask("POST", "git", kind, body=body)
        return reply.read(Object).sha
    except Lost as lost:
        raise Unavailable(str(lost)) from None
