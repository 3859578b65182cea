"""Pull requests and the conversation below them."""

from typing import Any

from sandbox.github.clock import iso
from sandbox.github.git import Conflict
from sandbox.github.lookup import Lookup, node_id
from sandbox.github.model import Comment, Pull, Reaction, Repository, Review
from sandbox.github.schema import Known

from .accounts import app, association, team, user
from .repositories import api_url, repository, web_url

EMOJI = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def urls(look: Lookup, repo: Repository, pull: Pull) -> dict[str, str]:
    """Give the addresses of a pull request, by the names of its members."""
    api, web = api_url(look, repo), f"{web_url(look, repo)}/pull/{pull.number}"
    url, issue = f"{api}/pulls/{pull.number}", f"{api}/issues/{pull.number}"
    return {
        "url": url,
        "html_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "issue_url": issue,
        "comments_url": f"{issue}/comments",
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{api}/pulls/comments{{/number}}",
        "statuses_url": f"{api}/statuses/{pull.head_sha}",
    }


def _links(found: dict[str, str]) -> Known:
    names = ("html", "issue", "comments", "commits", "review_comments", "review_comment")
    links = {name: Known(href=found[f"{name}_url"]) for name in names}
    return Known(links, self=Known(href=found["url"]), statuses=Known(href=found["statuses_url"]))


def mergeable(repo: Repository, pull: Pull) -> bool:
    """Whether git can merge the pull request without a person."""
    base = repo.git.branch(pull.base_ref)
    try:
        return bool(base and repo.git.merge_tree(base, pull.head_sha))
    except Conflict:
        return False


def pull_request(look: Lookup, repo: Repository, pull: Pull) -> Known:
    """Show a pull request, for its full, its short and its webhook form."""
    places, author = urls(look, repo, pull), look.state.accounts[pull.author_id]
    return Known(
        places,
        **_numbers(repo, pull),
        **_sides(look, repo, pull),
        **_dates(pull),
        **_people(look, pull),
        _links=_links(places),
        id=pull.id,
        node_id=node_id("PR", pull.id),
        number=pull.number,
        state=pull.state,
        draft=pull.draft,
        title=pull.title,
        body=pull.body,
        labels=[label(look, repo, name) for name in pull.labels],
        merge_commit_sha=pull.merge_sha,
        author_association=association(look, repo, author),
        **NEVER,
    )


NEVER: dict[str, Any] = {
    "milestone": None,
    "active_lock_reason": None,
    "auto_merge": None,
    "assignee": None,
    "assignees": [],
    "locked": False,
    "maintainer_can_modify": False,
}


def _dates(pull: Pull) -> dict[str, Any]:
    return {
        "created_at": iso(pull.created_at),
        "updated_at": iso(pull.updated_at),
        "closed_at": iso(pull.closed_at) if pull.closed_at else None,
        "merged_at": iso(pull.merged_at) if pull.merged_at else None,
        "merged": pull.merged_at is not None,
    }


def _people(look: Lookup, pull: Pull) -> dict[str, Any]:
    accounts, teams = look.state.accounts, look.state.teams
    merged_by = accounts.get(pull.merged_by or 0)
    return {
        "user": user(look, accounts[pull.author_id]),
        "merged_by": user(look, merged_by) if merged_by else None,
        "requested_reviewers": [user(look, accounts[number]) for number in pull.reviewers],
        "requested_teams": [team(look, teams[number]) for number in pull.teams],
    }


def _sides(look: Lookup, repo: Repository, pull: Pull) -> dict[str, Known]:
    fork = look.state.repositories[pull.fork] if pull.fork else repo
    sides = {
        "head": (fork, pull.head_ref, pull.head_sha),
        "base": (repo, pull.base_ref, pull.base_sha),
    }
    return {
        side: Known(
            label=f"{look.owner(where).login}:{name}",
            ref=name,
            sha=sha,
            repo=repository(look, where),
            user=user(look, look.owner(where)),
        )
        for side, (where, name, sha) in sides.items()
    }


def _numbers(repo: Repository, pull: Pull) -> dict[str, Any]:
    git = repo.git
    start = git.merge_base(pull.base_sha, pull.head_sha)
    changes = git.diff(start, pull.head_sha)
    clean = pull.state == "open" and mergeable(repo, pull)
    states = {True: "draft" if pull.draft else "clean", False: "dirty"}
    return {
        "commits": len(git.between(start, pull.head_sha)),
        "changed_files": len(changes),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "comments": sum(c.number == pull.number for c in repo.comments.values()),
        "review_comments": 0,
        "mergeable": clean if pull.state == "open" else None,
        "rebaseable": clean if pull.state == "open" else None,
        "mergeable_state": states[clean] if pull.state == "open" else "unknown",
    }


