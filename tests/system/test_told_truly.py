"""What people and agents read while a proposal waits, and at its end, is what happened."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from proposals.flow.holding import freed, tell_held
from proposals.lifecycle import State
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.cases.moments import freeze
from tests.system.conftest import Box
from tests.system.test_check_run_form import asked, digest, opened
from tests.system.test_overlap import _both

pytestmark = pytest.mark.anyio
NOBODY = "Nobody who could approve it did so"


async def _approved(here: Town, seen: dict[str, Any]) -> None:
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")


async def _run_out(here: Town, seen: dict[str, Any]) -> str:
    """Let its time run out while nobody looks; the last that its page is told."""
    await here.stop()
    here.world.clock.advance(timedelta(hours=4))
    await here.start()
    await here.over(seen)
    return here.comments(seen)[-1]


class TestExpired:
    async def test_of_what_nobody_approved_is_told_that_nobody_did(self, here: Town) -> None:
        seen = await here.propose("box.add", {"n": 4})
        told = await _run_out(here, seen)
        assert f"{NOBODY} within 4 h" in told
        assert here.kept(seen).why == f"{NOBODY} in time."

    async def test_of_what_was_approved_is_told_what_stood_in_the_way(
        self, here: Town, box: Box
    ) -> None:
        seen = await here.propose("box.add", {"n": 4})
        box.breaks("crash")
        await _approved(here, seen)
        await here.until(seen, lambda p: p.state is State.OPEN and p.reason is not None)
        told = await _run_out(here, seen)
        kept = here.kept(seen)
        assert (kept.state, kept.reason, box.runs) == (State.ENDED, "expired", 0)
        assert NOBODY not in told + kept.why
        assert "It was not started within 4 h" in told
        assert "exited with 3" in told
        assert "exited with 3" in (await here.seen(seen))["say_to_user"]

    async def test_of_what_was_approved_in_a_freeze_is_told_of_the_freeze(self, here: Town) -> None:
        seen = await here.propose("box.add", {"n": 4})
        await freeze(here, seen)
        await _approved(here, seen)
        await here.rest()
        told = await _run_out(here, seen)
        assert NOBODY not in told
        assert "frozen until" in told

    async def test_why_it_ended_outlasts_whoever_was_asking_github_meanwhile(
        self, here: Town
    ) -> None:
        seen = await here.propose("box.add", {"n": 4})
        before = here.kept(seen)
        await _run_out(here, seen)
        freed(here.hall.ports, replace(before, reason="archived"))
        tell_held(here.hall.ports, before, "archived", "It is archived.")
        assert (here.kept(seen).reason, here.kept(seen).why) == ("expired", f"{NOBODY} in time.")


class TestHeldUp:
    async def test_a_tool_that_is_down_is_named_to_the_agent_and_on_the_page(
        self, here: Town, box: Box
    ) -> None:
        seen = await here.propose("box.add", {"n": 4})
        box.breaks("crash")
        await _approved(here, seen)
        await here.until(seen, lambda p: p.state is State.OPEN and p.reason is not None)
        await here.rest()
        said, shown = await here.seen(seen), here.check(seen)
        assert said["error"]["code"] == "tool_failed"
        assert "exited with 3" in said["say_to_user"]
        assert shown.output["title"] == "Approved, on hold: it cannot be started just now"
        assert "exited with 3" in str(shown.output["summary"])
        assert [a["identifier"] for a in shown.actions] == ["reject", "replan"]

    async def test_what_stood_in_line_says_what_holds_it_up_afterwards(
        self, here: Town, box: Box
    ) -> None:
        first, second = await _both(here, box)
        box.breaks("crash")
        await here.over(first)
        await here.until(second, lambda p: p.state is State.OPEN and p.reason == "tool_failed")
        await here.rest()
        said, shown = await here.seen(second), here.check(second)
        assert first["proposal"] not in said["say_to_user"] + str(shown.output["summary"])
        assert "another change" not in str(shown.output["title"])

    async def test_what_stood_in_line_is_not_held_up_while_it_is_planned_again(
        self, here: Town, box: Box
    ) -> None:
        _, second = await _both(here, box)
        box.breaks("slow plan")
        claimed = await here.until(second, lambda p: p.state is State.CLAIMED)
        assert (claimed.reason, claimed.why) == (None, "")
        await here.over(second)


class TestReplan:
    async def _undeclared(self, here: Town) -> None:
        await here.stop()
        config = here.stage.config
        config.write_text(config.read_text().replace("[tool.box.add]", "[tool.box.plus]"))
        await here.start()
        await here.rest()

    async def test_ends_nothing_when_the_tool_is_gone(self, here: Town) -> None:
        seen = await here.propose("box.add", {"n": 4})
        await self._undeclared(here)
        await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
        await here.rest()
        assert here.kept(seen).state is State.OPEN
        assert "No tool" in here.comments(seen)[-1]

    async def test_ends_nothing_when_its_page_cannot_be_used_any_more(self, here: Town) -> None:
        seen = await asked(here, await opened(here))
        text = here.stage.config.read_text()
        await here.stop()
        here.stage.config.write_text(text.replace('targets = ["acme/shop"]', "targets = []"))
        await here.start()
        await here.person("noor").comment(SHOP, here.number(seen), f"/replan {digest(seen)}")
        await here.rest()
        assert here.kept(seen).state is State.OPEN
        assert "cannot be tied" in here.comments(seen)[-1]

    async def test_finds_room_though_the_old_one_was_the_last_there_might_be(
        self, here: Town
    ) -> None:
        await here.stop()
        config = here.stage.config
        text = config.read_text()
        config.write_text(text.replace("[server]", "[server]\nmax_waiting = 1", 1))
        await here.start()
        seen = await here.propose("box.add", {"n": 4})
        await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
        await here.rest()
        fresh = next(p for p in here.store.proposals() if p.parent == seen["proposal"])
        assert (here.kept(seen).reason, fresh.state) == ("superseded", State.OPEN)

    async def test_says_so_when_no_new_plan_comes(self, here: Town, box: Box) -> None:
        seen = await here.propose("box.add", {"n": 4})
        box.breaks("crash")
        await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
        await here.over(seen)
        said = "\n".join(here.comments(seen))
        assert "There is no newer proposal" in said
        assert "exited with 3" in said
