"""Mode announce, whole: done at once, read back, announced, and taken back by whoever may write."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from proposals.flow import recover
from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from sandbox.tools import crm
from tests.system.conftest import POLICY, Box
from tests.system.test_later_facts import audited
from tests.system.test_statements import statements
from tests.system.test_undo import tools

pytestmark = pytest.mark.anyio


class Shop:
    """A town whose agent renames customers at once."""

    def __init__(self, here: Town, database: Path) -> None:
        self.here = here
        self.database = database

    def name(self, id_: int = 17) -> str:
        with closing(sqlite3.connect(self.database)) as db:
            return str(db.execute("SELECT name FROM customers WHERE id = ?", (id_,)).fetchone()[0])

    def sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.database)) as db, db:
            db.execute(statement)

    async def rename(self, name: str) -> dict[str, Any]:
        call = {"table": "customers", "column": "name", "ids": [17], "value": name}
        found = await self.here.ask("db.rename", call)
        return dict(found.raise_for_status().json())

    async def comment(self, said: dict[str, Any], words: str, who: str = "lee") -> None:
        await self.here.person(who).comment(REPOSITORY, self.here.number(said), words)
        await self.here.rest()


@pytest.fixture
async def shop(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Shop]:
    database = tmp_path / "crm.db"
    crm.make(database)
    toml = tools(database).replace("[tool.db.rename]\n", '[tool.db.rename]\nmode = "announce"\n')
    policy = POLICY.replace('["box.*"]', '["box.*", "db.*"]')
    async with town(tmp_path / "town", tools=toml, policy=policy, wrap=judged) as here:
        yield Shop(here, database)


async def test_it_is_done_at_once_and_announced_on_a_page_that_is_over(shop: Shop) -> None:
    before = shop.name()
    said = await shop.rename("Ada")
    assert (said["status"], said["executed"], said["already_applied"]) == ("applied", True, False)
    assert said["_verification"]["verdict"] == "verified"
    assert (before, shop.name()) != ("Ada", before)
    await shop.here.rest()
    pull, check = shop.here.pull(said), shop.here.check(said)
    assert pull.merged_at is not None
    assert "without asking anybody" in (pull.body or "")
    assert "cannot approve" not in (pull.body or "")
    assert (check.conclusion, [a["identifier"] for a in check.actions]) == ("success", ["undo"])
    assert "Nobody was asked first." in shop.here.comments(said)[0]
    assert pull.reviewers == []
    again = await shop.rename("Ada")
    assert (again["proposal"], again["already_applied"]) == (said["proposal"], True)
    start, end = (s["predicate"] for s in statements(shop.here))
    assert (start["mode"], start["approvals"], start["confirmed"]) == ("announce", [], None)
    assert (end["outcome"], end["basis"], end["approved_by"]) == ("applied", "verified", [])


@pytest.mark.parametrize("who", ["lee", "dana"], ids=["a-writer", "the-agents-own-person"])
async def test_whoever_may_write_takes_it_back_at_once(shop: Shop, who: str) -> None:
    before = shop.name()
    said = await shop.rename("Ada")
    await shop.here.rest()
    await shop.comment(said, "/undo", who)
    assert shop.name() == before
    seen = await shop.here.seen(said)
    undo = shop.here.store.proposal(str(seen["links"]["undone_by"]).rsplit("/", 1)[-1])
    assert undo is not None
    assert (undo.mode, undo.state.value, undo.undoes) == ("announce", "applied", said["proposal"])
    assert any("Undone, read back" in words for words in shop.here.comments(said))
    assert shop.here.check(said).output["title"] == "Done, and undone since"
    await shop.comment(said, "/undo", who)
    assert shop.name() == before


async def test_a_press_of_the_button_does_the_same(shop: Shop) -> None:
    before = shop.name()
    said = await shop.rename("Ada")
    await shop.here.rest()
    await shop.here.person("lee").press(shop.here.check(said).id, "undo")
    await shop.here.rest()
    assert shop.name() == before


async def test_a_reader_takes_nothing_back(shop: Shop) -> None:
    said = await shop.rename("Ada")
    await shop.here.rest()
    shop.here.world.set_permission(REPOSITORY, "lee", "read")
    await shop.comment(said, "/undo")
    assert shop.name() == "Ada"


async def test_what_was_changed_since_is_not_overwritten(shop: Shop) -> None:
    said = await shop.rename("Ada")
    await shop.here.rest()
    shop.sql("UPDATE customers SET name = 'Eve' WHERE id = 17")
    await shop.comment(said, "/undo")
    assert shop.name() == "Eve"
    assert any("changed since" in words for words in shop.here.comments(said))


async def test_the_agent_itself_takes_nothing_back_without_people(shop: Shop) -> None:
    said = await shop.rename("Ada")
    await shop.here.rest()
    async with shop.here.http() as http:
        asked = (await http.post(f"/v1/proposals/{said['proposal']}/undo")).json()
    await shop.here.rest()
    assert shop.name() == "Ada"
    assert (await shop.here.seen(asked))["status"] == "awaiting_approval"


async def test_a_freeze_holds_it_up_and_nothing_is_done(shop: Shop) -> None:
    before = shop.name()
    shop.here.store.halt("stop!", shop.here.world.clock.now())
    said = await shop.rename("Ada")
    assert (said["status"], said["error"]["code"]) != ("applied", None)
    assert ("stop!" in said["error"]["message"], shop.name()) == (True, before)
    shop.here.store.resume()
    done = await shop.rename("Ada")
    assert (done["status"], done["proposal"]) == ("applied", said["proposal"])


async def test_the_ledger_is_clean_to_a_stranger(shop: Shop) -> None:
    said = await shop.rename("Ada")
    await shop.here.rest()
    await shop.comment(said, "/undo")
    await shop.rename("Bob")
    await shop.here.rest()
    assert audited(shop.here).findings == ()


async def test_an_unknown_outcome_is_announced_and_settled_by_whoever_may_write(
    tmp_path: Path, box: Box
) -> None:
    """No rule of the policy is about it, so the policy's people are not asked for."""
    toml = box.toml().replace('targets = ["acme/shop"]\n', "")
    undo = f'effect = "write"\nmode = "announce"\nundo_command = ["{sys.executable}"]\n'
    toml = toml.replace('effect = "write"\n', undo, 1)
    policy = POLICY.replace("box.*", "other.*")
    async with town(tmp_path / "town", tools=toml, policy=policy) as here:
        box.breaks("hang")
        work = asyncio.create_task(here.ask("box.add", {"n": 4}))
        async with asyncio.timeout(20):
            while box.runs == 0 or box.value == 1:  # noqa: ASYNC110 (another process writes it)
                await asyncio.sleep(0.01)
        box.value = 77
        said = (await work).json()
        assert (said["status"], said["executed"], box.runs) == ("unknown", None, 1)
        await here.rest()
        assert here.pull(said).merged_at is None
        digest = said["digest"].removeprefix("sha256:")[:12]
        words = f"/resolve {digest} applied I looked"
        await here.person("lee").comment(REPOSITORY, here.number(said), words)
        over = await here.over(said)
        assert (over["status"], over["_verification"]["verdict"]) == ("applied", "asserted")


