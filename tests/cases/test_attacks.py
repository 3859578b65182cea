"""Attacks by somebody who has write access, or an agent's token, and means harm."""

from datetime import timedelta
from typing import Any

import pytest

from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.cases.moments import retarget
from tests.cases.acting import branch, review, say, waits, why_not
from tests.system.conftest import Box
from tests.system.test_check_run_form import asked, digest, opened

pytestmark = pytest.mark.anyio

TWO = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 2}]
"""


async def while_away(here: Town, *deeds: Any) -> None:
    """Let all this happen while Placet is down; it hears of it all at once afterwards."""
    await here.stop()
    for deed in deeds:
        here.world.clock.advance(timedelta(seconds=5))
        await deed
    here.world.clock.advance(timedelta(seconds=5))
    await here.world.settled()
    await here.start()
    await here.rest()


async def test_a_page_that_lied_and_was_put_back_gets_nobodys_yes(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, pull = here.number(seen), here.pull(seen)
    words, noor = pull.body, here.person("noor")
    await while_away(
        here,
        noor.edit_pull(REPOSITORY, number, body="Adds nothing."),
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        noor.edit_pull(REPOSITORY, number, body=words),
    )
    assert await waits(here, seen)
    assert box.runs == 0
    assert "before_opening" in await why_not(here, seen)
    here.world.clock.advance(timedelta(seconds=5))
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"


async def test_closing_is_a_no_though_it_was_opened_again_before_anybody_looked(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await while_away(
        here,
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        here.person("noor").close(REPOSITORY, number),
        here.person("lee").reopen(REPOSITORY, number),
    )
    assert (await here.over(seen))["error"]["code"] == "closed"
    assert box.runs == 0


async def test_another_base_is_the_end_though_it_was_put_back(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, noor = here.number(seen), here.person("noor")
    await while_away(
        here,
        retarget(here, seen),
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        noor.edit_pull(REPOSITORY, number, base="placet/ledger"),
    )
    assert (await here.over(seen))["error"]["code"] == "base_changed"
    assert box.runs == 0


@pytest.mark.parametrize("here", [TWO], indirect=True)
async def test_an_announcement_that_lied_to_the_first_approver_voids_their_yes(
    here: Town, box: Box
) -> None:
    seen = await asked(here, await opened(here))
    run, said = here.check(seen), here.kept(seen).at.announced
    words, dana = here.page(seen).comments[said].body, here.person("dana")
    await dana.edit_comment(SHOP, said, "A harmless plan.")
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    await here.person("lee").press(run.id, "approve")
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    await dana.edit_comment(SHOP, said, words)
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    await here.person("noor").press(run.id, "approve")
    assert await waits(here, seen)
    assert box.runs == 0


async def test_one_announcement_that_names_the_other_plan_gets_it_no_yes(
    here: Town, box: Box
) -> None:
    pull = await opened(here)
    small, large = await asked(here, pull, 4), await asked(here, pull, 4000)
    said = here.kept(small).at.announced
    words = here.page(small).comments[said].body
    lie = words.replace(digest(small), digest(large))
    await here.person("dana").edit_comment(SHOP, said, lie)
    await here.rest()
    here.world.clock.advance(timedelta(seconds=5))
    assert here.page(small).comments[said].body == words


async def test_who_asks_for_an_undo_is_not_who_approves_it(here: Town) -> None:
    pass
