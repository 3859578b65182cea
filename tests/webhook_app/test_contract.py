"""The example of the contract is a whole placet.toml: what it leaves out is the App's own."""

import logging
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from proposals.tools import BadArguments
from tests.running import PEM, SECRET
from webhook_app.app.toolbox import toolbox
from webhook_app.settings import Config, load

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[1] / "data" / "contract.toml"


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("PLACET_APP_ID", "77")
    monkeypatch.setenv("PLACET_PRIVATE_KEY", PEM)
    monkeypatch.setenv("PLACET_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("CAL_TOKEN", "Bearer t")
    return load(EXAMPLE)


def test_it_loads_as_it_stands(config: Config) -> None:
    assert {name: one.kind for name, one in config.settings.upstream.items()} == {
        "fs": "mcp",
        "cal": "mcp",
    }
    assert len(config.tools.tools) == 7


async def test_what_is_called_and_not_declared_is_said_at_the_start(
    config: Config, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = EXAMPLE.read_text().replace(
        "apply = {set = {dryRun = false}}", 'apply = {tool = "fs.x"}'
    )
    (tmp_path / "placet.toml").write_text(text)
    tools = load(tmp_path / "placet.toml").tools
    no_upstreams = config.settings.model_copy(update={"upstream": {}})
    with caplog.at_level(logging.WARNING, "placet.tools"):
        async with AsyncExitStack() as stack:
            _, catalog, _ = await toolbox(stack, Config(no_upstreams, tools, config.root))
    [said] = [record.getMessage() for record in caplog.records if record.name == "placet.tools"]
    assert "is not declared" in said
    with pytest.raises(BadArguments, match="cannot be used"):
        catalog.find("fs.edit_file").validate({})
