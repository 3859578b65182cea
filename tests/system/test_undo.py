"""Undo: what was applied is taken back by a proposal of its own, as the world is by then."""

import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import sandbox.tools.rows
from proposals import flow
from proposals.flow import Refusal
from proposals.plan import Proposal
from proposals.ports import Order, Reading
from sandbox.stage import AGENT, REPOSITORY
from sandbox.testing import Town, town
from sandbox.tools import crm
from tests.system.acting import approve
from tests.system.test_later_facts import audited, ends
from tests.system.test_main_job import ledger
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio

POLICY = """\
version: 1
rules:
  - tools: ["crm.*", "db.*"]
    require: [{approvals: 1}]
    expires: 4h
"""
ROWS = [sys.executable, str(sandbox.tools.rows.__file__)]
ARGUMENTS = """{required = ["table", "ids", "column", "value"], properties = {
    table = {type = "string"}, column = {type = "string"}, value = {type = "string"},
    ids = {type = "array", items = {type = "integer"}}}}"""


def tools(database: Path) -> str:
    """A Python tool and a command that can be undone, and the command once more that cannot."""
    places = "\n".join(
        f'{env} = {{DATABASE = "file:{database}?mode={mode}", COLUMNS = "customers.name"}}'
        for env, mode in (("plan_env", "ro"), ("apply_env", "rw"))
    )
    rename = f"""kind = "command"
effect = "write"
plan = {[*ROWS, "plan"]}
apply = {[*ROWS, "apply"]}
verify_command = {[*ROWS, "verify"]}
arguments = {" ".join(ARGUMENTS.split())}
{places}
"""
    return f"""
[tool.crm.deactivate]
kind = "python"
effect = "destructive"
module = "sandbox.tools.customers"
summary = "Deactivate {{count:customer}} in crm.db"
{places}

[tool.db.rename_for_ever]
{rename}
[tool.db.rename]
undo_command = {[*ROWS, "undo"]}
{rename}
"""


CALL = {"ids": [17, 23]}
ALL = set(crm.CUSTOMERS)


class Shop:
    """A town whose agent has customers to deactivate and to rename."""

    def __init__(self, here: Town, database: Path) -> None:
        self.here = here
        self.database = database

    def active(self) -> set[int]:
        return crm.active(self.database)

    def names(self, *ids: int) -> list[str]:
        with closing(sqlite3.connect(self.database)) as db:
            found = dict(db.execute("SELECT id, name FROM customers"))
        return [found[i] for i in ids]

    def sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.database)) as db, db:
            db.execute(statement)

    async def done(self, tool: str = "crm.deactivate", arguments: Any = None) -> dict[str, Any]:
        """Something that was asked for, approved and applied."""
        seen = await self.here.propose(tool, arguments or CALL)
        over = await approve(self.here, seen)
        assert over["status"] == "applied", over
        return over

    async def renamed(self, name: str, *ids: int, tool: str = "db.rename") -> dict[str, Any]:
        call = {"table": "customers", "column": "name", "ids": list(ids), "value": name}
        return await self.done(tool, call)

    async def undo(self, seen: dict[str, Any], status: int = 200) -> dict[str, Any]:
        """Ask for an undo as the agent does, and wait until its page stands if it gets one."""
        async with self.here.http() as http:
            answer = await http.post(f"/v1/proposals/{seen['proposal']}/undo")
        assert answer.status_code == status, answer.text
        await self.here.rest()
        said = dict(answer.json())
        return await self.here.seen(said) if answer.is_success else said

    def asked(self) -> dict[str, Any]:
        """The one undo that waits."""
        [undo] = [p for p in self.undos() if p.state == "open"]
        return {"proposal": undo.id}

    def undos(self) -> list[Proposal]:
        return [p for p in self.here.store.proposals() if p.undoes]

    async def comment(self, who: str, seen: dict[str, Any], words: str) -> None:
        await self.here.person(who).comment(REPOSITORY, self.here.number(seen), words)
        await self.here.rest()


@pytest.fixture
async def shop(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Shop]:
    database = tmp_path / "crm.db"
    crm.make(database)
    async with town(tmp_path / "town", tools=tools(database), policy=POLICY, wrap=judged) as here:
        yield Shop(here, database)