async def test_a_recovery_that_is_tried_again_leaves_alone_what_a_door_does_meanwhile(
    shop: Shop,
) -> None:
    """It took a call that waited for the ledger's line for crashed; then the tool ran."""
    await shop.rename("Bob")
    await shop.here.rest()
    ports = shop.here.hall.ports
    async with ports.lines.of(next(iter(ports.repositories.values()))):
        calling = asyncio.create_task(shop.rename("Ada"))
        while not shop.here.store.proposals(state=State.STARTED):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        assert await recover(ports) == []
    said = await calling
    assert (said["status"], said["executed"], shop.name()) == ("applied", True, "Ada")
    assert not shop.here.store.problems()


async def test_a_page_that_github_refuses_is_tried_again_and_the_operator_is_told(
    shop: Shop,
) -> None:
    here = shop.here
    pulls = "/repos/{owner}/{repo}/pulls"
    here.world.faults.add(Fault("POST", pulls, status=422, message="Validation Failed"))
    said = await shop.rename("Ada")
    await here.rest()
    assert here.kept(said).place is None
    [problem] = here.store.problems()
    assert (problem.code, problem.proposal) == ("refused", said["proposal"])
    here.world.clock.advance(timedelta(minutes=6))
    await here.until(said, lambda p: p.place is not None)
    await here.rest()
    assert "Done" in here.comments(said)[-1]
    assert here.store.problems() == []
