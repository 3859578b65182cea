"""Commits, comparisons, branches and their rules."""

from typing import Any

from sandbox.github.clock import iso
from sandbox.github.git import Change
from sandbox.github.model import Ruleset
from sandbox.github.refusal import Refused, not_found
from sandbox.github.schema import Known
from sandbox.github.views import pulls, repositories

from .call import Call, R, Reply, route
from .data import found_or

READ = "contents:read"


def _changed(call: Call, changes: list[Change], sha: str) -> list[Known]:
    return [repositories.change(call.world, call.repo, found, sha) for found in changes]


def shown_commit(call: Call, found: Any) -> Known:
    """Show one commit of the history."""
    return repositories.commit(call.world, call.repo, found)


@route("GET", f"{R}/commits", READ)
def list_commits(call: Call) -> Reply:
    """List the history of a branch or commit, of one path if asked."""
    git, name = call.repo.git, call.query.get("sha") or call.repo.default_branch
    found, path = git.history(found_or(404, call, name)), call.query.get("path")
    if path:
        found = [commit for commit in found if path in _touched(call, commit)]
    return Reply([shown_commit(call, commit) for commit in call.page(found)])


def _touched(call: Call, commit: Any) -> set[str]:
    parent = str(commit.parent_ids[0]) if commit.parent_ids else None
    return {change.path for change in call.repo.git.diff(parent, str(commit.id))}


@route("GET", f"{R}/commits/{{ref}}", READ)
def get_commit(call: Call) -> Reply:
    """Show a commit with its changes."""
    sha = found_or(422, call, call.path["ref"])
    if "github.sha" in call.accept:
        return Reply(raw=sha.encode(), media="application/vnd.github.sha; charset=utf-8")
    found = call.repo.git.commit(sha)
    parent = str(found.parent_ids[0]) if found.parent_ids else None
    changes = call.repo.git.diff(parent, sha)
    added = sum(change.additions for change in changes)
    gone = sum(change.deletions for change in changes)
    stats = Known(additions=added, deletions=gone, total=added + gone)
    files = _changed(call, call.page(changes), sha)
    return Reply(Known(shown_commit(call, found), stats=stats, files=files))


@route("GET", f"{R}/commits/{{commit_sha}}/pulls", "pull_requests:read")
def list_pulls_of_commit(call: Call) -> Reply:
    """List the pull requests that hold a commit."""
    git, sha = call.repo.git, found_or(422, call, call.path["commit_sha"])
    found = [
        pull for pull in call.repo.pulls.values()
        if sha in [str(c.id) for c in git.between(pull.base_sha, pull.head_sha)]
    ]  # fmt: skip
    return Reply([pulls.pull_request(call.world, call.repo, pull) for pull in call.page(found)])


@route("GET", f"{R}/compare/{{basehead}}", READ)
def compare(call: Call) -> Reply:
    """Compare two refs, BASE...HEAD, from their merge base."""
    git, (left, dots, right) = call.repo.git, call.path["basehead"].partition("...")
    if not dots:
        raise not_found()
    base, head = (found_or(404, call, name.rpartition(":")[2]) for name in (left, right))
    start = git.merge_base(base, head)
    if start is None:
        raise Refused(404, f"No common ancestor between {left} and {right}.")
    ahead, behind = git.between(base, head), git.between(head, base)
    status = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    api = repositories.api_url(call.world, call.repo)
    web = f"{repositories.web_url(call.world, call.repo)}/compare/{call.path['basehead']}"
    return Reply(
        Known(
            url=f"{api}/compare/{call.path['basehead']}",
            html_url=web,
            permalink_url=f"{web.rpartition('/')[0]}/{base}...{head}",
            diff_url=f"{web}.diff",
            patch_url=f"{web}.patch",
            base_commit=shown_commit(call, git.commit(base)),
            merge_base_commit=shown_commit(call, git.commit(start)),
            status=status.get((bool(ahead), bool(behind)), "identical"),
            ahead_by=len(ahead),
            behind_by=len(behind),
            total_commits=len(ahead),
            commits=[shown_commit(call, found) for found in call.page(ahead)],
            files=_changed(call, git.diff(start, head), head),
        )
    )


