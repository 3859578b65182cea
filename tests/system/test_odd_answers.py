"""A client that answers a question of Placet's with what is no answer: as though it had not."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.testing import Town, town
from tests.cases.test_attacks_third_mcp import OPENING, Raw, bridged
from tests.system.conftest import POLICY, Box
from tests.system.talking import at
from tests.system.test_confirm import confirming

pytestmark = pytest.mark.anyio

NO_ANSWERS = {
    "no-action": {},
    "unknown-action": {"action": "yes please"},
    "action-is-a-list": {"action": ["accept"]},
    "content-is-text": {"action": "accept", "content": "x"},
}


async def told(agent: Raw, can: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """What became of a call, once whoever was asked about it has given this answer."""
    await agent.send(1, "initialize", **OPENING | {"capabilities": {"elicitation": can}})
    await agent.answer(1)
    await agent.send(None, "notifications/initialized")
    await agent.call(2, "box__add", n=4)
    asked = await question(agent)
    said = {"jsonrpc": "2.0", "id": asked["id"], "result": answer}
    await agent.write(json.dumps(said).encode())
    return dict((await agent.answer(2))["result"]["structuredContent"])


async def question(agent: Raw) -> dict[str, Any]:
    stdout = agent._process.stdout  # noqa: SLF001 (it is this test's)
    assert stdout is not None
    while True:
        said: dict[str, Any] = json.loads(await asyncio.wait_for(stdout.readline(), 60))
        assert said.get("id") != 2, said
        if said.get("method") == "elicitation/create":
            return said


@pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS)
async def test_no_answer_to_a_form_leaves_the_preview_as_it_is(
    tmp_path: Path, box: Box, judged: Callable[[Any], Any], answer: dict[str, Any]
) -> None:
    async with (
        town(tmp_path / "town", tools=confirming(box), policy=POLICY, wrap=judged) as here,
        at(here) as url,
        bridged(url, here.token) as agent,
    ):
        said = await told(agent, {}, answer)
        assert (said["status"], said["executed"], box.runs) == ("confirmation_required", False, 0)
        await agent.call(3, "box__add", n=4, placet={"confirm_token": said["confirm_token"]})
        done = (await agent.answer(3))["result"]["structuredContent"]
    assert (done["status"], box.runs) == ("applied", 1)


@pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS)
async def test_no_answer_to_the_offer_of_a_page_leaves_the_proposal_as_it_is(
    here: Town, box: Box, answer: dict[str, Any]
) -> None:
    async with at(here) as url, bridged(url, here.token) as agent:
        said = await told(agent, {"url": {}}, answer)
    assert (said["status"], box.runs) == ("awaiting_approval", 0)
    assert said["pull_request"]
