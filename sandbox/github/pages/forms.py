"""What people do with the pages. Each form calls the same action as the REST route."""

from starlette.responses import Response

from sandbox.github.actions import checks, comments, merging, pulls, reviews
from sandbox.github.model import Pull, Repository
from sandbox.github.refusal import Refused, not_found

from . import pulls as pages
from .visit import Visit
from .visit import number as read_number


def _home(visit: Visit, repo: Repository, pull: Pull) -> str:
    return f"/{visit.world.full_name(repo)}/pull/{pull.number}"


async def sign_in(visit: Visit) -> Response:
    """Become one of the people; there are no passwords here."""
    account = visit.world.state.accounts.get(read_number(visit.form.get("user", "")))
    if account is None or account.type != "User":
        raise not_found()
    visit.session = visit.site.signer.signed_in(account.id)
    return visit.go("/")


async def sign_out(visit: Visit) -> Response:
    """Become nobody again."""
    visit.session = visit.site.signer.signed_in(None)
    return visit.go("/")


async def comment(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Comment on a pull request."""
    found, pull = visit.pull(owner, repo, number)
    body = visit.form.get("body", "")
    try:
        made = comments.create(visit.world, found, visit.caller, pull.number, body)
    except Refused as refused:
        return pages.talk(visit, found, pull, refused, "comment")
    return visit.go(f"{_home(visit, found, pull)}#issuecomment-{made.id}")


async def review(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Submit a review of the commit the page showed."""
    found, pull = visit.pull(owner, repo, number)
    event, body = visit.form.get("event", ""), visit.form.get("body", "")
    try:
        made = reviews.submit(
            visit.world,
            found,
            visit.caller,
            pull.number,
            event if event in reviews.STATES else "COMMENT",
            body,
            visit.form.get("commit_id") or None,
        )
    except Refused as refused:
        return pages.talk(visit, found, pull, refused, "review")
    return visit.go(f"{_home(visit, found, pull)}#pullrequestreview-{made.id}")


async def merge(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Merge at the head the page showed; a head that moved since is a refusal."""
    found, pull = visit.pull(owner, repo, number)
    sha = visit.form.get("sha") or None
    try:
        merging.merge(visit.world, found, visit.caller, pull.number, sha=sha)
    except Refused as refused:
        return pages.talk(visit, found, pull, refused)
    return visit.go(_home(visit, found, pull))


async def close(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Close a pull request without merging."""
    return _turned(visit, owner, repo, number, "closed")


async def reopen(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Open a closed pull request again."""
    return _turned(visit, owner, repo, number, "open")


def _turned(visit: Visit, owner: str, repo: str, number: str, state: str) -> Response:
    found, pull = visit.pull(owner, repo, number)
    body = visit.form.get("body", "")
    try:
        if body.strip():  # as on GitHub, what was typed is said first
            comments.create(visit.world, found, visit.caller, pull.number, body)
        pulls.edit_pull(visit.world, found, visit.caller, pull.number, {"state": state})
    except Refused as refused:
        return pages.talk(visit, found, pull, refused, "comment")
    return visit.go(_home(visit, found, pull))


async def edit(visit: Visit, owner: str, repo: str, number: str) -> Response:
    """Change the title and the description of a pull request."""
    found, pull = visit.pull(owner, repo, number)
    wanted = {name: visit.form[name] for name in ("title", "body") if name in visit.form}
    try:
        pulls.edit_pull(visit.world, found, visit.caller, pull.number, wanted)
    except Refused as refused:
        return pages.talk(visit, found, pull, refused)
    return visit.go(_home(visit, found, pull))


async def edit_comment(
    visit: Visit, owner: str, repo: str, number: str, comment_id: str
) -> Response:
    """Change a comment, one's own or (with write access) anybody's."""
    found, pull = visit.pull(owner, repo, number)
    comment = comments.find(found, read_number(comment_id))
    try:
        comments.edit(visit.world, found, visit.caller, comment, visit.form.get("body", ""))
    except Refused as refused:
        return pages.talk(visit, found, pull, refused)
    return visit.go(f"{_home(visit, found, pull)}#issuecomment-{comment.id}")


async def dismiss(visit: Visit, owner: str, repo: str, number: str, review_id: str) -> Response:
    """Take the weight from somebody's review, with a reason."""
    found, pull = visit.pull(owner, repo, number)
    review = reviews.find(found, pull.number, read_number(review_id))
    try:
        message = visit.form.get("message", "")
        reviews.dismiss(visit.world, found, visit.caller, review, message)
    except Refused as refused:
        return pages.talk(visit, found, pull, refused)
    return visit.go(f"{_home(visit, found, pull)}#pullrequestreview-{review.id}")


async def press(visit: Visit, owner: str, repo: str, run_id: str) -> Response:
    """Press a button of a check run."""
    found, run = visit.check(owner, repo, run_id)
    identifier = visit.form.get("identifier", "")
    checks.press(visit.world, found, visit.caller, run, identifier)
    return visit.go(_checks(visit, found, run.head_sha, run.id))


async def rerun(visit: Visit, owner: str, repo: str, run_id: str) -> Response:
    """Ask the App to run a check again."""
    found, run = visit.check(owner, repo, run_id)
    checks.rerequest(visit.world, found, visit.caller, run)
    return visit.go(_checks(visit, found, run.head_sha, run.id))


def _checks(visit: Visit, repo: Repository, sha: str, run_id: int) -> str:
    home = f"/{visit.world.full_name(repo)}"
    for pull in repo.open_pulls():
        if pull.head_sha == sha:
            return f"{home}/pull/{pull.number}/checks?live#run-{run_id}"
    return f"{home}/runs/{run_id}"
