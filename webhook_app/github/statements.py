"""Statements on the ledger branch: written once, never over another one, proven by their bytes."""

from dataclasses import dataclass

from proposals.plan import Proposal
from proposals.ports import Fence, ForgeError, Lost, Refused, Unavailable

from .answer import NotSent
from .files import EXISTS, blob_sha, create, read
from .ledger import BRANCH, Ledger
from .repository import NOT_FOUND, Repository
from .shapes import Written

RULES = "rule violations"
PAUSE = 2.0
"""Seconds before a write without an answer is looked for a second time."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One file that has to stand on the ledger with exactly these bytes."""

    repo: Repository
    ledger: Ledger
    path: str
    data: bytes
    message: str

    async def fence(self) -> Fence:
        """Create it and say whose it is; only OURS lets a tool run. Never raises ForgeError."""
        async with self.ledger.line(self.repo):
            try:
                written = await self._create()
            except (Unavailable, NotSent):
                return Fence.ABSENT
            except Refused as refused:
                found = await self._whose(absent=Fence.ABSENT)
                if found is Fence.ABSENT:
                    await self._barred(refused)
                return found
            except Lost:
                return await self._look_twice()
            if written.content.sha != blob_sha(self.data):
                return Fence.FOREIGN
            return await self._followed(written)

    async def _followed(self, written: Written) -> Fence:
        """Whose the ledger is below our statement; what GitHub does not say is not proven."""
        try:
            intact = await self.ledger.follow(self.repo, written.commit)
        except ForgeError:
            return Fence.UNPROVEN
        return Fence.OURS if intact else Fence.TAMPERED

    async def _barred(self, refused: Refused) -> Refused:
        """What a refused write means, told to the operator."""
        if refused.status == NOT_FOUND:
            try:
                there = await self.repo.branch(BRANCH)
            except ForgeError:
                return refused
            return refused if there else self.ledger.gone(self.repo)
        if RULES in str(refused):
            refused = Refused(str(refused), refused.status, "ledger_not_writable")
        self.ledger.memory.trouble(self.repo.id, refused)
        return refused

    async def whose(self) -> Fence:
        """Look whose statement stands there, if any; ForgeError when that cannot be read."""
        there = await read(self.repo, self.path, BRANCH)
        if there is None:
            return Fence.ABSENT
        return Fence.OURS if there.same(self.data) else Fence.FOREIGN

    async def stand(self) -> bool:
        """Create it or find the same bytes there; Refused when there are others.

        Whether it was made just now: otherwise an earlier try may have gone further.
        """
        async with self.ledger.line(self.repo):
            try:
                await self._followed(await self._create())
            except (Refused, Lost) as trouble:
                if isinstance(trouble, Refused) and trouble.status not in EXISTS:
                    raise await self._barred(trouble) from None
                there = await read(self.repo, self.path, BRANCH)
                if there is None and isinstance(trouble, Refused):
                    raise await self._barred(trouble) from None
                if there is None:
                    raise
                if not there.same(self.data):
                    raise Refused(
                        f"{self.path} on {BRANCH} is not what was written", 409, "not_ours"
                    ) from None
                return False
        return True

    async def _create(self) -> Written:
        return await create(self.repo, BRANCH, self.path, self.data, self.message, urgent=True)

    async def _whose(self, absent: Fence) -> Fence:
        try:
            found = await self.whose()
        except ForgeError:
            return Fence.UNPROVEN
        return absent if found is Fence.ABSENT else found

    async def _look_twice(self) -> Fence:
        """A write without an answer may still arrive: its absence proves nothing."""
        first = await self._whose(absent=Fence.UNPROVEN)
        if first is not Fence.UNPROVEN:
            return first
        await self.repo.client.sleep(PAUSE)
        return await self._whose(absent=Fence.UNPROVEN)


def start_of(
    repo: Repository, ledger: Ledger, proposal: Proposal, path: str, data: bytes
) -> Statement:
    """The statement that fences off a second start."""
    return Statement(repo, ledger, path, data, f"Start {proposal.id}")


def plan_of(
    repo: Repository, ledger: Ledger, proposal: Proposal, path: str, data: bytes
) -> Statement:
    """The plan of a proposal that has no branch of its own."""
    return Statement(repo, ledger, path, data, f"Plan of {proposal.id}")


def end_of(
    repo: Repository, ledger: Ledger, proposal: Proposal, path: str, data: bytes
) -> Statement:
    """The receipt."""
    return Statement(repo, ledger, path, data, f"End {proposal.id}")
