"""Comments of ours, each said once: an invisible last line names the fact it answers."""

import hashlib
import re

from proposals.plan import Proposal

from .repository import Repository
from .shapes import Comment
from .standing import lines

_PLAIN = re.compile(r"[A-Za-z0-9]+([:._-][A-Za-z0-9]+)*")


def marker(proposal: str, key: str) -> str:
    """The invisible line; a key with anything unusual in it stands there as its digest."""
    plain = _PLAIN.fullmatch(key) and len(key) <= 100  # noqa: PLR2004
    name = key if plain else hashlib.sha256(key.encode(errors="replace")).hexdigest()
    return f"<!-- placet:{proposal}:{name} -->"


async def say(repo: Repository, proposal: Proposal, key: str, text: str) -> Comment:
    """Write the comment; raises ForgeError."""
    body = {"body": f"{text}\n\n{marker(proposal.id, key)}"}
    reply = await repo.ask("POST", "issues", proposal.at.number, "comments", body=body)
    return reply.read(Comment)


async def said(repo: Repository, proposal: Proposal, key: str, by: int) -> bool:
    """Whether our own account (`by`) wrote it already; raises ForgeError."""
    comments: list[Comment] = await repo.every(Comment, "issues", proposal.at.number, "comments")
    last = marker(proposal.id, key)
    return any(
        c.user is not None and c.user.id == by and lines(c.body).endswith("\n" + last)
        for c in comments
    )
