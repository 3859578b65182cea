"""An ASGI middleware that shows the judge every exchange a test causes."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from tests import graph_judge
from tests.judge import Headers, Judge, media_type

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PREFIX = "/api/v3"  # where GitHub Enterprise Server keeps its API
# First words of GitHub's API paths; whatever else the sandbox serves is a page, git or control.
ROOTS = {
    "app", "app-manifests", "applications", "enterprises", "graphql", "installation", "issues",
    "meta", "notifications", "organizations", "orgs", "rate_limit", "repos", "repositories",
    "search", "teams", "user", "users",
}  # fmt: skip


def api_path(path: str, asked: Headers) -> str | None:
    """The path as GitHub's description writes it; None for a page, git or a control."""
    inner = path.removeprefix(PREFIX)
    if path.startswith("/_") or ".git/" in path:
        return None
    by_program = "authorization" in asked or "vnd.github" in asked.get("accept", "")
    return inner if by_program or inner != path or path.split("/")[1] in ROOTS else None


@dataclass
class JudgedApp:
    """Wraps an ASGI application: the sandbox (its API) or a receiver of webhooks.

    `problems` fails the test; `unverified` are exchanges that no description covers.
    """

    app: App
    judge: Judge
    problems: list[str] = field(default_factory=list)
    unverified: set[str] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on untouched; judge once the application has returned."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen = Seen(scope)
        await self.app(scope, seen.receiving(receive), seen.sending(send))
        if "x-github-event" in seen.asked:
            self.delivered(seen.asked, bytes(seen.request))
        elif seen.status:  # 0: the answer was lost on purpose
            self.exchanged(seen)

    def delivered(self, headers: Headers, body: bytes) -> None:
        """Judge one webhook delivery."""
        try:
            value = json.loads(body)
        except ValueError:
            self.problems.append(f"webhook {headers['x-github-event']}: body is not JSON")
            return
        self.problems += self.judge.webhook(headers["x-github-event"], value, headers)

    def exchanged(self, seen: "Seen") -> None:
        """Judge one call of the API, or note that nobody describes it."""
        path = api_path(seen.path, seen.asked)
        if path is None:
            return
        method = seen.method
        if method == "POST" and path in graph_judge.PATHS:
            asked, told = bytes(seen.request), bytes(seen.response)
            self.problems += graph_judge.complaints(asked, seen.status, told)
            return
        if self.judge.operation(method, path, seen.asked) is None:
            self.unverified.add(f"{method} {path}")
            return
        media = media_type(seen.answered)
        if seen.status == 200 and media.startswith("application/vnd.github") and "raw" in media:
            self.unverified.add(f"{method} {path} as {media}")
            return
        self.problems += self.judge.exchange(
            method,
            f"{path}?{seen.query}",
            seen.asked,
            bytes(seen.request),
            seen.status,
            seen.answered,
            bytes(seen.response),
        )

    def expect(self, fragment: str) -> list[str]:
        """Take back the problems a test caused on purpose; there must be one."""
        taken = [p for p in self.problems if fragment in p]
        assert taken, f"no problem says {fragment!r}: {self.problems}"
        self.problems = [p for p in self.problems if fragment not in p]
        return taken


class Seen:
    """What went by in one exchange; header names in lower case."""

    def __init__(self, scope: Scope) -> None:
        raw = scope.get("raw_path") or scope["path"].encode()
        self.method: str = scope["method"]
        self.path: str = raw.split(b"?")[0].decode("latin-1")
        self.query: str = scope.get("query_string", b"").decode("latin-1")
        self.asked = _headers(scope["headers"])
        self.request = bytearray()
        self.status = 0
        self.answered: Headers = {}
        self.response = bytearray()

    def receiving(self, receive: Receive) -> Receive:
        """The same request, remembered."""

        async def remembering() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                self.request += message.get("body", b"")
            return message

        return remembering

    def sending(self, send: Send) -> Send:
        """The same answer, remembered."""

        async def remembering(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.answered = _headers(message.get("headers", []))
            elif message["type"] == "http.response.body":
                self.response += message.get("body", b"")
            await send(message)

        return remembering


def _headers(raw: Any) -> Headers:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
