"""Mode confirm where the client can show a form: whoever sits there agrees, or does not."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

from proposals.calls import Call, ConfirmationRequired
from sandbox.stage import AGENT
from sandbox.testing import Town, town
from tests.system.conftest import POLICY, Box
from tests.system.talking import ERAS, at, call, talking
from tests.system.test_bridge import bridge
from tests.system.test_confirm import confirming
from webhook_app.doors.calling import gate
from webhook_app.doors.hall import token_hash
from webhook_app.doors.mcp.eliciting import AGREED, fills_forms

pytestmark = pytest.mark.anyio
MODERN = "2026-07-28"


@pytest.fixture
async def here(tmp_path: Path, box: Box, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    async with town(tmp_path / "town", tools=confirming(box), policy=POLICY, wrap=judged) as made:
        yield made


@pytest.fixture
async def url(here: Town) -> AsyncIterator[str]:
    async with at(here) as found:
        yield found


class Sitting:
    """Whoever sits at the client, and the forms that they were shown."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.shown: list[str] = []

    async def __call__(
        self, _: object, asked: types.ElicitRequestFormParams | types.ElicitRequestURLParams
    ) -> types.ElicitResult:
        assert isinstance(asked, types.ElicitRequestFormParams)
        self.shown.append(asked.message)
        return types.ElicitResult.model_validate({"action": self.action})


@pytest.mark.parametrize("era", ERAS)
async def test_accepting_the_form_does_it_once_and_uses_the_token_up(
    here: Town, box: Box, url: str, era: str
) -> None:
    who = Sitting("accept")
    async with talking(url, here.token, era, elicitation_callback=who) as agent:
        done = await call(agent, "box__add", {"n": 4})
        assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
        [form] = who.shown
        assert form.startswith("Nothing has been done yet.")
        assert "value: 1 becomes 5" in form
        again = await call(agent, "box__add", {"n": 4})
        assert (again["status"], again["already_applied"]) == ("applied", True)
    assert (box.runs, len(who.shown)) == (1, 1)
    used = here.store.rows("SELECT used FROM confirmation")
    assert [row["used"] is not None for row in used].count(True) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_declining_the_form_voids_the_preview_and_every_token_of_it(
    here: Town, box: Box, url: str, era: str
) -> None:
    async with talking(url, here.token, era) as plain:
        before = await call(plain, "box__add", {"n": 4})
    who = Sitting("decline")
    async with talking(url, here.token, era, elicitation_callback=who) as agent:
        said = await call(agent, "box__add", {"n": 4})
        assert (said["status"], said["error"]["code"]) == ("ended", "withdrawn")
        assert "said no" in said["error"]["message"]
        assert (said["executed"], said["confirm_token"]) == (False, None)
        token = {"placet": {"confirm_token": before["confirm_token"]}}
        late = await call(agent, "box__add", {"n": 4} | token)
        assert (late["status"], late["executed"]) == ("ended", False)
        again = await call(agent, "box__add", {"n": 4})
        assert again["status"] == "ended"
    assert (box.runs, len(who.shown)) == (0, 1)


@pytest.mark.parametrize("era", ERAS)
async def test_a_form_that_is_closed_decides_nothing(
    here: Town, box: Box, url: str, era: str
) -> None:
    who = Sitting("cancel")
    async with talking(url, here.token, era, elicitation_callback=who) as agent:
        said = await call(agent, "box__add", {"n": 4})
        assert (said["status"], said["executed"]) == ("confirmation_required", False)
        again = await call(agent, "box__add", {"n": 4})
        assert (again["status"], box.runs, len(who.shown)) == ("confirmation_required", 0, 1)
        token = {"placet": {"confirm_token": again["confirm_token"]}}
        assert (await call(agent, "box__add", {"n": 4} | token))["status"] == "applied"
    assert box.runs == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_world_that_changed_while_the_form_was_read_applies_nothing(
    here: Town, box: Box, url: str, era: str
) -> None:
    class Slow(Sitting):
        async def __call__(self, context: object, asked: Any) -> types.ElicitResult:
            box.value = 2
            return await super().__call__(context, asked)

    async with talking(url, here.token, era, elicitation_callback=Slow("accept")) as agent:
        said = await call(agent, "box__add", {"n": 4})
    assert (said["status"], said["error"]["code"], box.runs) == ("ended", "drifted", 0)


@pytest.mark.parametrize("era", ERAS)
async def test_a_preview_that_expired_while_the_form_was_read_is_refused(
    here: Town, box: Box, url: str, era: str
) -> None:
    class Asleep(Sitting):
        async def __call__(self, context: object, asked: Any) -> types.ElicitResult:
            here.world.clock.advance(timedelta(minutes=11))
            return await super().__call__(context, asked)

    async with talking(url, here.token, era, elicitation_callback=Asleep("accept")) as agent:
        said = await call(agent, "box__add", {"n": 4})
    assert (said["status"], said["error"]["code"], box.runs) == ("denied", "confirm_expired", 0)


async def sent(
    agent: Client, arguments: dict[str, Any], state: str | None, action: str = "accept"
) -> dict[str, Any]:
    """What a client of the newer era is told that answers a form which it may never have seen."""
    answer: Any = {AGREED: types.ElicitResult.model_validate({"action": action})}
    found = await agent.session.call_tool(
        "box__add",
        arguments,
        input_responses=answer,
        request_state=state,
        allow_input_required=True,
    )
    assert isinstance(found, types.CallToolResult)
    assert found.structured_content is not None
    return dict(found.structured_content)