@route("GET", f"{R}/branches", READ)
def list_branches(call: Call) -> Reply:
    """List the branches."""
    api = repositories.api_url(call.world, call.repo)
    found = list(call.repo.git.refs("refs/heads/").items())
    return Reply(
        [
            Known(
                name=name.removeprefix("refs/heads/"),
                commit=Known(sha=sha, url=f"{api}/commits/{sha}"),
                protected=_protected(call, name.removeprefix("refs/heads/")),
            )
            for name, sha in call.page(found)
        ]
    )


def _protected(call: Call, branch: str) -> bool:
    return any(True for _ in call.world.rulesets_for(call.repo, branch))


@route("GET", f"{R}/branches/{{branch}}", READ)
def get_branch(call: Call) -> Reply:
    """Show a branch with its head."""
    name = call.path["branch"]
    sha = call.repo.git.branch(name)
    if sha is None:
        raise Refused(404, "Branch not found")
    api = repositories.api_url(call.world, call.repo)
    web = repositories.web_url(call.world, call.repo)
    url = f"{api}/branches/{name}"
    return Reply(
        Known(
            name=name,
            commit=shown_commit(call, call.repo.git.commit(sha)),
            _links=Known(self=url, html=f"{web}/tree/{name}"),
            protected=_protected(call, name),
            protection=Known(enabled=False),
            protection_url=f"{url}/protection",
        )
    )


@route("GET", f"{R}/branches/{{branch}}/protection", "administration:read")
def get_branch_protection(call: Call) -> Reply:
    """Say that there is no classic protection here: rulesets took its place."""
    if call.repo.git.branch(call.path["branch"]) is None:
        raise Refused(404, "Branch not found")
    raise Refused(404, "Branch not protected")


@route("GET", f"{R}/rules/branches/{{branch}}")
def get_branch_rules(call: Call) -> Reply:
    """List the rules that bind a branch, existing or not."""
    found = [
        Known(
            rule,
            ruleset_source_type="Repository",
            ruleset_source=call.world.full_name(call.repo),
            ruleset_id=ruleset.id,
        )
        for ruleset in call.world.rulesets_for(call.repo, call.path["branch"])
        for rule in ruleset.rules
    ]
    return Reply(call.page(found))


def _ruleset(call: Call, found: Ruleset) -> Known:
    api = repositories.api_url(call.world, call.repo)
    made, include = iso(found.created_at), [f"refs/heads/{name}" for name in found.branches]
    actors = [
        Known(actor_id=number, actor_type="Integration", bypass_mode="always")
        for number in sorted(found.bypass_app_ids)
    ]
    app = call.caller.app if call.caller.kind == "installation" else None
    passes = app is not None and app.id in found.bypass_app_ids
    return Known(
        current_user_can_bypass="always" if passes else "never",
        id=found.id,
        name=found.name,
        target="branch",
        source_type="Repository",
        source=call.world.full_name(call.repo),
        enforcement="active",
        node_id=f"RRS_{found.id}",
        _links=Known(self=Known(href=f"{api}/rulesets/{found.id}")),
        created_at=made,
        updated_at=made,
        bypass_actors=actors,
        conditions=Known(ref_name=Known(include=include, exclude=[])),
        rules=[Known(rule) for rule in found.rules],
    )


@route("GET", f"{R}/rulesets")
def list_rulesets(call: Call) -> Reply:
    """List the rulesets, without their rules."""
    short = ("bypass_actors", "conditions", "rules")
    found = [_ruleset(call, ruleset) for ruleset in call.repo.rulesets.values()]
    shown = [Known({k: v for k, v in one.items() if k not in short}) for one in found]
    return Reply(call.page(shown))


@route("GET", f"{R}/rulesets/{{ruleset_id}}")
def get_ruleset(call: Call) -> Reply:
    """Show one ruleset; who may bypass it is only for those who may change it."""
    found = call.repo.rulesets.get(call.number("ruleset_id"))
    if found is None:
        raise not_found()
    shown = _ruleset(call, found)
    if call.caller.kind == "installation" and not call.caller.has("administration:write"):
        shown.pop("bypass_actors")
    return Reply(shown)
