"""The sandbox as one web application: git over HTTP, a control desk, the REST API and pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from . import control, pages, rest, smart_http
from .core import Core
from .rest.answer import Question, answer

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
ENTERPRISE = "/api/v3"
"""Where GitHub Enterprise Server keeps its API; here it works as well."""
ROOTS = {
    "api", "app", "app-manifests", "applications", "enterprises", "graphql", "installation",
    "issues", "meta", "notifications", "organizations", "orgs", "rate_limit", "repos",
    "repositories", "search", "teams", "user", "users",
}  # fmt: skip
"""First words of GitHub's API paths; no account of the sandbox should be called so."""

__all__ = ["create_app", "rest"]


class ApiRoute(Route):
    """Takes what is for the API: by its path, or because a program asks and not a browser."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Say whether a request is for the API and not for the pages on the same host."""
        match, child = super().matches(scope)
        if scope["type"] != "http" or _for_api(scope):
            return match, child
        return Match.NONE, {}


def _for_api(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    accept = headers.get("accept", "")
    by_program = "authorization" in headers or "json" in accept or "vnd.github" in accept
    return scope["path"].split("/")[1] in ROOTS or by_program


class Broken(Response):
    """An answer that never comes: the connection breaks."""

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        # A real server closes the socket on an answer cut short; in one process there is no
        # socket, so the client's own exception does it. Only real servers give a spec_version.
        if "spec_version" not in scope.get("asgi", {}):
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        start = {"type": "http.response.start", "status": 200}
        await send(start | {"headers": [(b"content-length", b"9")]})


async def rest_api(request: Request) -> Response:
    """Answer one request of GitHub's REST API, an unknown route with its 404."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    try:
        body = await request.body()
    except ClientDisconnect:
        return Broken()
    question = Question(
        request.method,
        raw.decode("latin-1").partition("?")[0].removeprefix(ENTERPRISE),
        request.url.query,
        request.headers,
        body,
    )
    given = await answer(request.app.state.world, question)
    if given is None:
        return Broken()
    return Response(given.body, given.status, given.headers)


def create_app(world: Core) -> FastAPI:
    """Serve a world. Deliveries that were queued before leave as soon as it starts."""

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        world.deliveries.flush()
        yield
        await world.aclose()

    app = FastAPI(title="GitHub on this machine", lifespan=life, openapi_url=None)
    app.state.world = world
    app.include_router(smart_http.router)
    app.include_router(control.router)
    app.router.routes.append(ApiRoute("/{path:path}", rest_api, methods=METHODS))
    pages.mount(app, world)
    return app
