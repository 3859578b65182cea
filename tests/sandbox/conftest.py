from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from sandbox.github import create_app
from sandbox.github.world import new_key
from tests.judged import App, JudgedApp
from tests.sandbox.stage import EVENTS, PERMISSIONS, REPO, Hook, Stage, arranged


@pytest.fixture(scope="session")
def app_key() -> str:
    return new_key()


@pytest.fixture
async def stage(
    tmp_path: Path, app_key: str, judged: Callable[[App], JudgedApp]
) -> AsyncIterator[Stage]:
    hook = Hook()
    transport = httpx.ASGITransport(judged(hook.app()))
    world = arranged(tmp_path, transport, "http://github.test")
    app = world.add_app(
        "placet", permissions=PERMISSIONS, events=EVENTS, webhook_secret="s3cret",
        hook_url="http://placet.test/hook", private_key=app_key,
    )  # fmt: skip
    installation = world.install(app, "acme", [REPO])
    whole = judged(create_app(world))
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(whole),
        base_url="http://github.test",
        headers={"x-github-api-version": "2026-03-10", "accept": "application/vnd.github+json"},
    )
    async with client:
        made = Stage(world, app, installation, hook, client, whole)
        path = f"/app/installations/{installation.id}/access_tokens"
        token = await made.ask("POST", path, as_=made.jwt())
        made.token = token.json()["token"]
        yield made
        await world.settled()
    await world.aclose()
