"""One governing repository, and asking GitHub about it with a token for nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proposals.ports import Refused, Unavailable

from .answer import QUERY, Elsewhere, Reply
from .client import Client, Query
from .pages import pages
from .route import route
from .shapes import Pull, Ref
from .shown import PAGE, Queried, Shown
from .tokens import Scope

NOT_FOUND = 404
_MOVED = range(300, 400)
_WORK = {"contents": "write", "pull_requests": "write", "checks": "write", "metadata": "read"}
_TEAMS = {"members": "read", "metadata": "read"}


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository stands now: names may change, `id` does not.

    `moved` is called when GitHub shows that the names are old.
    """

    id: int
    installation: int
    owner: str
    name: str
    default_branch: str
    client: Client
    moved: Callable[[int], None]

    async def ask(
        self,
        method: str,
        *parts: str | int,
        query: Query | None = None,
        body: Any = None,
        urgent: bool = False,
    ) -> Reply:
        """Ask below /repos/{owner}/{repo}; raises ForgeError. `urgent` writes go first."""
        where = ("repos", self.owner, self.name, *parts)
        return await self.reach(method, where, query, body, urgent=urgent)

    async def reach(
        self,
        method: str,
        parts: Sequence[str | int],
        query: Query | None = None,
        body: Any = None,
        *,
        teams: bool = False,
        urgent: bool = False,
    ) -> Reply:
        """Ask anything with this repository's token, or with one that may only read teams."""
        allowed = _TEAMS if teams else _WORK
        scope = Scope.of(self.installation, self.id, **allowed)
        try:
            path = route(*parts)
            return await self.client.installed(scope, method, path, query, body, urgent=urgent)
        except Refused as refused:
            if refused.status in (401, 403):
                self.moved(self.id)
            if refused.status in _MOVED or isinstance(refused, Elsewhere):
                self.moved(self.id)
                raise Unavailable(f"The repository seems to be renamed: {refused}") from None
            raise

    async def every(self, kind: type[Any], *parts: str | int, **query: str | int) -> list[Any]:
        """All entries of a list below /repos/{owner}/{repo}; ForgeError if any page is missing."""
        found: list[Any] = []
        async for page in pages(lambda step: self.ask("GET", *parts, query=step), query):
            found += page.read(list[kind])  # type: ignore[valid-type]
        return found

    async def branch(self, name: str) -> str | None:
        """The commit a branch points at; None when there is no such branch."""
        try:
            reply = await self.ask("GET", "git", "ref", "heads", *name.split("/"))
        except Refused as refused:
            if refused.status != NOT_FOUND:
                raise
            return None
        return reply.read(Ref).object.sha

    async def pull(self, number: int) -> tuple[Pull, Reply]:
        """A pull request, and the answer it came in."""
        reply = await self.ask("GET", "pulls", number)
        pull = reply.read(Pull)
        self.check(pull)
        return pull, reply

    async def shown(self, number: int) -> tuple[Shown, Reply]:
        """A pull request with the dates of what was done to its words, and its answer."""
        where = {"owner": self.owner, "name": self.name, "number": number}
        reply = await self.reach(QUERY, ("graphql",), body={"query": PAGE, "variables": where})
        found = reply.read(Queried).data.repository
        self._same(found.database_id, private=found.is_private)
        if found.pull_request.number != number:
            raise Unavailable(f"GitHub answered about another page than {number}")
        return found.pull_request, reply

    def check(self, pull: Pull) -> None:
        """Refuse a pull request of another repository, or of one that has become public."""
        there = pull.base.repo
        self._same(there.id if there else 0, private=bool(there and there.private))

    def _same(self, id_: int, *, private: bool) -> None:
        if id_ != self.id:
            self.moved(self.id)
            raise Unavailable(f"{self.owner}/{self.name} is another repository now")
        if not private and not self.client.settings.allow_public:
            self.moved(self.id)
            raise Refused(
                f"{self.owner}/{self.name} has become public; see `allow_public`", 403, "public"
            )
