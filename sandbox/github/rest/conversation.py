"""Issues (here always pull requests), their comments, reactions and labels."""

from sandbox.github.actions import comments
from sandbox.github.clock import iso
from sandbox.github.model import Comment
from sandbox.github.schema import Known
from sandbox.github.views import pulls

from .call import Call, R, Reply, route

ISSUE = f"{R}/issues/{{issue_number}}"
COMMENT = f"{R}/issues/comments/{{comment_id}}"
READ, WRITE = "pull_requests:read|issues:read", "pull_requests:write|issues:write"


@route("GET", ISSUE, READ)
def get_issue(call: Call) -> Reply:
    """Show a pull request as an issue."""
    found = call.world.pull(call.repo, call.number("issue_number"))
    return Reply(pulls.issue(call.world, call.repo, found))


def _shown(call: Call, comment: Comment) -> Known:
    return pulls.comment(call.world, call.repo, comment)


@route("GET", f"{ISSUE}/comments", READ)
def list_comments(call: Call) -> Reply:
    """List the comments, oldest first; with `since`, those that were touched from then on."""
    number = call.world.pull(call.repo, call.number("issue_number")).number
    since = call.query.get("since", "")
    found = [
        comment
        for comment in call.repo.comments.values()
        if comment.number == number and iso(comment.updated_at) >= since
    ]
    return Reply([_shown(call, comment) for comment in call.page(found)])


@route("POST", f"{ISSUE}/comments", WRITE)
def create_comment(call: Call) -> Reply:
    """Comment on a pull request."""
    number = call.number("issue_number")
    made = comments.create(call.world, call.repo, call.caller, number, call.body["body"])
    return Reply(_shown(call, made), 201)


def _comment(call: Call) -> Comment:
    return comments.find(call.repo, call.number("comment_id"))


@route("GET", COMMENT, READ)
def get_comment(call: Call) -> Reply:
    """Show a comment."""
    return Reply(_shown(call, _comment(call)))


@route("PATCH", COMMENT, WRITE)
def update_comment(call: Call) -> Reply:
    """Edit a comment."""
    text = call.body["body"]
    comment = comments.edit(call.world, call.repo, call.caller, _comment(call), text)
    return Reply(_shown(call, comment))


@route("DELETE", COMMENT, WRITE)
def delete_comment(call: Call) -> Reply:
    """Delete a comment."""
    comments.delete(call.world, call.repo, call.caller, _comment(call))
    return Reply(status=204)


@route("GET", f"{COMMENT}/reactions", READ)
def list_reactions(call: Call) -> Reply:
    """List the reactions to a comment."""
    number = _comment(call).id
    found = [one for one in call.repo.reactions.values() if one.comment_id == number]
    return Reply([pulls.reaction(call.world, one) for one in call.page(found)])


@route("POST", f"{COMMENT}/reactions", WRITE)
def react_to_comment(call: Call) -> Reply:
    """React to a comment: 201, or 200 when it was there already."""
    comment, content = _comment(call), call.body["content"]
    made, new = comments.react(
        call.world, call.repo, call.caller, content, comment.number, comment.id
    )
    return Reply(pulls.reaction(call.world, made), 201 if new else 200)


@route("POST", f"{ISSUE}/reactions", WRITE)
def react_to_issue(call: Call) -> Reply:
    """React to the pull request itself."""
    number, content = call.number("issue_number"), call.body["content"]
    call.world.pull(call.repo, number)
    made, new = comments.react(call.world, call.repo, call.caller, content, number)
    return Reply(pulls.reaction(call.world, made), 201 if new else 200)


@route("GET", f"{ISSUE}/labels", READ)
def list_labels(call: Call) -> Reply:
    """List the labels of a pull request."""
    found = call.world.pull(call.repo, call.number("issue_number"))
    return Reply([pulls.label(call.world, call.repo, name) for name in call.page(found.labels)])
