"""The end of a page: merged at the pinned head, or closed."""

from datetime import UTC, datetime

from proposals.plan import Proposal
from proposals.ports import Lost, Refused, Unavailable

from .ledger import Ledger
from .repository import Repository
from .shapes import Merged, Pull
from .view import Render

_MAY_BE_MERGED = frozenset({405, 409})
_BUSY = "Base branch was modified"
"""GitHub's 405 while it has not yet caught up with another commit on the ledger: it passes."""


async def as_approved(repo: Repository, proposal: Proposal) -> Pull:
    """The page right before a merge, which would bring exactly the plan to the ledger.

    GitHub's merge takes the head that we mean but not the base, and no delivery needs to have told
    that somebody aimed the page elsewhere. Such a page is closed: Refused, a finding, says why.
    """
    pull, _ = await repo.pull(proposal.at.number)
    if pull.merged:
        return pull
    if pull.base.ref != proposal.at.base:
        why = f"it was aimed at {pull.base.ref!r}"
    elif pull.head.sha != proposal.at.head:
        why = "its branch moved"
    else:
        return pull
    await close(repo, proposal.at.number)
    raise Refused(f"{why} after the start, so it was closed unmerged", 409)


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


async def restored(repo: Repository, render: Render, proposal: Proposal) -> datetime:
    """Put our title and text back on our own page; GitHub's date of it. Raises ForgeError."""
    body = {"title": render.title(proposal), "body": render.body(proposal)}
    reply = await repo.ask("PATCH", "pulls", proposal.at.number, body=body)
    pull = reply.read(Pull)
    return max(pull.updated_at.astimezone(UTC), reply.date or pull.updated_at)
