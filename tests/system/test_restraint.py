"""What keeps an agent from wearing people out: caps on what waits, and a no that lasts."""

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.testing import Town, town
from tests.system.acting import approve
from tests.system.conftest import POLICY, Box

pytestmark = pytest.mark.anyio
SHOP = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"effects": [{"what": "cart", "before": [], "after": ["book"]}],
                  "preconditions": {},
                  "cost": {"amount": asked["arguments"]["n"], "unit": asked["arguments"]["unit"]}}))
"""


def toml(folder: Path) -> str:
    (folder / "shop.py").write_text(SHOP)
    argv = [sys.executable, "-I", "-S", str(folder / "shop.py")]
    return f"""
[tool.box.buy]
kind = "command"
effect = "write"
touches = ["spend"]
plan = {argv}
apply = {argv}
[tool.box.buy.arguments]
type = "object"
required = ["n", "unit"]
properties = {{n = {{type = ["number", "string"]}}, unit = {{type = "string"}}}}
"""


@pytest.fixture
async def capped(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    async with town(tmp_path / "town", tools=toml(tmp_path), policy=POLICY, wrap=judged) as made:
        await made.stop()
        caps = "[server]\nmax_waiting = 2\nmax_cost = {EUR = 100}\n"
        config = made.stage.config
        config.write_text(config.read_text().replace("[server]\n", caps))
        await made.start()
        yield made


async def test_only_so_many_proposals_of_an_agent_wait(capped: Town) -> None:
    first = await capped.propose("box.buy", {"n": 1, "unit": "USD"})
    await capped.propose("box.buy", {"n": 2, "unit": "USD"})
    third = await capped.ask("box.buy", {"n": 3, "unit": "USD"})
    assert (third.status_code, third.json()["code"]) == (429, "too_many_waiting")
    same = await capped.ask("box.buy", {"n": 1, "unit": "USD"})
    assert same.json()["proposal"] == first["proposal"]
    async with capped.http() as http:
        path = f"/v1/proposals/{first['proposal']}/withdraw"
        assert (await http.post(path)).status_code == 200
    assert (await capped.ask("box.buy", {"n": 3, "unit": "USD"})).status_code == 200


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        pytest.param({"n": 60, "unit": "EUR"}, {"n": 40, "unit": "EUR"}, None, id="just-enough"),
        pytest.param(
            {"n": 60, "unit": "EUR"}, {"n": "40.01", "unit": "EUR"}, "too_costly", id="a-cent-more"
        ),
        pytest.param({"n": 60, "unit": "EUR"}, {"n": 900, "unit": "USD"}, None, id="other-unit"),
        pytest.param(
            {"n": 60, "unit": "EUR"}, {"n": "a lot", "unit": "EUR"}, "too_costly", id="no-number"
        ),
        pytest.param(
            {"n": 60, "unit": "EUR"}, {"n": -50, "unit": "EUR"}, "too_costly", id="less-than-none"
        ),
        pytest.param({"n": 60, "unit": "EUR"}, {"n": "NaN", "unit": "EUR"}, "too_costly", id="nan"),
        pytest.param(
            {"n": 60, "unit": "EUR"},
            {"n": "1e9999999", "unit": "EUR"},
            "too_costly",
            id="more-than-can-be-added-up",
        ),
    ],
)
async def test_only_so_much_cost_of_an_agent_waits(
    capped: Town, first: dict[str, Any], second: dict[str, Any], code: str | None
) -> None:
    await capped.propose("box.buy", first)
    said = (await capped.ask("box.buy", second)).json()
    assert (said["error"] or {}).get("code") == code
    assert said["status"] == ("ended" if code else "pinned")
    await capped.rest()
    assert (await capped.seen(said))["status"] == ("ended" if code else "awaiting_approval")


async def test_what_drifted_may_be_asked_again_at_once(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.value = 2
    assert (await approve(here, seen))["error"]["code"] == "drifted"
    again = await here.propose("box.add", {"n": 4})
    assert again["proposal"] != seen["proposal"]
    assert again["status"] == "awaiting_approval"


async def test_a_person_may_ask_for_a_rejected_call_again(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await here.person("lee").comment("acme/approvals", number, "/reject")
    assert (await here.over(seen))["error"]["code"] == "rejected"
    again = (await here.ask("box.add", {"n": 4})).json()
    assert again["proposal"] == seen["proposal"]
    await here.person("lee").comment("acme/approvals", number, "/replan")
    await here.rest()
    [new] = [p for p in here.store.proposals() if p.parent == seen["proposal"]]
    assert new.state == "open"
