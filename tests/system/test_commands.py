"""What people command is answered, whatever happens between the command and its answer."""

import asyncio
from typing import Any

import pytest

from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.conftest import Box
from tests.system.test_stopped_store import read_only
from tests.system.test_unknown import lost
from webhook_app.worker.answers import MOST

pytestmark = pytest.mark.anyio

WHO = "/repos/{owner}/{repo}/collaborators/{username}/permission"


async def resolve(here: Town, seen: dict[str, Any], login: str, word: str) -> None:
    digest = seen["digest"].removeprefix("sha256:")[:12]
    words = f"/resolve {digest} {word} I looked into the box"
    await here.person(login).comment(REPOSITORY, here.number(seen), words)


async def taken_up(here: Town, times: int = 1) -> None:
    """Wait until commands were taken up so often."""
    async with asyncio.timeout(10):
        while sum(c.tries for c in here.store.commands()) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def again(here: Town) -> None:
    """What the sweep lets happen every minute, and then wait for it."""
    worker: Any = here.hall.worker
    worker._answers.again()  # noqa: SLF001 (a minute is too long to wait)
    worker.wake()
    async with asyncio.timeout(10):
        while here.store.commands():  # noqa: ASYNC110 (the store has no event for it)
            await asyncio.sleep(0.005)
    await here.rest()


async def test_a_resolve_that_a_restart_broke_off_is_done_after_it(here: Town, box: Box) -> None:
    seen = await lost(here, box)
    before = len(here.comments(seen))
    here.world.faults.add(Fault("GET", WHO, delay=60))
    await resolve(here, seen, "lee", "failed")
    await taken_up(here)
    await here.stop()
    here.world.faults.requests.clear()
    await here.start()
    await here.until(seen, lambda p: p.state is State.FAILED)
    await here.rest()
    assert here.store.commands() == []
    assert not any("nothing to resolve" in said for said in here.comments(seen)[before:])


async def test_a_replan_that_a_restart_broke_off_makes_one_new_plan(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("slow plan")
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
    await taken_up(here)
    await here.until(seen, lambda p: p.state is State.ENDED)
    await here.stop()
    box.mends()
    await here.start()
    await here.rest()
    found = [p for p in here.store.proposals() if p.parent == seen["proposal"]]
    assert sorted(p.state for p in found) == ["ended", "open"]
    assert here.store.commands() == []


async def test_a_replan_that_was_done_and_not_yet_answered_is_not_done_twice(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("slow plan")
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
    await taken_up(here)
    [command] = here.store.commands()
    while here.store.commands():  # noqa: ASYNC110 (the store has no event for it)
        await asyncio.sleep(0.005)
    with here.store.tx():
        here.store.keep_command(command)
        here.store.trying_command(command.proposal, command.key)
    await again(here)
    found = [p for p in here.store.proposals() if p.parent == seen["proposal"]]
    assert [p.state for p in found] == ["open"]


async def test_two_people_settle_it_at_once_and_both_are_answered(here: Town, box: Box) -> None:
    seen = await lost(here, box)
    before = len(here.comments(seen))
    both = asyncio.Event()
    here.world.faults.add(Fault("GET", WHO, times=2, run=both.wait))
    for login in ("lee", "noor"):
        await resolve(here, seen, login, "failed")
    await taken_up(here, 2)
    both.set()
    await here.until(seen, lambda p: p.state is State.FAILED)
    await here.rest()
    said = [text for text in here.comments(seen)[before:] if "decided by now" in text]
    assert len(said) == 1
    assert here.store.commands() == []


async def test_a_command_that_a_stopped_store_broke_off_is_taken_up_again(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    here.world.faults.add(Fault("GET", WHO, delay=0.5))
    await resolve(here, seen, "lee", "failed")
    await taken_up(here)
    read_only(here)
    await asyncio.sleep(1)
    read_only(here, on=False)
    assert here.kept(seen).state is State.UNKNOWN
    await again(here)
    assert here.kept(seen).state is State.FAILED


async def test_a_command_that_fails_for_ever_is_given_up_in_the_open(here: Town, box: Box) -> None:
    seen = await lost(here, box)
    here.world.faults.add(Fault("GET", WHO, delay=60, times=99))
    await resolve(here, seen, "lee", "failed")
    for times in range(1, MOST + 1):
        await taken_up(here, times)
        await here.stop()
        await here.start()
    await here.rest()
    assert "again and again" in here.comments(seen)[-1]
    assert (here.store.commands(), here.kept(seen).state) == ([], State.UNKNOWN)
