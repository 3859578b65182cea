"""GitHub's GraphQL door: every query is checked, and answered, by GitHub's own schema."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from .caller import Caller
from .clock import iso
from .core import Core
from .model import Account, Pull, Repository
from .refusal import Refused
from .schema import DESCRIPTIONS

PATHS = frozenset({"/graphql", "/api/graphql"})
"""Where it is on github.com and on GitHub Enterprise Server."""
MOST = 100
T = TypeVar("T")
Node = dict[str, Any]


@lru_cache
def schema() -> GraphQLSchema:
    """Give GitHub's schema, cut to what is used."""
    return build_schema((DESCRIPTIONS / "github-graphql-subset.graphql").read_text())


@lru_cache(maxsize=64)
def _read(query: str) -> tuple[DocumentNode, tuple[GraphQLError, ...]]:
    """Parse and check a query, once for all who ask the same; raises GraphQLError."""
    document = parse(query)
    return document, tuple(validate(schema(), document))


def template_of(body: bytes) -> str:
    """Name what is asked as the route log does: `/graphql#Page`, by the operation's own name."""
    try:
        wanted = json.loads(body)
        named = wanted.get("operationName") or _operation(_read(wanted["query"])[0])
    except (ValueError, LookupError, TypeError, AttributeError, GraphQLError, RecursionError):
        named = ""
    return f"/graphql#{named}"


def _operation(document: DocumentNode) -> str:
    found = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    return found[0].name.value if found and found[0].name else ""


def answered(world: Core, caller: Caller, body: bytes) -> Node:
    """Answer one query: `data`, `errors` or both, as GitHub does with status 200."""
    caller.who()
    if caller.kind == "app":
        raise Refused(401, "Bad credentials")
    try:
        asked = json.loads(body)
        query, variables = asked["query"], asked.get("variables") or {}
        document, wrongs = _read(query)
    except GraphQLError as wrong:
        return {"errors": [_shown(wrong)]}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as bad:
        words = "A query attribute must be specified and must be a string."
        raise Refused(400, words) from bad
    if wrongs:
        return {"errors": [_shown(wrong) for wrong in wrongs]}
    found = execute_sync(
        schema(), document, {"repository": _Door(world, caller).repository},
        variable_values=variables, operation_name=asked.get("operationName"),
    )  # fmt: skip
    return _result(found)


def _result(found: ExecutionResult) -> Node:
    wrong = {"errors": [_shown(error) for error in found.errors]} if found.errors else {}
    return {"data": found.data, **wrong}


def _shown(error: GraphQLError) -> Node:
    """Write an error as GitHub does, with its `type` beside the words."""
    shown: Node = dict(error.formatted)
    kind = dict(shown.pop("extensions", None) or {}).get("type")
    return shown | ({"type": kind} if kind else {})


def _no(kind: str, message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": kind})


class _Door:
    """The resolvers of one query, as its caller may see them."""

    def __init__(self, world: Core, caller: Caller) -> None:
        self.world = world
        self.caller = caller

    def repository(self, _info: Any, owner: str, name: str, **_rest: Any) -> Node:
        """Find a repository that the caller sees."""
        full = f"{owner}/{name}"
        try:
            repo = self.world.repository(full)
        except Refused:
            repo = None
        if repo is None or not self.caller.sees(self.world, repo):
            raise _no("NOT_FOUND", f"Could not resolve to a Repository with the name '{full}'.")
        return {
            "databaseId": repo.id,
            "isPrivate": repo.private,
            "pullRequest": lambda _info, number: self._pull(repo, number),
        }

    def _pull(self, repo: Repository, number: int) -> Node:
        if self.caller.kind == "installation" and not self.caller.has("pull_requests:read"):
            raise _no("FORBIDDEN", "Resource not accessible by integration")
        if number not in repo.pulls:
            words = f"Could not resolve to a PullRequest with the number of {number}."
            raise _no("NOT_FOUND", words)
        return pull_node(self.world.state.accounts, repo, repo.pulls[number])


def pull_node(accounts: Mapping[int, Account], repo: Repository, pull: Pull) -> Node:
    """Show a pull request as GraphQL does: more of its past than REST tells."""
    edited = pull.body_edited_at
    return {
        "number": pull.number,
        "headRefOid": pull.head_sha,
        "baseRefName": pull.base_ref,
        "state": "MERGED" if pull.merged_at else pull.state.upper(),
        "isDraft": pull.draft,
        "merged": pull.merged_at is not None,
        "title": pull.title,
        "body": pull.body or "",
        "lastEditedAt": iso(edited) if edited else None,
        "comments": lambda _info, **cut: _comments(accounts, repo, pull, cut),
        "reviews": lambda _info, **cut: {"nodes": _page(_reviews(repo, pull), **cut)},
        "timelineItems": lambda _info, **cut: {"nodes": _page(_renamings(pull), **cut)},
    }


def _of(pull: Pull, things: Iterable[T]) -> list[T]:
    return [thing for thing in things if getattr(thing, "number", None) == pull.number]


def _reviews(repo: Repository, pull: Pull) -> list[Node]:
    return [{"fullDatabaseId": str(r.id)} for r in _of(pull, repo.reviews.values())]


def _comments(accounts: Mapping[int, Account], repo: Repository, pull: Pull, cut: Node) -> Node:
    """The conversation, oldest first; a connection counts all of it, however little is asked."""
    nodes = [
        {
            "fullDatabaseId": str(comment.id),
            "body": comment.body,
            "createdAt": iso(comment.created_at),
            "author": _actor(accounts[comment.author_id]),
        }
        for comment in _of(pull, repo.comments.values())
    ]
    return {"totalCount": len(nodes), "nodes": lambda _info: _page(nodes, **cut)}


def _actor(account: Account) -> Node:
    """Show who did something: a bot's login lacks the ending that it has in REST."""
    login = account.login.removesuffix("[bot]")
    return {"__typename": account.type, "login": login, "databaseId": account.id}


def _renamings(pull: Pull) -> list[Node]:
    """Only these stand in the cut schema; `itemTypes` can name no others."""
    return [
        {
            "__typename": "RenamedTitleEvent",
            "createdAt": iso(renaming.at),
            "previousTitle": renaming.before,
            "currentTitle": renaming.after,
        }
        for renaming in pull.renamings
    ]


def _page(
    things: Sequence[T], first: int | None = None, last: int | None = None, **_rest: Any
) -> Sequence[T]:
    """Cut as asked; GitHub wants one of the two, up to 100."""
    wanted = first if first is not None else last
    if wanted is None or not 0 <= wanted <= MOST:
        raise _no("MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value.")
    return (
        things[:wanted] if first is not None else things[len(things) - min(wanted, len(things)) :]
    )
