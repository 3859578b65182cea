"""A stage for the sandbox's own tests: one world, one App, one client, the judge on both sides."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.github import World
from sandbox.github.model import App, Installation
from tests.judged import JudgedApp

REPO = "acme/approvals"
R = f"/repos/{REPO}"
EVENTS = ["pull_request", "pull_request_review", "issue_comment", "check_run", "push"]
PERMISSIONS = {
    "contents": "write", "pull_requests": "write", "checks": "write", "issues": "read",
    "members": "read",
}  # fmt: skip


@dataclass
class Received:
    """What the App's hook saw."""

    headers: httpx.Headers
    raw: bytes

    @property
    def event(self) -> str:
        body = self.body
        return self.headers["x-github-event"] + (f".{body['action']}" if "action" in body else "")

    @property
    def body(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.raw)
        return value


@dataclass
class Hook:
    """The App's webhook receiver."""

    seen: list[Received] = field(default_factory=list)
    status: int = 202

    def app(self) -> Starlette:
        async def receive(request: Request) -> Response:
            headers = httpx.Headers(request.headers.raw)
            self.seen.append(Received(headers, await request.body()))
            return Response("thanks", self.status)

        return Starlette(routes=[Route("/hook", receive, methods=["POST"])])

    def events(self) -> list[str]:
        return [one.event for one in self.seen]

    def last(self, event: str) -> dict[str, Any]:
        return next(one.body for one in reversed(self.seen) if one.event == event)


@dataclass
class Stage:
    """Everything a test needs by name."""

    world: World
    app: App
    installation: Installation
    hook: Hook
    client: httpx.AsyncClient
    judged: JudgedApp
    token: str = ""

    def jwt(self, **claims: Any) -> str:
        now = int(time.time())
        whole = {"iat": now - 60, "exp": now + 540, "iss": self.app.client_id} | claims
        return jwt.encode(whole, self.app.private_key, "RS256")

    async def ask(
        self, method: str, path: str, json: Any = None, *, as_: str | None = None, **more: Any
    ) -> httpx.Response:
        """Ask as the installation, or as a person, or with a token."""
        token = self.token if as_ is None else as_
        if as_ in ("ann", "sam", "req", "eve"):
            token = self.world.token_for(as_)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return await self.client.request(
            method, path if path.startswith(("/", "http")) else f"{R}/{path}", json=json,
            headers=headers | more.pop("headers", {}), **more,
        )  # fmt: skip

    async def get(self, path: str, **more: Any) -> Any:
        answer = await self.ask("GET", path, **more)
        assert answer.is_success, answer.text
        return answer.json()

    async def branch(self, name: str = "plan", path: str = "plan.json", text: str = "{}\n") -> str:
        """Push a branch as the App and give its head."""
        main = await self.get("git/ref/heads/main")
        tree = await self.ask("POST", "git/trees", {
            "base_tree": main["object"]["sha"],
            "tree": [{"path": path, "mode": "100644", "type": "blob", "content": text}],
        })  # fmt: skip
        commit = await self.ask("POST", "git/commits", {
            "message": f"Propose {name}", "tree": tree.json()["sha"],
            "parents": [main["object"]["sha"]],
        })  # fmt: skip
        sha: str = commit.json()["sha"]
        made = await self.ask("POST", "git/refs", {"ref": f"refs/heads/{name}", "sha": sha})
        assert made.status_code == 201, made.text
        return sha

    async def pull(self, head: str = "plan") -> dict[str, Any]:
        """Open a pull request as the App."""
        await self.branch(head, f"{head}.json")
        wanted = {"title": "Change 3 rows", "head": head, "base": "main", "body": "see plan"}
        made = await self.ask("POST", "pulls", wanted)
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()
        return found

    async def check(self, sha: str, **more: Any) -> dict[str, Any]:
        """Create a completed check run with one button."""
        button = {"label": "Approve", "description": "Let it happen", "identifier": "approve"}
        wanted = {
            "name": "placet", "head_sha": sha, "status": "completed",
            "conclusion": "action_required", "external_id": "P1",
            "output": {"title": "Waiting", "summary": "for you"}, "actions": [button],
        }  # fmt: skip
        made = await self.ask("POST", "check-runs", wanted | more)
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()
        return found


def arranged(root: Path, transport: httpx.AsyncBaseTransport | None, url: str) -> World:
    """A small company: ann writes, sam reads, req writes and will ask, eve is a stranger."""
    world = World(root, url=url, hook_transport=transport)
    for login in ("ann", "sam", "req", "eve", "boss"):
        world.add_user(login)
    world.add_organisation("acme", owners=["boss"])
    people = {"ann": "write", "sam": "read", "req": "write"}
    world.add_repository(REPO, files={"README.md": "hello\n"}, collaborators=people)
    return world
