"""Reviews: any reader may submit one, nobody may approve his own pull request."""

from typing import Any

from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.git import GitError
from sandbox.github.model import Account, Repository, Review
from sandbox.github.refusal import Refused, not_found
from sandbox.github.schema import Known
from sandbox.github.views import pulls
from sandbox.github.webhooks import emit

from .pulls import checked_body

STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def submit(
    world: Core, repo: Repository, by: Caller, number: int, event: str, body: str = "",
    commit_id: str | None = None,
) -> Review:  # fmt: skip
    """Submit a review (APPROVE, REQUEST_CHANGES, COMMENT); `commit_id` defaults to the head.

    The client chooses the commit, an older one too: there is no head precondition.
    """
    who, pull = by.allow(world, repo, "read"), world.pull(repo, number)
    if who.id == pull.author_id and event != "COMMENT":
        words = {"APPROVE": "approve", "REQUEST_CHANGES": "request changes on"}[event]
        raise Refused(422, "Unprocessable Entity",
                      [f"Review Can not {words} your own pull request"])  # fmt: skip
    if event != "APPROVE" and not body:
        raise Refused(422, "Unprocessable Entity", ["Review Body can't be blank"])
    try:
        commit = str(repo.git.commit(commit_id or pull.head_sha).id)
    except GitError as missing:
        raise Refused(422, "Unprocessable Entity", ["Commit could not be found"]) from missing
    now = world.clock.now()
    review = Review(
        id=world.new_id("review"), number=number, author_id=who.id,
        body=checked_body("PullRequestReview", body) or "",
        state=STATES[event], commit_id=commit, submitted_at=now, updated_at=now,
    )  # fmt: skip
    repo.reviews[review.id] = review
    pull.reviewers = [number for number in pull.reviewers if number != who.id]
    _tell(world, repo, review, who, "submitted")
    return review


def find(repo: Repository, number: int, review_id: int) -> Review:
    """Find a review of a pull request."""
    found = repo.reviews.get(review_id)
    if not found or found.number != number:
        raise not_found()
    return found


def edit(world: Core, repo: Repository, by: Caller, review: Review, body: str) -> Review:
    """Change the words of a review; its state stays."""
    mine = by.kind == "user" and by.who().id == review.author_id
    who = by.allow(world, repo, "read" if mine else "write")
    before, review.body = review.body, body
    review.updated_at = world.clock.now()
    _tell(world, repo, review, who, "edited", changes={"body": {"from": before}})
    return review


def dismiss(world: Core, repo: Repository, by: Caller, review: Review, message: str) -> Review:
    """Dismiss an approval or a request for changes; takes write access and a reason."""
    who = by.allow(world, repo, "write")
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise Refused(422, f"Can not dismiss a {review.state.lower()} pull request review")
    if not message.strip():
        raise Refused(422, "Message can't be blank")
    review.state = "DISMISSED"
    review.updated_at = world.clock.now()
    _tell(world, repo, review, who, "dismissed")
    return review


def _tell(
    world: Core, repo: Repository, review: Review, who: Account, action: str, **members: Any
) -> None:
    pull = repo.pulls[review.number]
    shown = Known(pulls.review(world, repo, review), state=review.state.lower())
    whole = pulls.pull_request(world, repo, pull)
    emit(world, repo, who, "pull_request_review", action,
         review=shown, pull_request=whole, **members)  # fmt: skip
