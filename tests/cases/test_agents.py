"""What users of agent frameworks reported and no other test shows."""

import asyncio
import contextlib
from typing import Any

import pytest

from proposals.lifecycle import State
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.conftest import Box
from tests.system.talking import at, call, talking
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio


async def test_one_agent_that_waits_holds_up_no_other_and_no_id_is_of_two(
    here: Town, box: Box
) -> None:
    here.store.add_agent("other", token_hash("other"), frozenset({1}), here.world.clock.now())
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(at(here))
        first = await stack.enter_async_context(talking(url, here.token, "legacy", session="s"))
        other = await stack.enter_async_context(talking(url, "other", "legacy", session="s"))
        said = await call(first, "box__add", {"n": 4})
        waiting = asyncio.create_task(
            call(first, "placet_status", {"proposal": said["proposal"], "wait": 25})
        )
        theirs = await call(other, "box__add", {"n": 4})
        assert (theirs["status"], waiting.done()) == ("awaiting_approval", False)
        assert theirs["proposal"] != said["proposal"]
        asked: dict[str, Any] = {"proposal": said["proposal"]}
        assert (await call(other, "placet_status", asked))["error"]["code"] == "not_found"
        await here.person("lee").review(REPOSITORY, here.number(theirs), "APPROVE")
        await here.until(theirs, lambda p: p.state is State.APPLIED)
        assert (box.runs, here.kept(said).state) == (1, State.OPEN)
        waiting.cancel()


@pytest.mark.parametrize("name", ["no-file", "renamed"])
async def test_a_policy_that_is_missing_lets_nobody_approve(
    here: Town, box: Box, name: str
) -> None:
    text = here.world.repository(REPOSITORY).git
    old = text.blob(str(text.entry(text.commit_of("main"), ".github/placet.yml").id)).decode()
    files = {".github/placet.yml": None} | (
        {".github/placet.yaml": old} if name != "no-file" else {}
    )
    await here.person("noor").push(REPOSITORY, "main", files)
    said = await here.propose("box.add", {"n": 4})
    for who in ("lee", "noor"):
        await here.person(who).review(REPOSITORY, here.number(said), "APPROVE")
    await here.rest()
    assert (box.runs, here.kept(said).state) == (0, State.OPEN)
