"""What tools are called on the wire."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proposals.tools import Catalog, Tool
from tests.running import Running, running
from webhook_app.doors.hall import Hall
from webhook_app.doors.mcp.naming import wired
from webhook_app.settings import Upstream

pytestmark = pytest.mark.anyio


@pytest.fixture
async def placet(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as placet:
        yield placet


def declaring(placet: Running, *names: str, **upstreams: Any) -> Hall:
    """The hall with these reads, and these prefixes of upstreams."""
    tools = [Tool(name=n, kind="command", effect="read", read=("x",)) for n in names]
    upstream = {name: Upstream(command=("x",), prefix=p) for name, p in upstreams.items()}
    return replace(
        placet.hall,
        ports=replace(placet.hall.ports, catalog=Catalog.of(tools)),
        settings=placet.hall.settings.model_copy(update={"upstream": upstream}),
    )


async def test_a_dot_becomes_two_underscores(placet: Running) -> None:
    assert list(wired(declaring(placet, "fs.write_file", "db.drop"))) == [
        "db__drop",
        "fs__write_file",
    ]


async def test_an_upstream_may_have_another_prefix_or_none(placet: Running) -> None:
    hall = declaring(placet, "fs.write", "db.drop", fs="files", db="")
    assert {wire: tool.name for wire, tool in wired(hall).items()} == {
        "drop": "db.drop",
        "files__write": "fs.write",
    }