def minimal(look: Lookup, repo: Repository, pull: Pull) -> Known:
    """Show a pull request as check runs name it (`pull-request-minimal`)."""
    place = Known(id=repo.id, url=api_url(look, repo), name=repo.name)
    return Known(
        id=pull.id,
        number=pull.number,
        url=f"{api_url(look, repo)}/pulls/{pull.number}",
        head=Known(ref=pull.head_ref, sha=pull.head_sha, repo=place),
        base=Known(ref=pull.base_ref, sha=pull.base_sha, repo=place),
    )


def issue(look: Lookup, repo: Repository, pull: Pull) -> Known:
    """Show a pull request as the issue it also is."""
    shown, api = pull_request(look, repo, pull), api_url(look, repo)
    url = f"{api}/issues/{pull.number}"
    places = {name: shown[name] for name in ("url", "html_url", "diff_url", "patch_url")}
    return Known(
        shown,
        url=url,
        repository_url=api,
        labels_url=f"{url}/labels{{/name}}",
        comments_url=f"{url}/comments",
        events_url=f"{url}/events",
        timeline_url=f"{url}/timeline",
        pull_request=Known(places, merged_at=shown["merged_at"]),
        reactions=rollup(look, repo, pull.number, None),
        performed_via_github_app=None,
        state_reason=None,
    )


def review(look: Lookup, repo: Repository, found: Review) -> Known:
    """Show a review; its state in capitals, as REST writes it."""
    author = look.state.accounts[found.author_id]
    places = urls(look, repo, repo.pulls[found.number])
    html = f"{places['html_url']}#pullrequestreview-{found.id}"
    return Known(
        id=found.id,
        node_id=node_id("PRR", found.id),
        user=user(look, author),
        body=found.body,
        state=found.state,
        html_url=html,
        pull_request_url=places["url"],
        _links=Known(html=Known(href=html), pull_request=Known(href=places["url"])),
        submitted_at=iso(found.submitted_at),
        updated_at=iso(found.updated_at),
        commit_id=found.commit_id,
        author_association=association(look, repo, author),
    )


def comment(look: Lookup, repo: Repository, found: Comment) -> Known:
    """Show a comment of the conversation."""
    author = look.state.accounts[found.author_id]
    places = urls(look, repo, repo.pulls[found.number])
    through = look.state.apps.get(found.app_id or 0)
    return Known(
        id=found.id,
        node_id=node_id("IC", found.id),
        url=f"{api_url(look, repo)}/issues/comments/{found.id}",
        html_url=f"{places['html_url']}#issuecomment-{found.id}",
        issue_url=places["issue_url"],
        body=found.body,
        user=user(look, author),
        created_at=iso(found.created_at),
        updated_at=iso(found.updated_at),
        author_association=association(look, repo, author),
        performed_via_github_app=app(look, through) if through else None,
        reactions=rollup(look, repo, found.number, found.id),
    )


def rollup(look: Lookup, repo: Repository, number: int, comment_id: int | None) -> Known:
    """Count the reactions to a comment, or to the pull request itself."""
    found = [
        reaction.content
        for reaction in repo.reactions.values()
        if (reaction.number, reaction.comment_id) == (number, comment_id)
    ]
    place = f"comments/{comment_id}" if comment_id else str(number)
    return Known(
        {emoji: found.count(emoji) for emoji in EMOJI},
        url=f"{api_url(look, repo)}/issues/{place}/reactions",
        total_count=len(found),
    )


def reaction(look: Lookup, found: Reaction) -> Known:
    """Show a reaction."""
    return Known(
        id=found.id,
        node_id=node_id("REA", found.id),
        user=user(look, look.state.accounts[found.author_id]),
        content=found.content,
        created_at=iso(found.created_at),
    )


def label(look: Lookup, repo: Repository, name: str) -> Known:
    """Show a label, whose id follows from its name."""
    number = 8_000_000_000 + int.from_bytes(name.encode()[:4], "big")
    return Known(
        id=number,
        node_id=node_id("LA", number),
        url=f"{api_url(look, repo)}/labels/{name}",
        name=name,
        color="ededed",
        default=False,
        description="",
    )
