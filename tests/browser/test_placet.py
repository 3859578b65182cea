"""All of Placet before a browser: an agent asks, people read, decide and see what followed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Page, expect

from sandbox.github.model import CheckRun
from sandbox.stage import REPOSITORY, TOOL, Stage, stage
from webhook_app.client import Placet

pytestmark = pytest.mark.anyio

PATIENCE = 60.0  # seconds, for any one thing to happen
Picture = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Play:
    """A GitHub, a Placet in its own process, an agent, and one window for whoever sits there."""

    stage: Stage
    agent: Placet
    page: Page

    async def ask(self, ids: list[int], why: str) -> dict[str, Any]:
        said = await asyncio.to_thread(self.agent.propose, TOOL, {"ids": ids}, reason=why)
        await self.until(said, "Waiting for")
        return await asyncio.to_thread(self.agent.status, said["proposal"])

    async def sit_down(self, login: str, seen: dict[str, Any], tab: str = "") -> None:
        await self.page.goto(self.stage.github)
        await self.page.get_by_role("button", name=login).click()
        await expect(self.page.get_by_role("status")).to_contain_text(f"You are {login}")
        await self.page.goto(seen["pull_request"] + tab)

    async def review(self, choice: str) -> None:
        await self.page.get_by_role("radio", name=choice).check()
        await self.page.get_by_role("button", name="Submit review").click()

    async def comment(self, words: str) -> None:
        await self.page.get_by_label("Comment", exact=True).first.fill(words)
        await self.page.get_by_role("button", name="Comment", exact=True).click()

    def check(self, seen: dict[str, Any]) -> CheckRun | None:
        runs = self.stage.world.repository(REPOSITORY).checks.values()
        return next((run for run in runs if run.external_id == seen["proposal"]), None)

    async def until(self, seen: dict[str, Any], title: str) -> None:
        """Wait until the check says this and everything that follows from it has been said too."""
        deadline = time.monotonic() + PATIENCE
        while not ((run := self.check(seen)) and title in str(run.output.get("title"))):
            assert time.monotonic() < deadline, f"the check says {run and run.output}"
            await asyncio.sleep(0.05)
        while await self.busy():
            assert time.monotonic() < deadline, "Placet does not come to rest"

    async def busy(self) -> bool:
        await self.stage.world.settled()
        counts = (await self.stage.operator("status"))["counts"]
        return bool(counts["inbox"] or counts["outbox"])

    async def read(self, seen: dict[str, Any], *words: str, tab: str = "") -> None:
        """Look at the page again: it says all of this."""
        await self.page.goto(seen["pull_request"] + tab)
        for said in words:
            await expect(self.page.get_by_role("main")).to_contain_text(said)


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> AsyncIterator[Stage]:
    assert chromium, "no stage is set where nobody can look at it"
    async with stage(tmp_path_factory.mktemp("stage")) as made:
        yield made


@pytest.fixture
async def play(here: Stage, page: Page) -> AsyncIterator[Play]:
    with Placet(here.placet, here.token) as agent:
        yield Play(here, agent, page)


async def test_the_agents_person_is_refused_and_another_approves(
    play: Play, picture: Picture
) -> None:
    seen = await play.ask([17, 23, 31], "These accounts bounced three newsletters.")
    await play.sit_down("lee", seen)
    await picture("placet-1-waiting")
    await play.sit_down("dana", seen)
    await play.review("Approve")
    await play.until(seen, "does not count")
    await play.read(
        seen,
        "@dana's approval does not count: the agent works for them",
        "@dana, your approval does not count: the agent that asks works for you.",
    )
    await picture("placet-2-refused")
    await play.read(seen, "Nothing has been changed.", tab="/checks")
    await picture("placet-3-refused-check")
    assert play.stage.active() >= {17, 23, 31}
    await play.sit_down("lee", seen)
    await play.review("Approve")
    await play.until(seen, "Done")
    await play.read(seen, "Merged", "Done: 3 changes", "Approved by @lee (review)")
    await picture("placet-4-applied")
    assert not play.stage.active() & {17, 23, 31}


async def test_a_button_on_the_checks_tab_approves(play: Play, picture: Picture) -> None:
    seen = await play.ask([42], "No order in two years.")
    await play.sit_down("lee", seen)
    await play.page.get_by_role("link", name="Details and buttons").click()
    await expect(play.page.get_by_role("button", name="Approve")).to_be_visible()
    await picture("placet-5-checks")
    await play.page.get_by_role("button", name="Approve").click()
    await play.until(seen, "Done")
    await play.read(seen, "Merged", "Approved by @lee (button)")
    await play.read(seen, "Done: 1 change", tab="/checks")
    await picture("placet-6-checks-applied")
    assert 42 not in play.stage.active()


async def test_a_comment_rejects(play: Play, picture: Picture) -> None:
    seen = await play.ask([58], "The contract ended.")
    await play.sit_down("noor", seen)
    await play.comment("/reject They signed again.")
    await play.until(seen, "Rejected")
    await play.read(seen, "Closed", "Rejected by @noor: nothing was changed")
    await picture("placet-7-rejected")
    assert 58 in play.stage.active()


async def test_what_changed_since_the_plan_is_shown_and_nothing_is_done(
    play: Play, picture: Picture
) -> None:
    seen = await play.ask([58, 66], "No order in two years.")
    play.stage.deactivate_by_hand(66)
    await play.sit_down("lee", seen)
    await play.review("Approve")
    await play.until(seen, "Not applied")
    await play.read(seen, "Closed", "What would happen now differs from what was approved.")
    await picture("placet-8-drifted")
    assert 58 in play.stage.active()
