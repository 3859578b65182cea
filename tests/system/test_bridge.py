"""`placet mcp`: the gateway on stdio, for clients that start a program."""

import subprocess
import sys

import pytest
from mcp import Client, StdioServerParameters

from proposals.turn import Scope
from sandbox.stage import AGENT, free_port
from sandbox.testing import Town
from tests.system.conftest import Box
from tests.system.talking import ERAS, at, call

pytestmark = pytest.mark.anyio
PROGRAM = ["-c", "from webhook_app.cli import main; main()", "mcp"]


def bridge(url: str, token: str, **env: str) -> StdioServerParameters:
    env |= {"PLACET_URL": url, "PLACET_TOKEN": token}
    return StdioServerParameters(command=sys.executable, args=PROGRAM, env=env)


@pytest.mark.parametrize("era", ERAS)
async def test_the_bridge_relays_calls_and_answers(here: Town, box: Box, era: str) -> None:
    async with at(here) as url, Client(bridge(url, here.token), mode=era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed[:2] == ["box__add", "box__look"]
        assert await call(client, "box__look", {}) == {"value": 1}
        said = await call(client, "box__add", {"n": 4})
        assert (said["status"], box.runs) == ("awaiting_approval", 0)


async def test_a_server_that_was_started_again_is_found_again(here: Town) -> None:
    async with at(here) as url, Client(bridge(url, here.token), mode="legacy") as client:
        assert await call(client, "box__look", {}) == {"value": 1}
        await here.stop()
        await here.start()
        assert await call(client, "box__look", {}) == {"value": 1}


@pytest.mark.parametrize(
    ("token", "words"),
    [
        pytest.param("wrong", "does not know the token in PLACET_TOKEN", id="wrong-token"),
        pytest.param("", "no connection", id="no-server"),
    ],
)
async def test_what_is_wrong_is_said_to_the_client(here: Town, token: str, words: str) -> None:
    async with at(here) as url:
        server = bridge(url if token else f"http://127.0.0.1:{free_port()}", token or here.token)
        with pytest.raises(BaseExceptionGroup) as error:
            async with Client(server, mode="legacy"):
                pass
    said = str(innermost(error.value))
    assert words in said
    assert "not done" not in said


def innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def test_claude_codes_session_is_known_to_placet_alone(here: Town) -> None:
    async with at(here) as url:
        program = bridge(url, here.token, CLAUDE_CODE_SESSION_ID="conversation-7")
        async with Client(program, mode="legacy") as client:
            said = await call(client, "box__add", {"n": 4})
    assert said["turn_report"]["scope"] == "session"
    scope = Scope(AGENT, "conversation-7")
    report = here.store.turn_report(scope, here.world.clock.now())
    assert [entry["proposal"] for entry in report["entries"]] == [said["proposal"]]


def test_without_a_server_to_ask_it_says_what_to_set() -> None:
    done = subprocess.run(
        [sys.executable, *PROGRAM], env={"PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Set PLACET_URL" in done.stderr
