"""A world with one pull request, and a person's browser without scripts."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.github import World, create_app
from sandbox.github.actions import checks
from sandbox.github.caller import Caller
from sandbox.github.model import App, CheckRun, Pull

REPO = "acme/infra"
HOSTILE = """**bold** <script>alert(1)</script> <img src=x onerror=alert(1)>
[click](javascript:alert(1)) [data](data:text/html,x) <!-- hidden words -->
<div class="merge ready" style="position:fixed" onclick="x()">looks like ours</div>
<form action="/acme/infra/pull/1/merge"><button>Approve</button><input name=csrf></form>
<iframe src="/"></iframe><a href="//evil.example" target=_top>x</a> <svg onload=alert(1)>
<meta http-equiv=refresh content=0><base href="//evil.example"><link rel=stylesheet href=x>
"""


class Browser:
    """A person's browser without scripts: reads a page, fills its forms."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.page = ""

    async def open(self, path: str, status: int = 200) -> str:
        return self._read(await self.http.get(path), status)

    def _read(self, answer: httpx.Response, status: int) -> str:
        assert answer.status_code == status, answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        self.page = answer.text
        return self.page

    async def submit(self, path: str, status: int = 200, **fields: str) -> str:
        token = re.search(r'name="csrf" value="(\w+)"', self.page)
        assert token, "the page has no form"
        fields = {"csrf": token[1], **fields}
        answer = await self.http.post(path, data=fields, follow_redirects=True)
        return self._read(answer, status)

    async def sign_in(self, user_id: int) -> str:
        await self.open("/")
        return await self.submit("/_pages/sign-in", user=str(user_id))


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = World(tmp_path, "http://sandbox")
    for login in ("ann", "bob", "cid"):
        found.add_user(login)
    found.add_organisation("acme", owners=["ann"])
    found.add_repository(REPO, collaborators={"bob": "write", "cid": "read"})
    return found


@pytest.fixture
async def pull(world: World) -> Pull:
    bob = world.person("bob")
    await bob.push(REPO, "topic/x", {"docs/a b.md": "# hi\n", "plan.json": '{"a": 1}\n'})
    return await bob.open_pull(REPO, title="Change <things>", head="topic/x", body=HOSTILE)


@pytest.fixture
async def browser(world: World) -> AsyncIterator[Browser]:
    transport = httpx.ASGITransport(create_app(world))
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as http:
        yield Browser(http)
    await world.aclose()


@pytest.fixture
def app(world: World) -> App:
    permissions = {"checks": "write", "pull_requests": "write"}
    found = world.add_app("placet", permissions=permissions, events=["check_run"], owner="acme")
    world.install(found, "acme")
    return found


def run(world: World, app: App, sha: str, **members: Any) -> CheckRun:
    by = Caller("installation", world.state.accounts[app.bot_id], app)
    button = {"label": "Yes", "description": "Say yes", "identifier": "yes"}
    output = {"title": "Waiting for 1 approval", "summary": "**1** approval <script>x</script>"}
    wanted = {"name": "placet", "head_sha": sha, "conclusion": "neutral", "actions": [button]}
    return checks.create(world, world.repository(REPO), by, wanted | {"output": output} | members)


def events(world: World) -> list[tuple[str, str | None]]:
    return [(one.event, one.action) for one in world.deliveries.all]
