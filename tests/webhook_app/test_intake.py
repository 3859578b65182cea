"""Under load: one commit for many, nothing acknowledged is lost, and a full house says so."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proposals.store import Delivery, Store, StoreStopped
from tests.running import running, signed
from webhook_app.doors.intake import Intake
from webhook_app.doors.problem import Problem

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BODY = b'{"repository": {"id": 99, "owner": {"id": 9919}}}'


def delivery(guid: str, repository: int = 99) -> Delivery:
    return Delivery(guid, "push", "", "{}", NOW, repository=repository)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "placet.db")
    yield made
    made.close()


def commits(store: Store) -> list[str]:
    """What the connection does from now on, transaction by transaction."""
    said: list[str] = []
    store.db.conn.set_trace_callback(said.append)
    return said


async def test_what_comes_together_is_committed_together(store: Store) -> None:
    woken: list[bool] = []
    intake, said = Intake(store, lambda: woken.append(True)), commits(store)
    new = await asyncio.gather(*(intake.put(delivery(f"g{n % 40}")) for n in range(60)))
    assert (sum(new), len(woken), said.count("COMMIT")) == (40, 1, 1)
    assert all(store.seen(f"g{n}") for n in range(40))


async def test_nothing_is_acknowledged_before_its_commit(store: Store) -> None:
    said = commits(store)
    await Intake(store, lambda: None).put(delivery("g1"))
    assert said[-1] == "COMMIT"


async def test_one_that_cannot_be_kept_takes_no_other_with_it(store: Store) -> None:
    intake = Intake(store, lambda: None)
    asked = [intake.put(delivery("good")), intake.put(delivery("bad", 2**70))]
    good, bad = await asyncio.gather(*asked, return_exceptions=True)
    assert (good, type(bad)) == (True, OverflowError)
    assert store.seen("good")


async def test_a_stopped_store_acknowledges_nothing(store: Store) -> None:
    store.db.conn.execute("PRAGMA query_only=ON")
    with pytest.raises(StoreStopped):
        await Intake(store, lambda: None).put(delivery("g1"))


async def test_one_who_left_does_not_disturb_the_others(store: Store) -> None:
    intake = Intake(store, lambda: None)
    tasks = [asyncio.create_task(intake.put(delivery(f"g{n}"))) for n in range(2)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    assert await tasks[1]


@pytest.mark.parametrize(
    ("most", "most_bytes"), [pytest.param(2, 99, id="count"), pytest.param(9, 20, id="bytes")]
)
def test_a_full_house_says_when_to_come_again(store: Store, most: int, most_bytes: int) -> None:
    intake = Intake(store, lambda: None, most, most_bytes)
    with intake.room(10), intake.room(10):
        with pytest.raises(Problem) as full, intake.room(10):
            pass
        assert (full.value.status, full.value.headers) == (503, {"Retry-After": "5"})
    with intake.room(10):
        pass


def test_one_that_is_larger_than_the_house_is_let_in_alone(store: Store) -> None:
    with Intake(store, lambda: None, 2, 20).room(30):
        pass


async def test_a_full_house_reads_no_body(tmp_path: Path) -> None:
    async with running(tmp_path) as placet:
        placet.hall.intake.most = 1
        read: list[bytes] = []

        async def body() -> AsyncIterator[bytes]:
            read.append(BODY)
            yield BODY

        with placet.hall.intake.room(1):
            sent = {k: v for k, v in signed(BODY).items() if v is not None}
            full = await placet.http.post("/webhook", content=body(), headers=sent)
        assert (full.status_code, full.headers["retry-after"]) == (503, "5")
        assert full.json()["code"] == "busy"
        assert not placet.store.seen("guid-1")
        assert (await placet.deliver(BODY)).status_code == 202


def test_whatever_goes_wrong_inside_gives_the_place_back(store: Store) -> None:
    intake = Intake(store, lambda: None, 1, 20)
    with pytest.raises(OSError, match="broken"), intake.room(20):
        raise OSError("broken")
    with intake.room(20):
        pass
