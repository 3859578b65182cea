"""The facts of the turn ride in every result that the gateway itself writes, whatever it is."""

from typing import Any

import pytest

from proposals.turn import RULE, SCHEMA
from sandbox.testing import Town
from tests.system.conftest import Box
from tests.system.talking import ERAS, at, call, talking

pytestmark = pytest.mark.anyio
KEYS = {
    *("schema", "turn", "scope", "since", "changes_this_turn", "entries", "ended_since_last"),
    *("pending_drafts", "rule"),
}


def facts(said: dict[str, Any]) -> list[str]:
    """How the calls of the turn stand, in a report that has its one shape."""
    report = said["turn_report"]
    assert report.keys() == KEYS
    assert (report["schema"], report["rule"]) == (SCHEMA, RULE)
    return [entry["status"] for entry in report["entries"]]


@pytest.mark.parametrize("era", ERAS)
async def test_every_result_of_ours_has_the_facts_of_the_turn(
    here: Town, box: Box, era: str
) -> None:
    async with at(here) as url, talking(url, here.token, era, session="s") as agent:
        asked = await call(agent, "box__add", {"n": 4})
        draft = await call(agent, "box__add", {})
        gone = {"draft": draft["turn_report"]["pending_drafts"][0]["draft"]}
        await here.rest()
        told = [
            *(asked, draft),
            await call(agent, "box__add", {"n": "four"}),
            await call(agent, "box__burn", {}),
            await call(agent, "placet_status", {"proposal": asked["proposal"]}),
            await call(agent, "placet_status", {"proposal": "p_0"}),
            await call(agent, "placet_list", {}),
            await call(agent, "placet_discard_draft", gone),
            await call(agent, "placet_discard_draft", gone),
            await call(agent, "placet_withdraw", {"proposal": asked["proposal"]}),
            await call(agent, "placet_withdraw", {"proposal": asked["proposal"]}),
        ]
    assert [len(facts(said)) > 0 for said in told] == [True] * len(told)
    assert [said["error"]["code"] for said in told if said.get("status") == "denied"] == [
        *("bad_arguments", "unknown_tool", "not_found", "no_draft", "already_over")
    ]
    [over] = told[-1]["turn_report"]["ended_since_last"]
    assert (over["proposal"], over["status"]) == (asked["proposal"], "ended")
    assert box.runs == 0


@pytest.mark.parametrize("era", ERAS)
async def test_it_has_them_also_while_nothing_can_be_written(here: Town, era: str) -> None:
    async with at(here) as url, talking(url, here.token, era, session="s") as agent:
        await call(agent, "box__add", {"n": 4})
        await here.rest()
        here.store.db.conn.execute("PRAGMA query_only=ON")
        said = await call(agent, "box__add", {"n": 5})
        here.store.db.conn.execute("PRAGMA query_only=OFF")
    assert said["error"]["code"] == "store_stopped"
    assert facts(said) == ["awaiting_approval"]
