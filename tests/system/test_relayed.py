"""Resources, prompts and completion of upstreams: only where the operator says so, and bare."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextResourceContents

from sandbox.testing import Town, town
from tests.mcp_servers.offered import calendar
from tests.system.talking import ERAS, at, talking

pytestmark = pytest.mark.anyio
FIXTURE = [sys.executable, str(Path(__file__).parents[1] / "conformance" / "fixture.py")]
ALL = 'relay = ["resources", "prompts", "completion"]\n'
WORDS = {"test://static-text": "static text", "test://template/7/data": '"7"'}
TEMPLATE = "test://template/{id}/data"


@asynccontextmanager
async def reading(
    folder: Path, era: str, *, relay: str = ALL, more: str = ""
) -> AsyncIterator[tuple[Town, Client]]:
    tools = f"[upstream.one]\ncommand = {FIXTURE}\n{relay}{more}"
    async with (
        town(folder / "town", tools=tools) as here,
        at(here) as url,
        talking(url, here.token, era) as client,
    ):
        yield here, client


def second(folder: Path) -> str:
    """A calendar beside it, which relays everything and has nothing."""
    (folder / "cal").mkdir()
    return f"[upstream.cal]\ncommand = {list(calendar(folder / 'cal'))}\n{ALL}"


@pytest.mark.parametrize("era", ERAS)
async def test_nothing_is_relayed_that_is_not_declared(tmp_path: Path, era: str) -> None:
    async with reading(tmp_path, era, relay="") as (_, client):
        assert client.server_capabilities.resources is None
        assert client.server_capabilities.prompts is None
        with pytest.raises(MCPError):
            await client.read_resource("test://static-text")
        with pytest.raises(MCPError):
            await client.get_prompt("one__test_simple_prompt")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("upstreams", [1, 2])
async def test_what_is_declared_is_read_from_its_upstream_and_counted(
    tmp_path: Path, era: str, upstreams: int
) -> None:
    more = second(tmp_path) if upstreams > 1 else ""
    async with reading(tmp_path, era, more=more) as (here, client):
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        assert "test://static-text" in listed
        for uri, words in {
            "test://static-text": "static text",
            "test://template/7/data": '"7"',
        }.items():
            (found,) = (await client.read_resource(uri)).contents
            assert isinstance(found, TextResourceContents)
            assert words in found.text
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert "one__test_simple_prompt" in names
        assert (await client.get_prompt("one__test_simple_prompt")).messages
        prompt = PromptReference(name="one__test_prompt_with_arguments")
        template = ResourceTemplateReference(uri=TEMPLATE)
        for ref in (prompt, template):
            said = await client.complete(ref, {"name": "arg1", "value": "pa"})
            assert said.completion.values == ["paris", "park"]
        assert 'placet_calls_total{status="executed"}' in here.hall.metrics.text().decode()
        with pytest.raises(MCPError):
            await client.get_prompt("two__test_simple_prompt")
        with pytest.raises(MCPError):
            await client.read_resource("elsewhere://x")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        pytest.param("http://evil.example.com", 403, id="another-site"),
        pytest.param("null", 403, id="no-site"),
        pytest.param("http://[", 403, id="no-address"),
        pytest.param("http://localhost:6274", 400, id="a-page-of-this-machine"),
        pytest.param("http://127.0.0.1:2", 400, id="our-own-page"),
        pytest.param(None, 400, id="a-program"),
    ],
)
async def test_a_page_of_another_site_is_refused(
    tmp_path: Path, origin: str | None, status: int
) -> None:
    async with reading(tmp_path, "legacy") as (here, _), here.http() as http:
        headers = {"Origin": origin} if origin else {}
        said: httpx.Response = await http.post("/mcp", json={}, headers=headers)
    assert said.status_code == status


@pytest.mark.parametrize("uri", WORDS)
async def test_what_two_upstreams_claim_is_read_from_neither(tmp_path: Path, uri: str) -> None:
    """One upstream listed another's address, or had a longer template, and answered for it."""
    twin = f"[upstream.two]\ncommand = {FIXTURE}\n{ALL}"
    async with reading(tmp_path, ERAS[0], more=twin) as (_, client):
        with pytest.raises(MCPError, match="one and two both claim it"):
            await client.read_resource(uri)
