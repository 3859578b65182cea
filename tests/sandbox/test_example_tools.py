"""The shipped examples over a real database: plan, apply, verify, and what stops them."""

import os
import sqlite3
import tomllib
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from proposals.canonical import JSON
from proposals.plan import Pinned
from proposals.ports import Done, Order, Outcome, PlanFailed, Reading
from proposals.runner import Runner
from proposals.tools import Catalog, Tool, declared, title
from sandbox.tools import customers
from webhook_app.toolkits.command import CommandToolkit
from webhook_app.toolkits.python import PythonToolkit

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
TABLE = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, active INTEGER NOT NULL);
INSERT INTO customers VALUES (17, 'Ada', 'Oslo', 1), (23, 'Bo', 'Bonn', 1), (31, 'Cy', 'Rome', 0);
"""
DECLARED = """
[tool.crm.deactivate]
kind = "python"
effect = "write"
summary = "Deactivate {count} customers in crm.db"
module = "sandbox.tools.customers"
plan_env = {DATABASE = "file:%(db)s?mode=ro"}
apply_env = {DATABASE = "file:%(db)s?mode=rw"}

[tool.db.update_rows]
kind = "command"
effect = "write"
summary = "Set {/arguments/column} of {count} {/arguments/table}"
plan = ["%(rows)s", "plan"]
apply = ["%(rows)s", "apply"]
verify_command = ["%(rows)s", "verify"]
undo_command = ["%(rows)s", "undo"]
plan_env = {DATABASE = "file:%(db)s?mode=ro", COLUMNS = "customers.active customers.city"}
apply_env = {DATABASE = "file:%(db)s?mode=rw", COLUMNS = "customers.active customers.city"}

[tool.db.update_rows.arguments]
required = ["table", "ids", "column", "value"]

[tool.db.update_rows.arguments.properties]
table = {type = "string"}
column = {type = "string"}
ids = {type = "array", items = {type = "integer"}, minItems = 1, maxItems = 100}
value = {type = ["integer", "string", "null"]}
"""
DEACTIVATE: dict[str, JSON] = {"ids": [23, 17, 31]}
UPDATE: dict[str, JSON] = {"table": "customers", "ids": [17, 23], "column": "active", "value": 0}
BOTH = pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("crm.deactivate", DEACTIVATE, id="in-python"),
        pytest.param("db.update_rows", UPDATE, id="as-a-command"),
    ],
)


class Shop:
    """A database, and a runner for the tools on it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "crm.db"
        self.sql(TABLE)
        server = {"PATH": os.environ["PATH"]}
        self.kits = {
            "command": CommandToolkit(ROOT, server),
            "python": PythonToolkit(ROOT, server),
        }
        self.runner = Runner(self.kits)
        self.tools = Catalog.of(())

    async def opened(self) -> "Shop":
        said = DECLARED % {"db": self.file, "rows": ROOT / "sandbox" / "tools" / "rows.py"}
        tools = declared(tomllib.loads(said)["tool"])
        self.tools = Catalog.of([await self.kits[tool.kind].ready(tool) for tool in tools])
        return self

    async def planned(self, name: str, arguments: JSON) -> tuple[Tool, Pinned, Order]:
        tool = self.tools.find(name)
        pinned = await self.runner.plan_twice(tool, arguments)
        return tool, pinned, Order(pinned.plan, "p_1")

    def sql(self, script: str) -> None:
        with closing(sqlite3.connect(self.file)) as db:
            db.executescript(script)

    def active(self) -> dict[int, int]:
        with closing(sqlite3.connect(self.file)) as db:
            return dict(db.execute("SELECT id, active FROM customers"))


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    shop = await Shop(tmp_path).opened()
    yield shop
    await shop.runner.close()


@BOTH
async def test_what_was_planned_is_applied_and_read_back(
    shop: Shop, name: str, arguments: JSON
) -> None:
    tool, pinned, order = await shop.planned(name, arguments)
    assert shop.active() == {17: 1, 23: 1, 31: 0}
    effects = pinned.plan["effects"]
    assert isinstance(effects, list)
    assert len(effects) == 2
    returned = await shop.runner.apply(tool, order)
    assert returned.outcome is Outcome.DONE
    assert shop.active() == {17: 0, 23: 0, 31: 0}
    checked = await shop.runner.verify(tool, order, returned.result)
    assert checked.reading is Reading.VERIFIED
    with pytest.raises(PlanFailed, match="nothing"):
        await shop.runner.plan_twice(tool, arguments)


async def test_the_plans_say_from_what_to_what(shop: Shop) -> None:
    tool, pinned, _ = await shop.planned("crm.deactivate", DEACTIVATE)
    assert title(tool, pinned.plan) == "Deactivate 2 customers in crm.db"
    assert pinned.plan["effects"] == [
        {"what": "customer 17 (Ada) active", "before": True, "after": False},
        {"what": "customer 23 (Bo) active", "before": True, "after": False},
    ]
    tool, pinned, _ = await shop.planned("db.update_rows", UPDATE)
    assert title(tool, pinned.plan) == "Set active of 2 customers"
    assert pinned.plan["effects"] == [
        {"what": "customers 17 active", "before": 1, "after": 0},
        {"what": "customers 23 active", "before": 1, "after": 0},
    ]


