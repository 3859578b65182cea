"""A server that is told to stop: what is being applied may end, and nothing else is waited for."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

import sandbox.tools.rows
from checks.facts import Person
from proposals.flow import take_back
from proposals.flow import undo as plan_undo
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from sandbox.tools import crm
from tests.system.conftest import POLICY, Box
from tests.system.test_announce import Shop
from tests.system.test_undo import ROWS, tools
from webhook_app.app.running import GRACE, Server

pytestmark = pytest.mark.anyio

LONG = timedelta(seconds=60)
SLOW = f"""
import io, json, runpy, sys, time
from pathlib import Path
asked, verb = sys.stdin.read(), sys.argv[1]
if json.loads(asked)["verb"] == verb:  # the command for undo also plans it
    Path(__file__).with_name(verb).touch()
    time.sleep(0.6)
sys.stdin = io.StringIO(asked)
runpy.run_path({str(sandbox.tools.rows.__file__)!r}, run_name="__main__")
"""


@pytest.fixture
async def slow(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Shop]:
    """A patient town whose agent renames customers at once; that and taking it back take long."""
    database, file = tmp_path / "crm.db", tmp_path / "slow.py"
    crm.make(database)
    file.write_text(SLOW)
    toml = tools(database).replace("[tool.db.rename]\n", '[tool.db.rename]\nmode = "announce"\n')
    for verb in ("apply", "undo"):
        toml = toml.replace(str([*ROWS, verb]), str([sys.executable, str(file), verb]))
    policy = POLICY.replace('["box.*"]', '["box.*", "db.*"]')
    async with town(tmp_path / "town", tools=toml, policy=policy, wrap=judged) as here:
        await patient(here)
        yield Shop(here, database)


async def patient(here: Town, patience: timedelta = LONG) -> None:
    await here.stop()
    here.patience = patience
    await here.start()


async def applying(here: Town, box: Box, how: str) -> dict[str, Any]:
    """An approved call whose tool runs right now."""
    seen = await here.propose("box.add", {"n": 4})
    box.breaks(how)
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: box.runs == 1)
    return seen


async def begun(shop: Shop, verb: str) -> None:
    async with asyncio.timeout(30):
        while not shop.database.with_name(verb).exists():  # noqa: ASYNC110 (a process writes it)
            await asyncio.sleep(0.005)


async def known(here: Town, proposal: Proposal) -> bool:
    """Whether a change that ran when the server stopped was kept as done before it was gone."""
    await here.start()
    kept = here.store.proposal(proposal.id)
    events = [move["event"] for move in here.store.history(proposal.id)]
    return kept is not None and kept.state is State.APPLIED and Event.LOST not in events


async def test_what_a_person_takes_back_at_once_may_end(slow: Shop) -> None:
    """The worker does it while it answers a comment, and advances no proposal meanwhile."""
    here, before = slow.here, slow.name()
    said = await slow.rename("Ada")
    await here.rest()
    await here.person("lee").comment(REPOSITORY, here.number(said), "/undo")
    await begun(slow, "undo")
    undo = here.store.undo_of(said["proposal"])
    assert undo is not None
    await here.stop()
    assert slow.name() == before
    assert await known(here, undo)


async def claimed(slow: Shop, go_on: asyncio.Event) -> tuple[dict[str, Any], Proposal]:
    """A change that a person takes back at once, and the undo as it is looked at until `go_on`."""
    here = slow.here

    async def hold() -> None:
        await go_on.wait()

    said = await slow.rename("Ada")
    await here.rest()
    here.world.faults.add(Fault("GET", r"/contents/.*placet\.yml", times=99, run=hold))
    await here.person("lee").comment(REPOSITORY, here.number(said), "/undo")
    async with asyncio.timeout(30):
        while not (found := here.store.proposals(state=State.CLAIMED)):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return said, found[0]


@asynccontextmanager
async def store_stopped(shop: Shop, undo: Proposal) -> AsyncIterator[None]:
    """The store takes nothing in until whoever carries the undo out has failed of it."""
    here = shop.here
    here.store.db.conn.execute("PRAGMA query_only=ON")
    yield
    async with asyncio.timeout(30):
        while undo.id in here.hall.ports.lines.running:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    here.store.db.conn.execute("PRAGMA query_only=OFF")


async def test_what_is_taken_back_at_once_and_breaks_off_before_it_began_is_ended_and_done_anew(
    slow: Shop,
) -> None:
    """It stayed open for a day without a page, and was given to whoever asked for an undo then."""
    here, before = slow.here, slow.name()
    said, undo = await claimed(slow, asyncio.Event())
    assert (undo.mode, undo.undoes) == ("announce", said["proposal"])
    await here.stop()
    here.world.faults.clear()
    await here.start()
    await here.rest()
    over = here.store.proposal(undo.id)
    assert over is not None
    assert (over.state, over.reason) == (State.ENDED, "not_started")
    assert "Nothing was undone" in over.why
    assert any("Undone" in words for words in here.comments(said))
    assert slow.name() == before


@pytest.mark.parametrize("left", [State.PINNED, State.OPEN])
async def test_an_undo_at_once_that_nobody_starts_any_more_is_ended_at_the_start(
    slow: Shop, left: State
) -> None:
    """A store that stopped right before its start, or right after it was given back."""
    here = slow.here
    said = await slow.rename("Ada")
    await here.rest()
    ports, now = here.hall.ports, here.world.clock.now()
    original = here.kept(said)
    undo = await plan_undo(ports, original, asked_by=Person(1, "lee"))
    here.store.note(undo.id, mode="announce")
    if left is State.OPEN:
        here.store.move(undo.id, Event.GRANTED, now, nonce="n")
        here.store.move(undo.id, Event.RELEASED, now, nonce=None)
    await here.stop()
    await here.start()
    await here.rest()
    over = here.store.proposal(undo.id)
    assert over is not None
    assert (over.state, over.reason) == (State.ENDED, "not_started")
    assert slow.name() == "Ada"


async def test_an_undo_at_once_that_a_stopped_store_broke_off_is_found_by_whoever_asks_again(
    slow: Shop,
) -> None:
    here, before = slow.here, slow.name()
    go_on = asyncio.Event()
    said, undo = await claimed(slow, go_on)
    async with store_stopped(slow, undo):
        go_on.set()
    ports, lee = here.hall.ports, Person(here.world.account("lee").id, "lee")
    taken = await take_back(ports, here.kept(said), lee)
    assert (taken.at_once, taken.undo.state) == (True, State.APPLIED)
    assert (taken.undo.id == undo.id, slow.name()) == (False, before)


async def test_an_undo_at_once_whose_outcome_a_stopped_store_could_not_keep_is_read_back(
    slow: Shop,
) -> None:
    here, before = slow.here, slow.name()
    said = await slow.rename("Ada")
    await here.rest()
    await here.person("lee").comment(REPOSITORY, here.number(said), "/undo")
    await begun(slow, "undo")
    undo = here.store.undo_of(said["proposal"])
    assert undo is not None
    async with store_stopped(slow, undo):
        pass
    await here.until({"proposal": undo.id}, lambda p: p.state is State.APPLIED)
    assert slow.name() == before


async def test_what_a_door_does_at_once_may_end_and_a_planning_is_not_waited_for(
    slow: Shop,
) -> None:
    here = slow.here
    calling = asyncio.create_task(slow.rename("Ada"))
    await begun(slow, "apply")
    (started,) = here.store.proposals(state=State.STARTED)
    planning = asyncio.create_task(asyncio.Event().wait(), name="a planning that never ends")
    here.hall.tasks.add(planning)  # type: ignore[arg-type]
    async with asyncio.timeout(LONG.total_seconds() / 2):
        await here.stop()
    assert (slow.name(), planning.cancelled()) == ("Ada", True)
    assert await known(here, started)
    await asyncio.gather(calling, return_exceptions=True)


async def test_with_a_store_that_has_stopped_nothing_is_waited_for_and_nothing_left(
    here: Town, box: Box
) -> None:
    await patient(here)
    seen = await applying(here, box, "slow write")
    read = here.store.db.conn
    read.set_progress_handler(lambda: 1, 1)  # every query of the store is broken off from here on
    await here.stop()
    left = {task.get_name() for task in asyncio.all_tasks()}
    box.mends()
    assert (seen["proposal"] in left, box.value) == (False, 1)


class Told:
    """An application with a listener that stays until it is told of the stop."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.stopping = asyncio.Event()
        self.app.state.stop = self.stopping.set
        self.app.get("/")(self.listen)

    def listen(self) -> StreamingResponse:
        return StreamingResponse(self.told())

    async def told(self) -> AsyncIterator[str]:
        yield "listening "
        await self.stopping.wait()
        yield "told"


async def test_the_deadline_runs_from_the_signal_and_not_from_the_last_callers_end() -> None:
    told = Told()
    config = uvicorn.Config(told.app, port=0, log_level="error", timeout_graceful_shutdown=GRACE)
    server = Server(told.app, config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient() as http, http.stream("GET", f"http://127.0.0.1:{port}") as said:
        words = said.aiter_text()
        heard = await anext(words)
        server.should_exit = True
        async for more in words:
            heard += more
    await serving
    assert heard == "listening told"
