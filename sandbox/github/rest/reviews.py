"""Reviews of pull requests."""

from sandbox.github.actions import reviews
from sandbox.github.refusal import Refused, not_found
from sandbox.github.views.pulls import review as shown

from .call import Call, R, Reply, route

REVIEWS = f"{R}/pulls/{{pull_number}}/reviews"
READ, WRITE = "pull_requests:read", "pull_requests:write"


@route("POST", REVIEWS, WRITE)
def create(call: Call) -> Reply:
    """Submit a review; GitHub answers 200, not 201."""
    event = call.body.get("event")
    if event is None:
        raise Refused(422, "The sandbox keeps no pending reviews: send an event.")
    made = reviews.submit(
        call.world, call.repo, call.caller, call.number("pull_number"), event,
        call.body.get("body", ""), call.body.get("commit_id"),
    )  # fmt: skip
    return Reply(shown(call.world, call.repo, made))


@route("GET", REVIEWS, READ)
def list_reviews(call: Call) -> Reply:
    """List the reviews, oldest first."""
    number = call.number("pull_number")
    call.world.pull(call.repo, number)
    found = [review for review in call.repo.reviews.values() if review.number == number]
    return Reply([shown(call.world, call.repo, review) for review in call.page(found)])


@route("GET", f"{REVIEWS}/{{review_id}}", READ)
def get(call: Call) -> Reply:
    """Show a review."""
    found = reviews.find(call.repo, call.number("pull_number"), call.number("review_id"))
    return Reply(shown(call.world, call.repo, found))


@route("PUT", f"{REVIEWS}/{{review_id}}/dismissals", WRITE)
def dismiss(call: Call) -> Reply:
    """Dismiss a review."""
    number = call.number("pull_number")
    if number not in call.repo.pulls:
        raise not_found()
    found = reviews.find(call.repo, number, call.number("review_id"))
    review = reviews.dismiss(call.world, call.repo, call.caller, found, call.body["message"])
    return Reply(shown(call.world, call.repo, review))
