"""What a lost or older store does not know: statements that others added to a ledger.

Only reads; whether what is found is ours is for its signature to say.
"""

from proposals.found import LedgerFile

from .files import read
from .ledger import BRANCH, SAID, STATEMENT, Ledger
from .pages import pages
from .repository import Repository
from .shapes import Told

MOST = 100
"""Statements that are read one by one at most."""


async def added(repo: Repository, ledger: Ledger) -> list[LedgerFile]:
    """The statements that stand on the ledger since its last known commit and are not ours.

    Raises ForgeError; Refused when they are too many for a store that knew the ledger before.
    """
    known = ledger.memory.tip(repo.id) is not None
    paths = await ledger.others(repo) if known else await _walked(repo, ledger)
    found = []
    for path in paths:
        there = await read(repo, path, BRANCH)
        if there and there.data:
            found.append(LedgerFile(path, there.data))
    return found


async def _walked(repo: Repository, ledger: Ledger) -> list[str]:
    """The paths of the newest statements down to one of ours, for a store that knows no commit.

    None when they are too many: what was only open is found by its page, and all else comes back
    with `placet restore`.
    """
    tip, ours = await repo.branch(BRANCH), ledger.memory.wrote(repo.id)
    found: list[str] = []
    query = {"sha": tip or ""}
    if tip is None:
        return found
    async for page in pages(lambda step: repo.ask("GET", "commits", query=step), query):
        for commit in page.read(list[Told]):
            if not SAID.match(commit.commit.message):
                continue
            if len(found) >= MOST:
                return []
            told = (await repo.ask("GET", "commits", commit.sha)).read(Told)
            files = [f for f in told.files if STATEMENT.fullmatch(f.filename)]
            if any(("/".join(f.filename.split("/")[-2:]), f.sha or "") in ours for f in files):
                return found
            found += [f.filename for f in files]
    return found
