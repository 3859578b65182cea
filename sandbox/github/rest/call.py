"""One request as a handler sees it, one answer as it gives it, and the table of handlers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.model import Repository
from sandbox.github.refusal import Refused, not_accessible, not_found
from sandbox.github.schema import api

R = "/repos/{owner}/{repo}"
T = TypeVar("T")
PER_PAGE = 30
MOST_PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler answers: a value to build by GitHub's schema, or raw bytes."""

    value: Any = None
    status: int = 200
    raw: bytes | None = None
    media: str = "application/json; charset=utf-8"


@dataclass(slots=True)
class Call:
    """One request, read and checked against GitHub's description."""

    world: Core
    caller: Caller
    url: str
    """The address without its query."""
    path: dict[str, str]
    query: dict[str, str]
    body: dict[str, Any]
    accept: str = ""
    found: Repository | None = None
    links: dict[str, str] = field(default_factory=dict)

    @property
    def repo(self) -> Repository:
        """The repository of the path, already known to be visible to the caller."""
        if self.found is None:
            raise not_found()
        return self.found

    def number(self, name: str) -> int:
        """Read a numeric path parameter; what is no number is not found."""
        text = self.path[name]
        if not text.isdecimal() or len(text) > 18:  # noqa: PLR2004
            raise not_found()
        return int(text)

    def _count(self, name: str, default: int) -> int:
        text = self.query.get(name, "")
        return max(1, int(text)) if text.isdecimal() and len(text) < 10 else default  # noqa: PLR2004

    def page(self, items: list[T]) -> list[T]:
        """Cut one page out of a list and note its neighbours for the Link header."""
        size = min(self._count("per_page", PER_PAGE), MOST_PER_PAGE)
        page, last = self._count("page", 1), max(1, -(-len(items) // size))
        wanted = {"next": page + 1, "last": last} if page < last else {}
        wanted |= {"prev": min(page - 1, last), "first": 1} if page > 1 else {}
        for rel, number in wanted.items():
            query = urlencode(self.query | {"page": number, "per_page": size})
            self.links[rel] = f"{self.url}?{query}"
        return items[(page - 1) * size : page * size]


Handler = Callable[[Call], Reply]
Registrar = Callable[[Handler], Handler]


@dataclass(frozen=True, slots=True)
class Route:
    """A handler with who may call it."""

    handler: Handler
    needs: str | None
    """`contents:write|issues:read` for installation tokens; `app` for App JWTs; None for all."""


ROUTES: dict[tuple[str, str], Route] = {}


def route(method: str, template: str, needs: str | None = "metadata:read") -> Registrar:
    """Register a handler for an operation of GitHub's description; KeyError for any other."""
    api("2026-03-10").document["paths"][template][method.lower()]

    def register(handler: Handler) -> Handler:
        ROUTES[method, template] = Route(handler, needs)
        return handler

    return register


def admit(call: Call, needs: str | None, template: str) -> None:
    """Refuse a caller who may not use this route; find the repository for one who may."""
    caller = call.caller
    if needs == "app" and caller.kind != "app":
        raise Refused(401, "A JSON web token could not be decoded")
    if needs != "app" and caller.kind == "app" and needs is not None:
        raise Refused(401, "Bad credentials")
    if template.startswith(R):
        repo = call.world.repository(f"{call.path['owner']}/{call.path['repo']}")
        if not caller.sees(call.world, repo):
            raise not_found()
        call.found = repo
    if caller.kind == "installation" and needs and not caller.has(needs):
        raise not_accessible()