async def asked(agent: Client, arguments: dict[str, Any]) -> str:
    """The state that comes with a form."""
    found = await agent.session.call_tool("box__add", arguments, allow_input_required=True)
    assert isinstance(found, types.InputRequiredResult)
    assert found.request_state is not None
    return found.request_state


async def test_a_client_that_lies_about_a_form_meets_the_same_four_refusals(
    here: Town, box: Box, url: str
) -> None:
    async with talking(url, here.token, MODERN, elicitation_callback=Sitting("cancel")) as agent:
        unasked = await sent(agent, {"n": 4}, None)
        assert unasked["error"]["code"] == "confirm_missing"
        forged = await sent(agent, {"n": 4}, "pc_" + "0" * 64)
        assert forged["error"]["code"] == "confirm_mismatch"
        state = await asked(agent, {"n": 4})
        other = await sent(agent, {"n": 5}, state)
        assert (other["error"]["code"], box.runs) == ("confirm_mismatch", 0)
        assert (await sent(agent, {"n": 4}, state))["status"] == "applied"
        again = await sent(agent, {"n": 4}, state)
        assert (again["error"]["code"], box.runs) == ("confirm_consumed", 1)
        late = await asked(agent, {"n": 6})
        here.world.clock.advance(timedelta(minutes=11))
        expired = await sent(agent, {"n": 6}, late)
        assert (expired["error"]["code"], box.runs) == ("confirm_expired", 1)


async def test_an_answer_to_a_form_starts_nothing_of_another_mode_or_agent(
    here: Town, box: Box, url: str
) -> None:
    async with talking(url, here.token, MODERN, elicitation_callback=Sitting("cancel")) as agent:
        state = await asked(agent, {"n": 4})
        read = await agent.session.call_tool(
            "box__look", {}, input_responses={AGREED: types.ElicitResult(action="accept")}
        )
        assert read.structured_content == {"value": 1}
    here.store.add_agent("eve", token_hash("placet_eve"), frozenset({1}), here.world.clock.now())
    async with talking(url, "placet_eve", MODERN) as eve:
        assert (await sent(eve, {"n": 4}, state))["error"]["code"] == "confirm_mismatch"
        assert (await sent(eve, {"n": 4}, state, "decline"))["status"] == "ended"  # her own
    async with talking(url, here.token, MODERN) as agent:
        assert (await sent(agent, {"n": 4}, state))["status"] == "applied"
    assert box.runs == 1


@pytest.mark.filterwarnings("ignore:Pydantic serializer")  # the client's, about this very answer
async def test_an_answer_that_is_none_is_refused_by_the_protocol(
    here: Town, box: Box, url: str
) -> None:
    async with talking(url, here.token, MODERN, elicitation_callback=Sitting("cancel")) as agent:
        state = await asked(agent, {"n": 4})
        odd: Any = types.ElicitResult.model_construct(action="yes please")
        with pytest.raises(MCPError):
            await agent.session.call_tool(
                "box__add", {"n": 4}, input_responses={AGREED: odd}, request_state=state
            )
    assert box.runs == 0


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_shows_no_forms_gets_the_token(
    here: Town, box: Box, url: str, era: str
) -> None:
    async with talking(url, here.token, era) as agent:
        said = await call(agent, "box__add", {"n": 4})
    assert said["status"] == "confirmation_required"
    assert said["confirm_token"]
    assert box.runs == 0


FORM, ADDRESS = types.FormElicitationCapability(), types.UrlElicitationCapability()


@pytest.mark.parametrize(
    ("can", "fills"),
    [
        pytest.param(None, False, id="nothing"),
        pytest.param(types.ElicitationCapability(), True, id="as-of-old"),
        pytest.param(types.ElicitationCapability(form=FORM), True, id="forms"),
        pytest.param(types.ElicitationCapability(url=ADDRESS), False, id="addresses-alone"),
        pytest.param(types.ElicitationCapability(form=FORM, url=ADDRESS), True, id="both"),
    ],
)
def test_a_form_is_for_clients_that_declare_it(
    can: types.ElicitationCapability | None, *, fills: bool
) -> None:
    assert fills_forms(types.ClientCapabilities(elicitation=can)) is fills


@pytest.mark.parametrize("era", ERAS)
async def test_the_bridge_carries_the_form_and_its_answer(
    here: Town, box: Box, url: str, era: str
) -> None:
    who = Sitting("accept")
    async with Client(bridge(url, here.token), mode=era, elicitation_callback=who) as agent:
        done = await call(agent, "box__add", {"n": 4})
    assert (done["status"], box.runs, len(who.shown)) == ("applied", 1, 1)


@pytest.mark.parametrize("era", ERAS)
async def test_every_door_gives_a_confirmed_call_the_same_result(
    here: Town, box: Box, url: str, era: str
) -> None:
    executor = gate(here.hall)
    preview = (await here.ask("box.add", {"n": 4})).raise_for_status().json()
    with pytest.raises(ConfirmationRequired) as paused:
        await executor.call(Call("box.add", {"n": 4}, agent=AGENT))
    assert paused.value.proposal == preview["proposal"]
    async with talking(url, here.token, era) as agent:
        same = await call(agent, "box__add", {"n": 4})
        assert (same["proposal"], same["digest"]) == (preview["proposal"], preview["digest"])
        token = {"placet": {"confirm_token": preview["confirm_token"]}}
        done = await call(agent, "box__add", {"n": 4} | token)
        told = await call(agent, "placet_status", {"proposal": done["proposal"]})
    over_http = await here.seen(done)
    assert done["status"] == told["status"] == over_http["status"] == "applied"
    resumed = (await executor.resume(paused.value.proposal)).value
    assert done["result"] == told["result"] == over_http["result"] == resumed == {"value": 5}
    assert box.runs == 1
