"""Pull requests."""

from sandbox.github.actions import merging, pulls
from sandbox.github.refusal import invalid, not_found
from sandbox.github.schema import Known
from sandbox.github.views import accounts, repositories
from sandbox.github.views.pulls import pull_request

from .call import Call, R, Reply, route
from .history import shown_commit

PULL = f"{R}/pulls/{{pull_number}}"
EDITABLE = ("title", "body", "base", "state")
READ, WRITE = "pull_requests:read", "pull_requests:write"


@route("POST", f"{R}/pulls", WRITE)
def create(call: Call) -> Reply:
    """Open a pull request."""
    body = call.body
    if "title" not in body:
        raise invalid("PullRequest", "title", "missing_field")
    made = pulls.open_pull(
        call.world, call.repo, call.caller, title=body["title"], head=body["head"],
        base=body["base"], body=body.get("body"), draft=body.get("draft", False),
    )  # fmt: skip
    return Reply(pull_request(call.world, call.repo, made), 201)


@route("GET", f"{R}/pulls", READ)
def list_pulls(call: Call) -> Reply:
    """List pull requests by state, head (owner:branch) and base; newest first."""
    state, query = call.query.get("state", "open"), call.query
    found = [pull for pull in call.repo.pulls.values() if state in ("all", pull.state)]
    if head := query.get("head"):
        owner = call.world.owner(call.repo).login
        found = [pull for pull in found if head in (f"{owner}:{pull.head_ref}", pull.head_ref)]
    if base := query.get("base"):
        found = [pull for pull in found if pull.base_ref == base]
    if query.get("sort", "created") == "updated":
        found.sort(key=lambda pull: pull.updated_at)
    if query.get("direction", "desc") == "desc":
        found.reverse()
    return Reply([pull_request(call.world, call.repo, pull) for pull in call.page(found)])


@route("GET", PULL, READ)
def get(call: Call) -> Reply:
    """Show a pull request."""
    found = call.world.pull(call.repo, call.number("pull_number"))
    return Reply(pull_request(call.world, call.repo, found))


@route("PATCH", PULL, WRITE)
def update(call: Call) -> Reply:
    """Change title, body, base or state."""
    wanted = {name: value for name, value in call.body.items() if name in EDITABLE}
    number = call.number("pull_number")
    found = pulls.edit_pull(call.world, call.repo, call.caller, number, wanted)
    return Reply(pull_request(call.world, call.repo, found))


@route("GET", f"{PULL}/files", READ)
def list_files(call: Call) -> Reply:
    """List the changed files, against the merge base."""
    git, found = call.repo.git, call.world.pull(call.repo, call.number("pull_number"))
    changes = git.diff(git.merge_base(found.base_sha, found.head_sha), found.head_sha)
    world, repo, sha = call.world, call.repo, found.head_sha
    return Reply([repositories.change(world, repo, one, sha) for one in call.page(changes)])


@route("GET", f"{PULL}/commits", READ)
def list_commits(call: Call) -> Reply:
    """List the commits, oldest first."""
    git, found = call.repo.git, call.world.pull(call.repo, call.number("pull_number"))
    start = git.merge_base(found.base_sha, found.head_sha)
    commits = call.page(git.between(start, found.head_sha))
    return Reply([shown_commit(call, commit) for commit in commits])


@route("GET", f"{PULL}/comments", READ)
def list_review_comments(call: Call) -> Reply:
    """List comments on lines: the sandbox has none."""
    call.world.pull(call.repo, call.number("pull_number"))
    return Reply([])


@route("GET", f"{PULL}/merge", READ)
def check_merged(call: Call) -> Reply:
    """Answer 204 for a merged pull request, 404 otherwise."""
    if call.world.pull(call.repo, call.number("pull_number")).merged_at is None:
        raise not_found()
    return Reply(status=204)


@route("PUT", f"{PULL}/merge", "contents:write")
def merge(call: Call) -> Reply:
    """Merge at the given head."""
    body = call.body
    sha = merging.merge(
        call.world, call.repo, call.caller, call.number("pull_number"), sha=body.get("sha"),
        method=body.get("merge_method", "merge"), title=body.get("commit_title"),
        message=body.get("commit_message"),
    )  # fmt: skip
    return Reply(Known(sha=sha, merged=True, message="Pull Request successfully merged"))


@route("POST", f"{PULL}/requested_reviewers", WRITE)
def request_reviewers(call: Call) -> Reply:
    """Ask people and teams for a review."""
    found = pulls.request_reviewers(
        call.world, call.repo, call.caller, call.number("pull_number"),
        logins=call.body.get("reviewers", []), slugs=call.body.get("team_reviewers", []),
    )  # fmt: skip
    return Reply(pull_request(call.world, call.repo, found), 201)


@route("GET", f"{PULL}/requested_reviewers", READ)
def list_requested_reviewers(call: Call) -> Reply:
    """List who was asked and has not reviewed yet."""
    found, state = call.world.pull(call.repo, call.number("pull_number")), call.world.state
    users = [accounts.user(call.world, state.accounts[number]) for number in found.reviewers]
    teams = [accounts.team(call.world, state.teams[number]) for number in found.teams]
    return Reply(Known(users=users, teams=teams))
