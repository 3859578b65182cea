from collections.abc import AsyncIterator
from datetime import timedelta
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


async def in_vain(here: Town, asked: dict[str, object], who: str) -> None:
    """An approving comment that GitHub could not deliver."""
    here.world.faults.add(DeliveryFault("issue_comment", effect="fail"))
    await here.person(who).comment(REPOSITORY, here.number(asked), "/approve")
    await here.rest()


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({"status": 404}, id="that-github-refuses-to-show"),
        pytest.param({"status": 502}, id="that-github-fails-to-show"),
    ],
)
async def test_a_bad_entry_stops_no_other_and_is_asked_for_again(
    here: Town, bad: dict[str, int]
) -> None:
    asked = await here.propose("crm.update", {"ids": [17]})
    await in_vain(here, asked, "sam")
    await in_vain(here, asked, "lee")
    here.world.clock.advance(timedelta(hours=1))
    lost = missed(here)
    here.world.faults.add(Fault("GET", r"/app/hook/deliveries/\d+$", **bad))  # type: ignore[arg-type]
    assert await lost.fetch() == 1
    here.hall.worker.wake()
    assert (await here.over(asked))["status"] == "applied"
    assert await lost.fetch() == 1, "the bad one is still asked for"
    assert await lost.fetch() == 0


async def test_an_entry_that_github_never_shows_is_given_up(here: Town) -> None:
    await approved_in_vain(here)
    lost = missed(here)
    fault = Fault("GET", r"/app/hook/deliveries/\d+$", status=404, times=99)
    here.world.faults.add(fault)
    for _ in range(7):
        assert await lost.fetch() == 0
    assert fault.seen == 5
    assert lost.since
    assert here.hall.now() - lost.since < timedelta(minutes=6)


async def test_while_github_shows_nothing_only_a_few_are_asked_for(here: Town) -> None:
    asked = await here.propose("crm.update", {"ids": [17]})
    for _ in range(5):
        await in_vain(here, asked, "sam")
    lost = missed(here)
    fault = Fault("GET", r"/app/hook/deliveries/\d+$", status=502, times=99)
    here.world.faults.add(fault)
    assert await lost.fetch() == 0
    assert fault.seen == 3
    here.world.faults.clear()
    assert await lost.fetch() == 5


async def test_after_a_restart_what_was_missed_long_ago_is_fetched_from_every_page(
    here: Town,
) -> None:
    asked = await here.propose("crm.update", {"ids": [17]})
    number = here.number(asked)
    await here.stop()
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    for n in range(120):
        await here.person("sam").comment(REPOSITORY, number, f"hello {n}")
    await here.world.settled()
    here.world.clock.advance(timedelta(hours=3))
    await here.start()
    assert (await here.over(asked))["status"] == "applied"
