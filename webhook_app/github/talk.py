"""Comments of ours, each said once: an invisible last line names the fact it answers."""

import hashlib
import re
from datetime import UTC, datetime

from proposals.plan import Proposal

from .repository import Repository
from .shapes import Comment
from .standing import lines

OUTCOME = "outcome"
_PLAIN = re.compile(r"[A-Za-z0-9]+([:._-][A-Za-z0-9]+)*")

_MARKED = re.compile(r"\n<!-- placet:([A-Za-z0-9_-]+):([A-Za-z0-9:._-]+) -->\Z")


def marker(proposal: str, key: str) -> str:
    """The invisible line; a key with anything unusual in it stands there as its digest."""
    plain = _PLAIN.fullmatch(key) and len(key) <= 100  # noqa: PLR2004
    name = key if plain else hashlib.sha256(key.encode(errors="replace")).hexdigest()
    return f"<!-- placet:{proposal}:{name} -->"


def marked(body: str) -> tuple[str, str] | None:
    """Which proposal and fact a comment of ours is about, by its invisible line."""
    found = _MARKED.search(lines(body))
    return (found[1], found[2]) if found else None


def comment_of(proposal: Proposal, key: str, text: str) -> str:
    """The whole comment that says this of a fact."""
    return f"{text}\n\n{marker(proposal.id, key)}"


async def say(repo: Repository, proposal: Proposal, key: str, text: str) -> Comment:
    """Write the comment; raises ForgeError."""
    body = {"body": comment_of(proposal, key, text)}
    reply = await repo.ask("POST", "issues", proposal.at.number, "comments", body=body)
    return reply.read(Comment)


async def said(repo: Repository, proposal: Proposal, key: str, by: int) -> bool:
    """Whether our own account (`by`) wrote it already; raises ForgeError."""
    return await find_said(repo, proposal, key, by) is not None


async def find_said(repo: Repository, proposal: Proposal, key: str, by: int) -> Comment | None:
    """The comment that our own account (`by`) wrote about a fact, if any; raises ForgeError."""
    return await find_marked(repo, proposal.at.number, marker(proposal.id, key), by)


async def find_marked(repo: Repository, number: int, last: str, by: int) -> Comment | None:
    """The comment of our own account (`by`) that ends with this line; raises ForgeError."""
    comments: list[Comment] = await repo.every(Comment, "issues", number, "comments")
    ours = (
        c
        for c in comments
        if c.user is not None and c.user.id == by and lines(c.body).endswith("\n" + last)
    )
    return next(ours, None)


async def reword(repo: Repository, comment: int, text: str) -> datetime:
    """Put our words back into a comment of ours; GitHub's date of it. Raises ForgeError."""
    reply = await repo.ask("PATCH", "issues", "comments", comment, body={"body": text})
    found = reply.read(Comment)
    dates = [d.astimezone(UTC) for d in (found.updated_at, reply.date) if d]
    return max(dates, default=repo.client.now())


async def react(repo: Repository, comment: int) -> None:
    """Put the eyes under somebody's comment; raises ForgeError."""
    await repo.ask("POST", "issues", "comments", comment, "reactions", body={"content": "eyes"})
