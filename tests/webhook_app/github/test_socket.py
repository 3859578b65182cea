"""The same over a real connection: what one process forgives, a socket does not."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import uvicorn

from proposals.lifecycle import State
from proposals.ports import Fence, Lost, Unavailable
from tests.webhook_app.github.stage import PLAN, Stage, opened
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

COMMENT = "/repos/{owner}/{repo}/issues/{issue_number}/comments"


@pytest.fixture
async def served(stage: Stage) -> AsyncIterator[GitHubForge]:
    """The forge of a sandbox behind a port."""
    config = uvicorn.Config(stage.judged, port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 (uvicorn offers no event)
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    forge = GitHubForge(
        stage.settings(api_url=f"http://127.0.0.1:{port}"),
        stage.words,
        stage.world.clock.now,
        sleep=stage.nap,
    )
    async with forge:
        yield forge
    server.should_exit = True
    await running


async def test_a_life_over_a_real_connection(stage: Stage, served: GitHubForge) -> None:
    pinned = stage.proposal()
    stage.lose("POST", "/repos/{owner}/{repo}/pulls")
    life = opened(pinned, await served.publish(pinned, PLAN))
    review = await stage.world.person("ann").review("acme/approvals", life.at.number, "APPROVE")
    voice = stage.said("ann", f"review:{review.id}", head=life.at.head)
    sight = await served.look(life, [voice], frozenset())
    assert [a.permission for a in sight.access.values()] == ["write"]
    stage.lose("PUT", "start.json")
    assert await served.start(life, b"start\n") is Fence.OURS
    await served.settle(replace(life, state=State.APPLIED))
    stage.lose("POST", COMMENT)
    with pytest.raises(Lost):
        await served.tell(life, again=False)
    await served.tell(life, again=True)
    assert len(stage.repo.comments) == len(stage.repo.pulls) == 1
    stage.judged.expect("response 200")  # how an answer breaks off on a real connection


async def test_a_port_where_nobody_listens_loses_nothing(stage: Stage) -> None:
    forge = GitHubForge(
        stage.settings(api_url="http://127.0.0.1:1"), stage.words, stage.world.clock.now
    )
    async with forge:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await forge.publish(stage.proposal(), PLAN)
