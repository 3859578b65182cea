"""The pictures of docs/pages.md: a proposal as people meet it, at a desk and on a phone.

Each run takes them all into a folder of its own and looks at what they show; with --update-golden
they are also written to docs/images.
"""

import re
import shutil
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from sandbox.stage import POLICY, REPOSITORY, TOOL, deactivating
from sandbox.testing import Town, town
from sandbox.tools import crm
from tests.browser.conftest import Serving, address

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[2] / "docs"
NAMES = ("waiting", "refused", "approved", "drifted", "applied")
PLACES = {"desktop": (988, 1000), "phone": (390, 1000)}
LARGEST = 150_000  # bytes of one picture
CENTRED = "place => place.scrollIntoView({block: 'center'})"
MORNING = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
REVIEWED: dict[str, object] = {
    "type": "pull_request",
    "parameters": {
        "required_approving_review_count": 1,
        "dismiss_stale_reviews_on_push": True,
        "require_code_owner_review": False,
        "require_last_push_approval": True,
        "required_review_thread_resolution": False,
    },
}
"""Nobody changes the policy alone: nothing is weak about these pages."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A town with a database of customers, somebody's window on it, and where pictures go."""

    town: Town
    page: Page
    url: str
    folder: Path
    database: Path

    async def ask(self) -> dict[str, Any]:
        """An agent asks for three customers, at half past nine."""
        self.town.world.clock.freeze(MORNING)
        why = "These accounts bounced three newsletters."
        seen = await self.town.propose(TOOL, {"ids": [17, 23, 31]}, reason=why)
        self.town.world.clock.advance(MINUTE)
        return seen

    async def approve(self, login: str, seen: dict[str, Any]) -> None:
        await self.town.person(login).review(REPOSITORY, self.town.number(seen), "APPROVE")
        await self.town.rest()

    def title(self, seen: dict[str, Any]) -> str:
        """What the check run says right now, in one line."""
        return str(self.town.check(seen).output["title"])

    async def photograph(self, name: str, seen: dict[str, Any], *words: str) -> None:
        """Look at a proposal as lee: it says all of this."""
        await self.page.goto(self.url)
        await self.page.get_by_role("button", name="lee").click()
        await expect(self.page.get_by_role("status")).to_contain_text("You are lee")
        await self.page.goto(f"{self.url}/{REPOSITORY}/pull/{self.town.number(seen)}")
        main = self.page.get_by_role("main")
        for said in words:
            await expect(main).to_contain_text(said)
        for place, (width, height) in PLACES.items():
            await self.page.set_viewport_size({"width": width, "height": height})
            if (
                name != "waiting"
            ):  # a newcomer reads from the top, what happened stands further down
                await main.get_by_text(words[0]).first.evaluate(CENTRED)
            await self.page.screenshot(path=self.folder / f"{name}-{place}.png")


Scenery = Callable[..., Any]


@pytest.fixture
def scene(
    tmp_path: Path,
    judged: Callable[[Any], Any],
    page: Page,
    screenshots: Path,
    serving: Serving,
    port: socket.socket,
) -> Scenery:
    """`async with scene(policy) as s`: the town with this policy, served to the window."""

    @asynccontextmanager
    async def made(policy: str = POLICY) -> AsyncIterator[Scene]:
        database = tmp_path / "crm.db"
        crm.make(database)
        tools = deactivating(database)
        async with (
            town(tmp_path / "town", tools=tools, policy=policy, wrap=judged) as here,
            serving(here.github, port),
        ):
            here.world.add_ruleset(REPOSITORY, "reviewed", branches=["main"], rules=[REVIEWED])
            yield Scene(here, page, address(port), screenshots, database)

    return made


@pytest.fixture(autouse=True)
def kept(request: pytest.FixtureRequest, screenshots: Path) -> Any:
    """Look at what was taken; with --update-golden, keep it for the docs."""
    yield
    for picture in screenshots.glob("*-*.png"):
        assert size(picture)[0] == PLACES[picture.stem.rpartition("-")[2]][0]
        assert 5_000 < picture.stat().st_size < LARGEST, picture.name
        if request.config.getoption("--update-golden"):
            shutil.copy(picture, DOCS / "images" / picture.name)


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", f"{picture.name} is no PNG"
    width, height = struct.unpack(">II", head[16:])
    return width, height


async def test_a_waiting_a_refused_and_an_applied_proposal(scene: Scenery) -> None:
    async with scene() as here:
        seen = await here.ask()
        await here.photograph("waiting", seen, "Waiting for 1 approval")
        await here.approve("dana", seen)
        await here.photograph(
            "refused", seen, "@dana's approval does not count: the agent works for them"
        )
        here.town.world.clock.advance(MINUTE)
        await here.approve("lee", seen)
        assert (await here.town.over(seen))["status"] == "applied"
        await here.photograph("applied", seen, "Done: 3 changes", "Approved by @lee", "Merged")
        assert not crm.active(here.database) & {17, 23, 31}


async def test_an_approved_proposal_that_was_started_a_while_ago(scene: Scenery) -> None:
    async with scene() as here:
        seen = await here.ask()
        async with here.town.in_line(seen):
            here.town.world.clock.advance(MINUTE)
            await here.town.until(seen, lambda _: here.title(seen) == "Approved and started")
            await here.photograph("approved", seen, "Approved and started", "lee")
            assert crm.active(here.database) >= {17, 23, 31}
        assert (await here.town.over(seen))["status"] == "applied"


async def test_a_drifted_proposal(scene: Scenery) -> None:
    async with scene() as here:
        seen = await here.ask()
        crm.deactivate(here.database, 23)
        await here.approve("lee", seen)
        await here.photograph("drifted", seen, "differs from what was approved", "Closed")
        assert crm.active(here.database) >= {17, 31}


def test_the_docs_show_every_picture() -> None:
    shown = re.findall(r"\(images/([\w-]+)\.png\)", (DOCS / "pages.md").read_text())
    assert shown == [f"{name}-{place}" for name in NAMES for place in PLACES]
    for name in shown:
        picture = DOCS / "images" / f"{name}.png"
        assert size(picture)[0] == PLACES[name.rpartition("-")[2]][0]
        assert picture.stat().st_size < LARGEST
