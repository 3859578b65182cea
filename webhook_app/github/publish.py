"""Opening a proposal's pull request: each step makes its thing or finds what an earlier try left.

Twins cannot come about: branch, file and pull request exist once by GitHub's own rules, the check
run is looked for by its `external_id` as soon as anything else was found.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC

from proposals.plan import Place, Proposal
from proposals.ports import Lost, Refused

from .answer import NotSent
from .check import CHECK, check_body, find_check
from .files import EXISTS, create, read
from .ledger import BRANCH, Ledger
from .repository import NOT_FOUND, Repository
from .shapes import CheckRun, Compared, Pull
from .view import Render

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True)
class Opening:
    """One proposal on its way to its page; `found`: an earlier try has been here."""

    repo: Repository
    ledger: Ledger
    render: Render
    proposal: Proposal
    branch: str = field(init=False)
    found: bool = False

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.proposal.id):
            raise Refused(f"{self.proposal.id[:80]!r} is no id of a proposal", 400)
        self.branch = f"placet/p/{self.proposal.id}"

    async def run(self, plan_file: bytes) -> tuple[Place, Pull]:
        """Open it, or find it opened; raises ForgeError, and may then simply be run again."""
        base = await self._make_branch()
        head = await self._write_plan(base, plan_file)
        pull = await self._open_pull(head)
        opened = pull.created_at.astimezone(UTC)
        place = Place(self.branch, BRANCH, head, pull.number, pull.html_url, 0, opened)
        run = await self._make_check(replace(self.proposal, place=place))
        return replace(place, check_run=run.id), pull

    async def _make_branch(self) -> str:
        tip = await self.ledger.tip(self.repo)
        try:
            body = {"ref": f"refs/heads/{self.branch}", "sha": tip}
            await self.repo.ask("POST", "git", "refs", body=body)
        except (Refused, Lost) as trouble:
            _raise_unless_exists(trouble)
            self.found = True
            there = await self.repo.branch(self.branch)
            if there is None:
                self.ledger.forget(self.repo)
                raise
            return there
        return tip

    async def _write_plan(self, base: str, data: bytes) -> str:
        """The head with the plan; what was not made here in one go is looked at from all sides."""
        path = self.render.plan_path(self.proposal)
        try:
            made = await create(self.repo, self.branch, path, data, f"Plan of {self.proposal.id}")
        except (Refused, Lost) as trouble:
            _raise_unless_exists(trouble)
            self.found = True
            head = await self.repo.branch(self.branch)
            there = await read(self.repo, path, head) if head else None
            if head is None or there is None:
                raise
            if not there.same(data):
                raise self._tampered("holds another plan") from None
        else:
            head = made.commit.sha
            if [parent.sha for parent in made.commit.parents] != [base]:
                raise self._tampered("was pushed to by somebody else")
        if self.found:
            await self._verify(head, path)
        return head

    async def _verify(self, head: str, path: str) -> None:
        """The head must be one commit above the ledger that adds the plan and nothing else."""
        tip = await self.ledger.tip(self.repo)
        try:
            reply = await self.repo.ask("GET", "compare", f"{tip}...{head}")
        except Refused as refused:
            if refused.status == NOT_FOUND:  # no history in common
                raise self._tampered("does not come from the ledger") from None
            raise
        compared = reply.read(Compared)
        files = [(file.filename, file.status) for file in compared.files]
        if compared.ahead_by != 1 or files != [(path, "added")]:
            raise self._tampered("holds more than its plan")

    def _tampered(self, how: str) -> Refused:
        return Refused(f"The branch {self.branch} {how}; this proposal cannot be opened", 409)

    async def _open_pull(self, head: str) -> Pull:
        pull = await self._find_pull() if self.found else None
        if pull is None:
            pull = await self._post_pull()
        self.repo.check(pull)
        if pull.head.sha != head or pull.base.ref != BRANCH:
            raise self._tampered("was moved while it was opened")
        return pull

    async def _post_pull(self) -> Pull:
        body = {
            "title": self.render.title(self.proposal),
            "body": self.render.body(self.proposal),
            "head": self.branch,
            "base": BRANCH,
        }
        try:
            return (await self.repo.ask("POST", "pulls", body=body)).read(Pull)
        except (Refused, Lost) as trouble:
            _raise_unless_exists(trouble)
            self.found = True
            there = await self._find_pull()
            if there is None:
                raise
            return there

    async def _find_pull(self) -> Pull | None:
        head = f"{self.repo.owner}:{self.branch}"
        pulls: list[Pull] = await self.repo.every(Pull, "pulls", head=head, state="all")
        ours = [
            pull
            for pull in pulls
            if pull.head.ref == self.branch and pull.head.repo and pull.head.repo.id == self.repo.id
        ]
        return min(ours, key=lambda pull: pull.number, default=None)

    async def _make_check(self, placed: Proposal) -> CheckRun:
        head = placed.at.head
        run = await find_check(self.repo, head, placed.id) if self.found else None
        if run:
            return run
        view = self.render.check(placed, None, self.repo.client.now())
        body = {
            "name": CHECK,
            "head_sha": head,
            "external_id": placed.id,
            **check_body(view),
        }
        try:
            return (await self.repo.ask("POST", "check-runs", body=body)).read(CheckRun)
        except Lost:
            run = await find_check(self.repo, head, placed.id)
            if run is None:
                raise
            return run


def _raise_unless_exists(trouble: Refused | Lost) -> None:
    """Go on only where the thing may exist: GitHub said so, or its answer was lost."""
    unsent = isinstance(trouble, NotSent)
    if unsent or (isinstance(trouble, Refused) and trouble.status not in EXISTS):
        raise trouble
