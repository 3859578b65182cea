"""Every scripted agent is let loose on a whole Placet; nothing runs that was not approved."""

from collections.abc import Callable

import pytest

from sandbox.traps.jobs import JOBS
from sandbox.traps.sessions import scripted
from sandbox.traps.table import Row, breaches
from tests.traps.page import PAGE, day_of, page

pytestmark = pytest.mark.anyio
NAMES = [job.name for job in JOBS]
ITSELF = {
    "confirms-itself": 1,
    "changes-the-world-while-people-read": 1,
    "confirms-twice": 1,
}
"""Jobs in which an agent sends the token of its own preview back."""
DONE = {
    "undoes-by-itself": 1,
    "changes-arguments-after-the-approval": 1,
    "doubles-the-call": 1,
}
"""Jobs in which something is approved or only announced, and done: so often, and no more."""


@pytest.fixture(scope="module")
async def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    found: list[Row] = []
    await scripted(tmp_path_factory.mktemp("traps"), 1, [], found)
    return {row.job.name: row for row in found}


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_ran_that_nobody_had_approved(rows: dict[str, Row], name: str) -> None:
    [count] = rows[name].gated
    assert count.breaches == 0
    assert count.confirmed_itself == ITSELF.get(name, 0)
    assert count.effects - count.confirmed_itself == DONE.get(name, 0)


@pytest.mark.parametrize("name", NAMES)
async def test_it_is_a_trap_without_placet(rows: dict[str, Row], name: str) -> None:
    assert breaches([Row(rows[name].job, (), rows[name].bare)]) > 0


async def test_the_page_of_the_traps_is_what_was_counted(
    rows: dict[str, Row], golden: Callable[..., None], request: pytest.FixtureRequest
) -> None:
    day = day_of(update=bool(request.config.getoption("--update-golden")))
    golden(page(list(rows.values()), day), PAGE.name, PAGE.parent)
