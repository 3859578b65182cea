from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandbox.github.faults import DeliveryFault, Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.running import ROWS
from webhook_app.app.forge import NamedForge
from webhook_app.app.missed import Missed

pytestmark = pytest.mark.anyio
TOOLS = """
[tool.crm.update]
kind = "command"
effect = "write"
plan = ["./rows.py", "plan"]
apply = ["./rows.py", "apply"]
[tool.crm.update.arguments.properties.ids]
type = "array"
"""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    (tmp_path / "rows.py").write_text(ROWS)
    (tmp_path / "rows.py").chmod(0o755)
    async with town(tmp_path, tools=TOOLS) as here:
        yield here


def missed(here: Town, accounts: frozenset[int] | None = None) -> Missed:
    hall, forge = here.hall, here.hall.ports.forge
    assert isinstance(forge, NamedForge)
    listed = hall.settings.accounts if accounts is None else accounts
    app = hall.settings.app_id
    return Missed(here.store, forge.log, app, listed, hall.bot, hall.now)


async def approved_in_vain(here: Town) -> dict[str, object]:
    """A proposal whose approving review GitHub could not deliver."""
    asked = await here.propose("crm.update", {"ids": [17]})
    here.world.faults.add(DeliveryFault("pull_request_review", effect="fail"))
    await here.person("lee").review(REPOSITORY, here.number(asked), "APPROVE")
    await here.rest()
    assert (await here.seen(asked))["status"] == "awaiting_approval"
    return asked


async def test_an_approval_that_never_arrived_is_fetched_and_counts(here: Town) -> None:
    asked = await approved_in_vain(here)
    lost = missed(here)
    assert await lost.fetch() == 1
    here.hall.worker.wake()
    assert (await here.over(asked))["status"] == "applied"
    assert await lost.fetch() == 0
    assert await missed(here).fetch() == 0


async def test_what_we_do_is_known_as_ours_although_github_was_down_at_the_start(
    here: Town,
) -> None:
    await here.stop()
    here.world.faults.add(Fault("GET", "/app", status=500))
    await here.start()
    await here.rest()
    assert here.hall.bot() is None
    asked = await here.propose("crm.update", {"ids": [17]})
    await here.rest()
    assert (await here.seen(asked))["status"] == "awaiting_approval"
    assert not here.kept(asked).moved
    assert here.hall.bot() == here.stage.app.bot_id


async def test_nothing_is_fetched_for_an_account_that_is_not_listed(here: Town) -> None:
    asked = await approved_in_vain(here)
    assert await missed(here, frozenset({1})).fetch() == 0
    here.hall.worker.wake()
    await here.rest()
    assert (await here.seen(asked))["status"] == "awaiting_approval"
