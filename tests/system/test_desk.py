"""Our own loop before a real server: the desk, with both families of scripted model providers."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any, Literal

import pytest

from proposals.loop import Ended, Loop
from proposals.transcript import Transcript, Use
from sandbox.testing import Town
from tests.scripted import Provider, Step, results, words
from tests.system.acting import approve
from tests.system.conftest import Box
from webhook_app.adapters.desk import Desk
from webhook_app.client import AsyncPlacet

pytestmark = pytest.mark.anyio
NOT_CONFIRMED = "nothing is confirmed"


class Talk:
    def __init__(self, desk: Desk, family: Literal["anthropic", "openai"]) -> None:
        self.desk = desk
        self.model = Provider(family, [])
        self.transcript = Transcript()

    async def says(self, text: str, *steps: Step) -> Ended:
        self.model.steps += steps
        loop = Loop(self.model, self.desk, self.desk, time.monotonic, lambda _: None)
        ended = await loop.turn(self.transcript, text)
        self.transcript = ended.transcript
        return ended


@pytest.fixture
async def placet(here: Town) -> AsyncIterator[AsyncPlacet]:
    async with AsyncPlacet("http://placet", here.token, transport=here.transport()) as made:
        yield made.within("s-1")


async def called(desk: Desk, tool: str, arguments: Any) -> dict[str, Any]:
    said = json.loads((await desk.call(Use("1", tool, arguments))).text)
    assert isinstance(said, dict)
    return said


@pytest.mark.parametrize("family", ["anthropic", "openai"])
async def test_the_missing_number(
    here: Town, box: Box, placet: AsyncPlacet, family: Literal["anthropic", "openai"]
) -> None:
    talk = Talk(Desk(placet), family)
    asked = await talk.says("Add some.", [("box__add", {})], ["How many?"])
    assert [e["status"] for e in asked.report["entries"]] == ["draft"]
    wrote = await talk.says("4.", [("box__add", {"n": 4})], ["I asked for approval."])
    [told] = results(talk.model.prompts[3].messages[-1])
    assert (told["status"], told["executed"], told["turn_report"]) == (
        "awaiting_approval",
        False,
        {},
    )
    assert wrote.report["pending_drafts"] == []
    await here.rest()
    await approve(here, told)
    done = await talk.says("And?", [("box__look", {})], ["Yes."])
    assert results(talk.model.prompts[-1].messages[-1])[0]["result"] == {"value": 5}
    [entry] = done.report["ended_since_last"]
    assert (entry["proposal"], entry["status"], box.runs) == (told["proposal"], "applied", 1)


async def test_a_mere_claim_is_asked_about_once_and_stays_seen(placet: AsyncPlacet) -> None:
    talk = Talk(Desk(placet), "anthropic")
    await talk.says("Add some.", [("box__add", {})], ["How many?"])
    claims = await talk.says("4.", ["Saved!"], ["It is not saved."])
    assert claims.reply == "Saved!\n\nIt is not saved."
    assert "There are three ways on." in words(talk.model.prompts[-1].messages[-1])[0]
    assert claims.report["changes_this_turn"] == 0


async def test_placets_own_tools_are_offered_and_answer(here: Town, placet: AsyncPlacet) -> None:
    desk = Desk(placet)
    offered = {offer.name: offer for offer in await desk.tools()}
    assert {"box__add", "box__look", "placet_status", "placet_discard_draft"} <= offered.keys()
    assert "placet" in offered["box__add"].schema["properties"]
    assert "placet" not in offered["box__look"].schema["properties"]
    given = {"n": 4, "placet": {"reason": "the box is nearly empty", "key": "k-1"}}
    asked = await called(desk, "box__add", given)
    assert (await called(desk, "box__add", given))["proposal"] == asked["proposal"]
    kept = here.kept(asked)
    assert (kept.said, kept.key, kept.arguments) == ("the box is nearly empty", "k-1", {"n": 4})
    await here.rest()
    status = {"proposal": asked["proposal"], "wait": 0.01}
    assert (await called(desk, "placet_status", status))["status"] == "awaiting_approval"
    listed = await called(desk, "placet_list", {"limit": 1})
    assert [p["proposal"] for p in listed["proposals"]] == [asked["proposal"]]
    back = {"proposal": asked["proposal"], "reason": "not needed"}
    assert (await called(desk, "placet_withdraw", back))["status"] == "ended"
    draft = await called(desk, "box__add", {})
    assert draft["status"] == "draft"
    [known] = (await desk.facts()).report["pending_drafts"]
    assert (await called(desk, "placet_discard_draft", {"draft": known["draft"]}))["_verification"][
        "ok"
    ]
    assert (await desk.facts()).pending == "<pending>\nnone\n</pending>"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        pytest.param("box__burn", {}, "unknown_tool", id="no-such-tool"),
        pytest.param("box__add", {"n": "four"}, "bad_arguments", id="they-do-not-fit"),
        pytest.param("box__add", {"n": 1, "placet": 7}, "bad_placet_argument", id="ours"),
        pytest.param(
            "box__add", {"n": 1, "placet": {"key": "a b"}}, "bad_placet_argument", id="key"
        ),
        pytest.param("placet_status", {"proposal": 7}, "bad_arguments", id="own-tool"),
        pytest.param("placet_status", {"proposal": "p_0"}, "not_found", id="not-mine"),
        pytest.param("placet_discard_draft", {"draft": "d_0"}, "no_draft", id="no-draft"),
    ],
)
async def test_what_is_not_taken_is_a_failure_with_its_code(
    placet: AsyncPlacet, tool: str, arguments: Any, code: str
) -> None:
    made = await Desk(placet).call(Use("1", tool, arguments))
    assert made.failure == code
    said = json.loads(made.text)
    assert (said["status"], said["executed"]) == ("denied", False)
    assert said["say_to_user"].startswith("Nothing has been done")


async def test_without_placet_nothing_is_confirmed_and_nothing_raises() -> None:
    async with AsyncPlacet("http://127.0.0.1:9", "t") as nobody:
        talk = Talk(Desk(nobody), "openai")
        ended = await talk.says("Add 4.", [("box__add", {"n": 4})], ["Saved!"], ["Nobody knows."])
    for prompt in talk.model.prompts:
        assert any(NOT_CONFIRMED in said for said in words(prompt.messages[-1]))
    [told] = results(talk.model.prompts[1].messages[-1])
    assert (told["status"], told["executed"]) == ("unknown", None)
    assert ended.report["changes_this_turn"] is None
    assert [e["status"] for e in ended.report["entries"]] == ["unknown"]
    assert ended.reply == "Saved!\n\nNobody knows."
