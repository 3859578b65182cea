"""Pages of ours without a proposal: an earlier store opened them, and this one knows nothing of it.

Only reads; whether what is found is ours is for its signature to say.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from proposals.found import Aims, Knows, LedgerFile, Stray
from proposals.plan import Place, Target
from proposals.ports import Refused

from .check import find_check
from .files import read
from .ledger import BRANCH
from .pages import pages
from .places import Places
from .repository import Repository
from .shapes import Pull, Told
from .talk import find_marked, marker
from .tied import ANNOUNCEMENT

_OURS = re.compile(r"placet/p/(p_[0-9a-z]{1,40})")
_PLAN = re.compile(r"Plan of (p_[0-9a-z]{1,40})(?![0-9a-z])")
_KINDS = ("start", "end", *(f"end-{n}" for n in range(2, 10)))
COMMITS = 1000
"""How far back a ledger is searched for plans: what still waits is young."""
MOST = 100
"""Plans that are read one by one at most."""


@dataclass(frozen=True, slots=True)
class Strays:
    """What is open on a repository's ledger and not `known`; `us` gives our account's id."""

    repo: Repository
    places: Places
    us: Callable[[], Awaitable[int]]
    known: Knows

    async def found(self, aims: Aims) -> list[Stray]:
        """Open pages of our own, and plans shown on somebody's page; raises ForgeError.

        `aims` reads from a plan's signature which page that is.
        """
        tip = await self.repo.branch(BRANCH)
        return [*await self._open_pages(), *await self._tied(tip, aims)] if tip else []

    async def _open_pages(self) -> list[Stray]:
        us = await self.us()
        pulls: list[Pull] = await self.repo.every(Pull, "pulls", base=BRANCH, state="open")
        found = []
        for pull in pulls:
            named = _OURS.fullmatch(pull.head.ref)
            here = pull.head.repo is not None and pull.head.repo.id == self.repo.id
            ours = pull.user is not None and pull.user.id == us
            if named and here and ours and not self.known(named[1]):
                found += [stray for stray in [await self._page(named[1], pull)] if stray]
        return found

    async def _tied(self, tip: str, aims: Aims) -> list[Stray]:
        found, looked = [], 0
        async for id_, sha in self._plans(tip):
            if looked >= MOST:
                break
            looked += 1
            found += [stray for stray in [await self._named(id_, sha, aims)] if stray]
        return found

    async def _plans(self, tip: str) -> AsyncIterator[tuple[str, str]]:
        """The unknown proposals whose plan lies on the ledger itself, and its commit."""
        seen, query = 0, {"sha": tip}
        async for page in pages(lambda step: self.repo.ask("GET", "commits", query=step), query):
            commits = page.read(list[Told])
            for commit in commits:
                named = _PLAN.match(commit.commit.message)
                if named and not self.known(named[1]):
                    yield named[1], commit.sha
            seen += len(commits)
            if seen >= COMMITS:
                break

    async def _named(self, id_: str, sha: str, aims: Aims) -> Stray | None:
        plan = await self._plan(id_, sha, BRANCH)
        if plan is None:
            return None
        if files := await self._statements(plan.path):
            return Stray(id_, None, plan, files)
        target = aims(plan)
        place = await self._place(id_, target) if target else None
        return Stray(id_, place, plan, ()) if place else None

    async def _place(self, id_: str, target: Target) -> Place | None:
        """Where it is shown; None when nothing of ours is there, or nobody gets there any more."""
        try:
            there = await self.places.of(target.repository)
            run = await find_check(there, target.head, id_, None)
            if run is None:
                return None
            base, url, said = "", run.html_url or "", None
            if target.number:
                pull, _ = await there.pull(target.number)
                ours = await self.us()
                said = await find_marked(there, target.number, marker(id_, ANNOUNCEMENT), ours)
                base, url = pull.base.ref, pull.html_url
        except Refused:
            return None
        opened = (said.created_at if said else run.started_at) or self.repo.client.now()
        home = f"{self.repo.owner}/{self.repo.name}"
        return Place(
            "", base, target.head, target.number, url, run.id, _utc(opened),
            said.id if said else None, home,
        )  # fmt: skip

    async def _page(self, id_: str, pull: Pull) -> Stray | None:
        """One page with its plan and statements; None when no plan of ours is on its branch."""
        plan = await self._plan(id_, pull.head.sha, pull.head.sha)
        run = await find_check(self.repo, pull.head.sha, id_)
        if plan is None or run is None:
            return None
        files = await self._statements(plan.path)
        opened, head = _utc(pull.created_at), pull.head.sha
        place = Place(pull.head.ref, BRANCH, head, pull.number, pull.html_url, run.id, opened)
        return Stray(id_, place, plan, files)

    async def _plan(self, id_: str, sha: str, ref: str) -> LedgerFile | None:
        """The plan that a commit added, as it stands at `ref`."""
        told = (await self.repo.ask("GET", "commits", sha)).read(Told)
        ends = f"/{id_}/plan.json"
        path = next((f.filename for f in told.files if f.filename.endswith(ends)), None)
        there = await read(self.repo, path, ref) if path else None
        return LedgerFile(path, there.data) if path and there and there.data else None

    async def _statements(self, plan: str) -> tuple[LedgerFile, ...]:
        """The statements in a plan's folder."""
        files = []
        for kind in _KINDS:
            where = f"{plan.removesuffix('plan.json')}{kind}.json"
            there = await read(self.repo, where, BRANCH)
            if there and there.data:
                files.append(LedgerFile(where, there.data))
            elif kind != "start":
                break
        return tuple(files)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
