"""The end of a page: merged at the pinned head, or closed."""

from proposals.plan import Proposal
from proposals.ports import Lost, Refused, Unavailable

from .ledger import Ledger
from .repository import Repository
from .shapes import Merged

_MAY_BE_MERGED = frozenset({405, 409})
_BUSY = "Base branch was modified"
"""GitHub's 405 while it has not yet caught up with another commit on the ledger: it passes."""


async def aimed_at_ledger(repo: Repository, proposal: Proposal) -> None:
    """See to it that a merge would go to the ledger; Refused, a finding, when it would not.

    GitHub's merge takes the head that we mean but not the base: a page that was aimed elsewhere
    after the start would bring the plan there.
    """
    pull, _ = await repo.pull(proposal.at.number)
    if pull.base.ref != proposal.at.base and not pull.merged:
        raise Refused(f"the pull request now aims at {pull.base.ref!r}; it is not merged", 409)


async def merge(
    repo: Repository, ledger: Ledger, proposal: Proposal, message: tuple[str, str]
) -> None:
    """Merge at exactly the pinned head; fine when it is merged already, Refused when it can't be.

    The merge records what was done and starts nothing: a refused one is a finding for people.
    """
    place, (title, text) = proposal.at, message
    body = {
        "sha": place.head,
        "merge_method": "merge",
        "commit_title": title,
        "commit_message": text,
    }
    async with ledger.line(repo):
        try:
            reply = await repo.ask("PUT", "pulls", place.number, "merge", body=body, urgent=True)
            ledger.moved(repo, reply.read(Merged).sha)
        except (Refused, Lost) as trouble:
            if isinstance(trouble, Refused) and trouble.status not in _MAY_BE_MERGED:
                raise
            ledger.forget(repo)
            pull, _ = await repo.pull(place.number)
            if pull.merged:
                return
            if _BUSY in str(trouble):
                raise Unavailable(str(trouble)) from None
            raise


async def close(repo: Repository, number: int) -> None:
    """Close it unmerged; closing twice is closing once. Raises ForgeError."""
    try:
        await repo.ask("PATCH", "pulls", number, body={"state": "closed"})
    except (Refused, Lost):
        pull, _ = await repo.pull(number)
        if pull.state == "open":
            raise
