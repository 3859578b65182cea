"""What a lost or older store does not know: statements that others added, pages without a proposal.

Only reads; whether what is found is ours is for its signature to say.
"""

import re
from collections.abc import Callable
from datetime import UTC

from proposals.found import LedgerFile, Stray
from proposals.plan import Place

from .check import find_check
from .files import read
from .ledger import BRANCH, SAID, STATEMENT, Ledger
from .pages import pages
from .repository import Repository
from .shapes import Pull, Told

_OURS = re.compile(r"placet/p/(p_[0-9a-z]{1,40})")
MOST = 100
"""Statements that are read one by one at most."""
_KINDS = ("start", "end", *(f"end-{n}" for n in range(2, 10)))


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


async def strays(repo: Repository, us: int, known: Callable[[str], bool]) -> list[Stray]:
    """The open pull requests of ours on the ledger whose proposal is not known."""
    pulls: list[Pull] = await repo.every(Pull, "pulls", base=BRANCH, state="open")
    found = []
    for pull in pulls:
        named = _OURS.fullmatch(pull.head.ref)
        here = pull.head.repo is not None and pull.head.repo.id == repo.id
        ours = pull.user is not None and pull.user.id == us
        if named and here and ours and not known(named[1]):
            found += [stray for stray in [await _stray(repo, named[1], pull)] if stray]
    return found


async def _stray(repo: Repository, id_: str, pull: Pull) -> Stray | None:
    """One page with its plan and statements; None when no plan of ours is on its branch."""
    told = (await repo.ask("GET", "commits", pull.head.sha)).read(Told)
    ends = f"/{id_}/plan.json"
    path = next((f.filename for f in told.files if f.filename.endswith(ends)), None)
    plan = await read(repo, path, pull.head.sha) if path else None
    run = await find_check(repo, pull.head.sha, id_)
    if path is None or plan is None or plan.data is None or run is None:
        return None
    files = []
    for kind in _KINDS:
        where = f"{path.removesuffix('plan.json')}{kind}.json"
        there = await read(repo, where, BRANCH)
        if there and there.data:
            files.append(LedgerFile(where, there.data))
        elif kind != "start":
            break
    opened = pull.created_at.astimezone(UTC)
    head, number = pull.head.sha, pull.number
    place = Place(pull.head.ref, BRANCH, head, number, pull.html_url, run.id, opened)
    return Stray(id_, place, LedgerFile(path, plan.data), tuple(files))