async def test_a_button_asks_and_an_approved_undo_restores_and_reads_back(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    assert shop.active() == ALL - {17, 23}
    assert [a["identifier"] for a in here.check(done).actions] == ["undo"]
    assert here.check(done).conclusion == "success"
    await here.person("lee").press(here.check(done).id, "undo")
    await here.rest()
    asked = await here.seen(shop.asked())
    assert (asked["status"], asked["summary"], shop.active()) == (
        "awaiting_approval",
        "Undo: Deactivate 2 customers in crm.db",
        ALL - {17, 23},
    )
    over = await approve(here, asked, "noor")
    assert (over["status"], over["_verification"]["verdict"]) == ("applied", "verified")
    assert shop.active() == ALL
    assert [c["expected"] for c in over["_verification"]["checks"]] == [True, True]


async def test_both_name_each_other_everywhere(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    asked = await shop.undo(done)
    undo, original = asked["proposal"], done["proposal"]
    assert any(here.pull(asked).number == number for number in _linked(here, done))
    assert f"**Takes back:** what proposal `{original}` did" in here.pull(asked).body
    assert "**Can be undone:** no" in here.pull(asked).body
    await approve(here, asked)
    assert (await here.seen(done))["links"]["undone_by"].endswith(undo)
    assert (await here.seen(asked))["links"]["undoes"].endswith(original)
    assert "has been undone since" in (await here.seen(done))["say_to_user"]
    title = here.check(done).output["title"]
    assert (title, here.check(done).actions) == ("Done, and undone since", [])
    assert f"by proposal `{undo}`" in here.check(done).output["summary"]
    assert here.check(asked).actions == []
    files = ledger(here.world.repository(REPOSITORY).git)
    said = [json.loads(d) for p, d in files.items() if undo in p and "plan.json" not in p]
    assert [s["statement"]["predicate"]["undoes"] for s in said] == [original, original]


async def test_the_ledger_says_of_the_original_that_it_was_undone(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    asked = await shop.undo(done)
    await approve(here, asked)
    [first, later] = ends(here, done)
    assert (first["outcome"], later["fact"]) == ("applied", "undone")
    assert later["undone_by"] == {"proposal": asked["proposal"], "digest": asked["digest"]}
    report = audited(here)
    assert (report.findings, report.notes) == ((), ())
    assert report.rows[0].outcome == "applied (verified), undone"


def _linked(here: Town, seen: dict[str, Any]) -> list[int]:
    """The numbers of the pull requests that Placet names on a proposal's page."""
    said = " ".join(here.comments(seen)).split()
    return [int(word.rsplit("/", 1)[1]) for word in said if "/pull/" in word and word[-1].isdigit()]


async def test_the_plan_of_an_undo_can_be_taken_for_no_call(shop: Shop) -> None:
    done = await shop.done()
    undo = shop.here.kept(await shop.undo(done))
    called, tool = shop.here.kept(done).plan.plan["tool"], undo.plan.plan["tool"]
    assert isinstance(called, dict)
    assert called["undo"] is True
    assert "verb" not in called
    assert tool == {**called, "verb": "undo", "undo": False}
    assert undo.arguments == shop.here.kept(done).arguments


async def test_asking_twice_gives_the_same_undo_and_it_is_done_once(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    asked = await shop.undo(done)
    assert (await shop.undo(done))["proposal"] == asked["proposal"]
    await shop.comment("lee", done, "/undo")
    assert any("asked already" in said for said in here.comments(done))
    await approve(here, asked)
    assert (await shop.undo(done))["status"] == "applied"
    await shop.comment("lee", done, "/undo")
    assert any("undone already" in said for said in here.comments(done))
    assert len(shop.undos()) == 1


async def test_an_undo_that_was_refused_can_be_asked_for_again(shop: Shop) -> None:
    done = await shop.done()
    asked = await shop.undo(done)
    await shop.comment("lee", asked, "/reject")
    again = await shop.undo(done)
    assert again["proposal"] != asked["proposal"]
    assert (await shop.here.seen(done))["links"]["undone_by"] is None
    await approve(shop.here, again)
    assert shop.active() == ALL


async def test_the_people_behind_the_agent_may_ask_for_an_undo_but_not_approve_it(
    shop: Shop,
) -> None:
    here, done = shop.here, await shop.done()
    await shop.comment("dana", done, "/undo")
    asked = await here.seen(shop.asked())
    page = here.pull(asked).body or ""
    assert "`@dana`, who cannot approve it. It was done by agent `cleanup-bot`" in page
    assert "working for `@dana`, who cannot approve it" in page
    dana = here.world.account("dana").id
    assert here.kept(asked).identities == {dana}, "whoever the agent works for by then"
    await here.person("dana").review(REPOSITORY, here.number(asked), "APPROVE")
    await here.rest()
    assert (await here.seen(asked))["status"] == "awaiting_approval"
    assert "the agent works for them" in here.check(asked).output["title"]
    assert shop.active() == ALL - {17, 23}
    assert (await approve(here, asked))["status"] == "applied"


async def test_whoever_asked_for_an_undo_does_not_approve_it(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    await shop.comment("lee", done, "/undo")
    asked = shop.asked()
    await here.person("lee").review(REPOSITORY, here.number(asked), "APPROVE")
    await here.rest()
    assert (await here.seen(asked))["status"] == "awaiting_approval"
    assert "they asked for it" in here.check(asked).output["title"]
    assert any("you asked for it yourself" in said for said in here.comments(asked))
    assert (await approve(here, asked, "noor"))["status"] == "applied"
    statement = here.store.statement(asked["proposal"], "start")
    assert statement
    excluded = json.loads(statement.text)["statement"]["predicate"]["excluded"]
    assert excluded["askers"] == [here.world.account("lee").id]


async def test_whoever_may_not_decide_may_not_ask_either(shop: Shop) -> None:
    done = await shop.done()
    await shop.comment("sam", done, "/undo")
    assert shop.undos() == []
    assert any(said.startswith("@sam, ") for said in shop.here.comments(done))


async def test_an_undo_names_the_plan_it_takes_back_or_none(shop: Shop) -> None:
    done = await shop.done()
    await shop.comment("lee", done, "/undo 0123456789ab")
    assert shop.undos() == []
    await shop.comment("lee", done, f"/undo {done['digest']}")
    assert len(shop.undos()) == 1


async def test_what_was_changed_since_is_a_conflict_that_says_what(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    shop.sql("UPDATE customers SET name = 'Birch' WHERE id = 23")
    told = await shop.undo(done)
    assert (told["status"], told["error"]["code"]) == ("ended", "undo_conflict")
    assert '1 of 2 changed since: customer 23 is {"active": false, "name": "Birch"}' in _plain(told)
    assert told["pull_request"] is None
    await shop.comment("lee", done, "/undo")
    assert any("would overwrite that" in s and "Birch" in s for s in here.comments(done))
    assert shop.active() == ALL - {17, 23}


def _plain(told: dict[str, Any]) -> str:
    """The reason with its JSON in key order."""
    return str(told["error"]["message"]).replace(
        '{"name": "Birch", "active": false}', '{"active": false, "name": "Birch"}'
    )


async def test_what_is_as_before_is_undone_already(shop: Shop) -> None:
    done = await shop.done()
    shop.sql("UPDATE customers SET active = 1")
    assert (await shop.undo(done))["error"]["code"] == "already_undone"


async def test_a_change_between_asking_and_approving_undoes_nothing(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    asked = await shop.undo(done)
    shop.sql("UPDATE customers SET active = 1 WHERE id = 17")
    over = await approve(here, asked)
    assert (over["status"], over["error"]["code"]) == ("ended", "undo_conflict")
    assert here.check(asked).output["title"] == "Not undone: it was changed since"
    assert shop.active() == ALL - {23}


async def test_a_tool_without_an_undo_says_so_before_and_after(shop: Shop) -> None:
    here, done = shop.here, await shop.renamed("Ada", 17, tool="db.rename_for_ever")
    assert "**Can be undone:** no" in here.pull(done).body
    assert here.check(done).actions == []
    assert not any("/undo" in said for said in here.comments(done))
    assert (await shop.undo(done, 409))["code"] == "irreversible"
    await shop.comment("lee", done, "/undo")
    assert any("cannot take back what it did" in said for said in here.comments(done))


async def test_only_what_was_applied_is_undone_and_an_undo_is_not(shop: Shop) -> None:
    waiting = await shop.here.propose("crm.deactivate", CALL)
    assert (await shop.undo(waiting, 409))["code"] == "nothing_to_undo"
    await shop.comment("lee", waiting, "/undo")
    assert any("nothing here that Placet could undo" in s for s in shop.here.comments(waiting))
    await approve(shop.here, waiting)
    undone = await approve(shop.here, await shop.undo(waiting))
    assert (await shop.undo(undone, 409))["code"] == "irreversible"


async def test_the_newest_change_of_a_thing_is_undone_first(shop: Shop) -> None:
    first = await shop.renamed("A", 17, 23)
    other = await shop.renamed("B", 31)
    later = await shop.renamed("C", 17)
    refused = await shop.undo(first, 409)
    assert refused["code"] == "undo_newest_first"
    assert later["proposal"] in refused["detail"]
    assert other["proposal"] not in refused["detail"]
    await approve(shop.here, await shop.undo(later))
    assert shop.names(17, 23, 31) == ["A", "A", "B"]
    over = await approve(shop.here, await shop.undo(first))
    assert over["_verification"]["verdict"] == "verified"
    assert shop.names(17, 23, 31) == ["Ada Bakery", "Birch & Sons", "B"]


async def test_after_an_undo_the_same_call_is_a_new_one(shop: Shop) -> None:
    done = await shop.done()
    asked = await shop.undo(done)
    during = (await shop.here.ask("crm.deactivate", CALL)).json()
    assert (during["proposal"], during["already_applied"]) == (done["proposal"], True)
    await approve(shop.here, asked)
    after = await shop.here.propose("crm.deactivate", CALL)
    assert after["status"] == "awaiting_approval"
    assert after["proposal"] not in {done["proposal"], asked["proposal"]}


async def test_planning_an_undo_again_never_asks_for_the_call(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    asked = await shop.undo(done)
    await shop.comment("lee", asked, "/replan")
    fresh = here.kept(shop.asked())
    assert (fresh.undoes, fresh.parent) == (done["proposal"], asked["proposal"])
    assert (await here.seen(asked))["error"]["code"] == "superseded"
    await approve(here, {"proposal": fresh.id})
    assert shop.active() == ALL


async def test_an_agent_cannot_take_back_an_undo_that_a_person_asked_for(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    await shop.comment("lee", done, "/undo")
    asked = shop.asked()
    with pytest.raises(Refusal) as caught:
        flow.withdraw(here.hall.ports, asked["proposal"], AGENT)
    assert caught.value.code == "not_yours"
    flow.revoke(here.hall.ports, AGENT)
    assert here.kept(asked).state == "open"
    await here.person("noor").review(REPOSITORY, here.number(asked), "APPROVE")
    await here.until(asked, lambda p: p.state == "applied")
    assert shop.active() == ALL


async def test_who_asked_for_an_undo_may_take_that_back(shop: Shop) -> None:
    done = await shop.done()
    await shop.comment("lee", done, "/undo")
    asked = shop.asked()
    await shop.comment("noor", asked, "/withdraw")
    assert shop.here.kept(asked).state == "open"
    await shop.comment("lee", asked, "/withdraw")
    assert (await shop.here.seen(asked))["error"]["code"] == "withdrawn"


async def test_an_undo_is_read_back_by_its_own_plan(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    asked = await shop.undo(done)
    over = await approve(here, asked)
    assert over["_verification"]["ok"] is True
    shop.sql("UPDATE customers SET active = 0 WHERE id = 17")
    order = Order(here.kept(asked).plan.plan, asked["proposal"])
    tool = here.hall.catalog.find("crm.deactivate")
    checked = await here.hall.ports.runner.verify(tool, order, None)
    assert checked.reading is Reading.CONTRADICTED


async def test_another_agents_proposal_is_not_there_to_undo(shop: Shop) -> None:
    here, done = shop.here, await shop.done()
    here.token = "placet_another-agents"
    here.store.add_agent("other", token_hash(here.token), frozenset({1}), here.world.clock.now())
    assert (await shop.undo(done, 404))["code"] == "not_found"
    assert shop.undos() == []
