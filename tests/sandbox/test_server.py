"""Over real sockets: uvicorn, git and httpx."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp

from sandbox.github import Fault, World, create_app
from tests.sandbox.stage import PERMISSIONS, REPO, Hook, R, arranged

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[str]:
    """Serve on a free port of this machine and give the address."""
    config = uvicorn.Config(
        app, port=0, log_level="critical", lifespan="on", date_header=False, server_header=False
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


async def git(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "credential.helper=", *words]
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_TERMINAL_PROMPT": "0", "HOME": str(cwd)}
    return await asyncio.to_thread(
        subprocess.run, command, cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


@asynccontextmanager
async def running(root: Path) -> AsyncIterator[World]:
    world = arranged(root / "git", None, "http://unset")
    async with served(create_app(world)) as url:
        world.url = url
        yield world


async def test_deliveries_go_over_real_http(tmp_path: Path, app_key: str) -> None:
    hook = Hook()
    async with served(hook.app()) as receiver, running(tmp_path) as world:
        app = world.add_app(
            "placet", permissions=PERMISSIONS, events=["push"], hook_url=f"{receiver}/hook",
            private_key=app_key,
        )  # fmt: skip
        world.install(app, "acme")
        await world.person("ann").push(REPO, "b", {"x": "y"})
        await world.settled()
    assert hook.events() == ["installation.created", "push"]
    assert hook.last("push")["repository"]["clone_url"] == f"{world.url}/{REPO}.git"


async def test_a_hook_that_nobody_serves_is_a_failed_delivery(tmp_path: Path, app_key: str) -> None:
    async with running(tmp_path) as world:
        app = world.add_app(
            "placet", permissions={}, events=[], hook_url="http://127.0.0.1:9/", private_key=app_key
        )
        world.install(app, "acme")
        await world.settled()
        assert [d.status for d in world.deliveries.all] == ["failed to connect to host"]


async def test_a_clone_is_whole_and_a_push_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await world.person("ann").push(REPO, "plan", {"plan.json": "{}\n"})
        await world.person("ann").open_pull(REPO, title="t", head="plan")
        token = world.token_for("sam")
        url = f"{world.url}/{REPO}.git".replace("http://", f"http://sam:{token}@")
        done = await git("clone", "-q", url, "clone", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        clone = tmp_path / "clone"
        assert (clone / "README.md").read_text() == "hello\n"
        checked = await git("fsck", "--strict", cwd=clone)
        assert (checked.returncode, checked.stderr) == (0, "")
        fetched = await git("fetch", "-q", "origin", "refs/pull/1/head", cwd=clone)
        assert fetched.returncode == 0, fetched.stderr
        pushed = await git("push", "origin", "HEAD:refs/heads/evil", cwd=clone)
        assert pushed.returncode != 0
        assert "403" in pushed.stderr
        assert world.repository(REPO).git.branch("evil") is None


async def test_a_private_repository_is_not_cloned_without_a_token(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        done = await git("clone", "-q", f"{world.url}/{REPO}.git", "clone", cwd=tmp_path)
        assert done.returncode != 0
        world.repository(REPO).private = False
        done = await git("clone", "-q", f"{world.url}/{REPO}.git", "clone", cwd=tmp_path)
        assert done.returncode == 0, done.stderr


async def test_a_dropped_connection_is_one_for_a_real_client_too(tmp_path: Path) -> None:
    async with running(tmp_path) as world, httpx.AsyncClient(base_url=world.url) as client:
        world.faults.add(Fault("GET", R, drop=True))
        headers = {"authorization": f"Bearer {world.token_for('ann')}"}
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(R, headers=headers)
        assert (await client.get(R, headers=headers)).status_code == 200


async def test_the_api_also_answers_where_an_enterprise_server_has_it(tmp_path: Path) -> None:
    async with running(tmp_path) as world, httpx.AsyncClient(base_url=world.url) as client:
        headers = {"authorization": f"Bearer {world.token_for('ann')}"}
        assert (await client.get(f"/api/v3{R}", headers=headers)).json()["full_name"] == REPO


async def test_the_only_date_is_that_of_the_sandbox_clock(tmp_path: Path) -> None:
    async with running(tmp_path) as world, httpx.AsyncClient(base_url=world.url) as client:
        world.clock.advance(timedelta(days=3))
        world.clock.freeze()
        answer = await client.get("/meta")
        assert answer.headers.get_list("date") == [world.clock.date_header()]


@pytest.mark.parametrize("rest", ["info/refs?service=git-receive-pack", "HEAD", "git-receive-pack"])
async def test_git_serves_nothing_but_reads(tmp_path: Path, rest: str) -> None:
    async with running(tmp_path) as world, httpx.AsyncClient(base_url=world.url) as client:
        headers = {"authorization": f"Bearer {world.token_for('boss')}"}
        answer = await client.get(f"/{REPO}.git/{rest}", headers=headers)
        assert (answer.status_code, "takes no pushes" in answer.text) == (403, True)
