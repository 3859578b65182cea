from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from proposals.plan import Proposal
from sandbox.github.app import create_app
from sandbox.github.world import World, new_key
from tests.judged import App, JudgedApp
from tests.webhook_app.github.stage import EVENTS, PERMISSIONS, POLICY, REPO, URL, Stage, opened
from webhook_app.github import GitHubForge


@pytest.fixture(scope="session")
def private_key() -> str:
    return new_key()


@pytest.fixture
async def stage(
    private_key: str, tmp_path: Path, judged: Callable[[App], JudgedApp]
) -> AsyncIterator[Stage]:
    world = World(tmp_path, URL)
    for login in ("ann", "ben", "dana", "olga"):
        world.add_user(login)
    world.add_organisation("acme", owners=["olga"])
    world.add_team("acme", "finance", members=["ann"], pending=["ben"])
    world.add_repository(
        REPO,
        files={".github/placet.yml": POLICY},
        collaborators={"ann": "write", "ben": "read", "dana": "write"},
    )
    app = world.add_app("placet", permissions=PERMISSIONS, events=EVENTS, private_key=private_key)
    installation = world.install(app, "acme", [REPO])
    yield Stage(world, app, installation, judged(create_app(world)))
    await world.aclose()


@pytest.fixture
async def forge(stage: Stage) -> AsyncIterator[GitHubForge]:
    async with stage.forge() as made:
        yield made


@pytest.fixture
async def proposal(stage: Stage, forge: GitHubForge) -> Proposal:
    """A proposal with its page; nothing is counted of its opening."""
    pinned = stage.proposal()
    place = await forge.publish(pinned, b"{}\n")
    stage.counts()
    return opened(pinned, place)