@BOTH
@pytest.mark.parametrize(
    "change",
    [
        pytest.param("UPDATE customers SET active = 0 WHERE id = 17", id="row-changed"),
        pytest.param("DELETE FROM customers WHERE id = 17", id="row-gone"),
    ],
)
async def test_a_row_that_changed_since_stops_all_of_it(
    shop: Shop, name: str, arguments: JSON, change: str
) -> None:
    tool, _, order = await shop.planned(name, arguments)
    shop.sql(change)
    before = shop.active()
    returned = await shop.runner.apply(tool, order)
    assert returned.outcome is Outcome.DID_NOTHING
    assert "changed after the plan was made" in returned.why
    assert shop.active() == before


async def test_a_schema_that_changed_since_stops_it(shop: Shop) -> None:
    tool, _, order = await shop.planned("crm.deactivate", DEACTIVATE)
    shop.sql("ALTER TABLE customers ADD COLUMN vip INTEGER")
    assert (await shop.runner.apply(tool, order)).outcome is Outcome.DID_NOTHING


@BOTH
async def test_reading_back_contradicts_what_did_not_happen(
    shop: Shop, name: str, arguments: JSON
) -> None:
    tool, _, order = await shop.planned(name, arguments)
    checked = await shop.runner.verify(tool, order, None)
    assert checked.reading is Reading.CONTRADICTED
    assert any(check["ok"] is False for check in checked.checks)


@BOTH
async def test_a_row_that_is_not_there_is_no_plan(shop: Shop, name: str, arguments: JSON) -> None:
    assert isinstance(arguments, dict)
    with pytest.raises(PlanFailed, match="99"):
        await shop.planned(name, {**arguments, "ids": [17, 99]})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"column": "name"}, id="column-off-the-list"),
        pytest.param({"table": "sqlite_master"}, id="table-off-the-list"),
        pytest.param({"column": 'active" = 0; DROP TABLE customers; --'}, id="injection"),
    ],
)
async def test_a_command_touches_only_what_is_on_its_list(
    shop: Shop, change: dict[str, JSON]
) -> None:
    with pytest.raises(PlanFailed, match="not on the list") as caught:
        await shop.planned("db.update_rows", {**UPDATE, **change})
    assert caught.value.code == "refused"
    order = Order({"arguments": {**UPDATE, **change}, "preconditions": {}}, "k")
    returned = await shop.runner.apply(shop.tools.find("db.update_rows"), order)
    assert returned.outcome is Outcome.DID_NOTHING
    assert shop.active() == {17: 1, 23: 1, 31: 0}


async def test_a_hostile_value_is_only_a_value(shop: Shop) -> None:
    value = "'; DROP TABLE customers; --"
    tool, _, order = await shop.planned(
        "db.update_rows", {**UPDATE, "column": "city", "value": value}
    )
    assert (await shop.runner.apply(tool, order)).outcome is Outcome.DONE
    checked = await shop.runner.verify(tool, order, None)
    assert [check["found"] for check in checked.checks] == [value, value]


@BOTH
async def test_planning_cannot_write(shop: Shop, name: str, arguments: JSON) -> None:
    tool, _, order = await shop.planned(name, arguments)
    readable = tool.model_copy(update={"apply_env": tool.plan_env})
    returned = await shop.runner.apply(readable, order)
    assert returned.outcome is not Outcome.DONE
    assert shop.active() == {17: 1, 23: 1, 31: 0}


@BOTH
async def test_what_was_done_is_taken_back_and_read_back(
    shop: Shop, name: str, arguments: JSON
) -> None:
    tool, pinned, order = await shop.planned(name, arguments)
    returned = await shop.runner.apply(tool, order)
    done = Done(pinned.plan, returned.result, {"outcome": "applied"})
    undo = await shop.runner.plan_twice(tool, arguments, done)
    assert undo.plan["tool"] == tool.undo_identity()
    back = Order(undo.plan, "p_2")
    assert (await shop.runner.verify(tool, back, None)).reading is Reading.CONTRADICTED
    assert (await shop.runner.apply(tool, back)).result == {"rows": 2}
    assert shop.active() == {17: 1, 23: 1, 31: 0}
    assert (await shop.runner.verify(tool, back, None)).reading is Reading.VERIFIED
    with pytest.raises(PlanFailed) as caught:
        await shop.runner.plan_again(tool, arguments, done)
    assert caught.value.code == "already_undone"
    assert (await shop.runner.apply(tool, back)).outcome is Outcome.DID_NOTHING


@BOTH
@pytest.mark.parametrize(
    "change",
    [
        pytest.param("UPDATE customers SET active = 1 WHERE id = 17", id="half-undone"),
        pytest.param("UPDATE customers SET active = 7 WHERE id = 17", id="row-changed"),
        pytest.param("DELETE FROM customers WHERE id = 17", id="row-gone"),
    ],
)
async def test_what_others_did_since_is_not_undone_with_it(
    shop: Shop, name: str, arguments: JSON, change: str
) -> None:
    tool, pinned, order = await shop.planned(name, arguments)
    await shop.runner.apply(tool, order)
    done = Done(pinned.plan, None, {})
    undo = await shop.runner.plan_twice(tool, arguments, done)
    shop.sql(change)
    before = shop.active()
    with pytest.raises(PlanFailed, match=r"1 of 2 changed since: (customer|row) 17") as caught:
        await shop.runner.plan_again(tool, arguments, done)
    assert caught.value.code == "undo_conflict"
    returned = await shop.runner.apply(tool, Order(undo.plan, "p_2"))
    assert (returned.outcome, shop.active()) == (Outcome.DID_NOTHING, before)


def test_the_example_stays_short_enough_to_read() -> None:
    assert customers.__file__ is not None
    assert len(Path(customers.__file__).read_text().splitlines()) <= 110
