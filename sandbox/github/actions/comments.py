"""Comments and reactions: everybody with write access can edit everybody's comment."""

from typing import Any

from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.model import Account, Comment, Reaction, Repository
from sandbox.github.refusal import custom, not_found
from sandbox.github.views import pulls
from sandbox.github.webhooks import emit

from .pulls import checked_body


def _text(body: str) -> str:
    if not body.strip():
        raise custom("IssueComment", "body can't be blank")
    return checked_body("IssueComment", body) or ""


def create(world: Core, repo: Repository, by: Caller, number: int, body: str) -> Comment:
    """Comment on a pull request; every reader may."""
    who, pull = by.allow(world, repo, "read"), world.pull(repo, number)
    now = world.clock.now()
    made = Comment(
        id=world.new_id("comment"), number=pull.number, author_id=who.id, body=_text(body),
        created_at=now, updated_at=now, app_id=by.app.id if by.app else None,
    )  # fmt: skip
    repo.comments[made.id] = made
    pull.updated_at = now
    _tell(world, repo, made, who, "created")
    return made


def find(repo: Repository, comment_id: int) -> Comment:
    """Find a comment."""
    if comment_id not in repo.comments:
        raise not_found()
    return repo.comments[comment_id]


def _may_change(world: Core, repo: Repository, by: Caller, comment: Comment) -> Account:
    mine = by.kind == "user" and by.who().id == comment.author_id
    return by.allow(world, repo, "read" if mine else "write")


def edit(world: Core, repo: Repository, by: Caller, comment: Comment, body: str) -> Comment:
    """Change a comment: its author may, and everybody with write access."""
    who = _may_change(world, repo, by, comment)
    before, comment.body = comment.body, _text(body)
    comment.updated_at = world.clock.now()
    _tell(world, repo, comment, who, "edited", changes={"body": {"from": before}})
    return comment


def delete(world: Core, repo: Repository, by: Caller, comment: Comment) -> None:
    """Delete a comment: its author may, and everybody with write access."""
    who = _may_change(world, repo, by, comment)
    del repo.comments[comment.id]
    _tell(world, repo, comment, who, "deleted")


def react(
    world: Core, repo: Repository, by: Caller, content: str, number: int,
    comment_id: int | None = None,
) -> tuple[Reaction, bool]:  # fmt: skip
    """React once with each emoji; say whether the reaction is new."""
    who = by.allow(world, repo, "read")
    for found in repo.reactions.values():
        if (found.author_id, found.content, found.number, found.comment_id) == (
            who.id, content, number, comment_id,
        ):  # fmt: skip
            return found, False
    made = Reaction(
        world.new_id("reaction"), who.id, content, world.clock.now(), number, comment_id
    )
    repo.reactions[made.id] = made
    return made, True


def _tell(
    world: Core, repo: Repository, comment: Comment, who: Account, action: str, **members: Any
) -> None:
    issue = pulls.issue(world, repo, repo.pulls[comment.number])
    shown = pulls.comment(world, repo, comment)
    emit(world, repo, who, "issue_comment", action, comment=shown, issue=issue, **members)
