"""Writes follow each other, in bursts and not faster than allowed."""

import asyncio

import pytest

from proposals.ports import Unavailable
from webhook_app.github.pace import Pace

pytestmark = pytest.mark.anyio


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


async def write(pace: Pace, times: int, installation: int = 1) -> None:
    for _ in range(times):
        async with pace.turn(installation):
            pass


@pytest.mark.parametrize(
    ("per_minute", "writes", "seconds"),
    [
        pytest.param(60, 5, 0, id="a-burst-at-once"),
        pytest.param(60, 8, 3, id="then-one-a-second"),
        pytest.param(None, 500, 0, id="off"),
    ],
)
async def test_writes_wait_for_their_tokens(
    per_minute: float | None, writes: int, seconds: float
) -> None:
    time = Time()
    await write(Pace(per_minute, 5, time.clock, time.sleep), writes)
    assert time.now == pytest.approx(seconds)


async def test_a_pause_fills_the_bucket_but_not_over_its_rim() -> None:
    time = Time()
    pace = Pace(60, 5, time.clock, time.sleep)
    await write(pace, 5)
    time.now += 3600
    await write(pace, 6)
    assert time.now == pytest.approx(3601)


async def test_installations_do_not_wait_for_each_other() -> None:
    time = Time()
    pace = Pace(60, 1, time.clock, time.sleep)
    for installation in range(5):
        await write(pace, 1, installation)
    assert time.now == 0


async def test_writes_of_one_installation_never_overlap() -> None:
    time, inside, most = Time(), 0, 0
    pace = Pace(6000, 10, time.clock, time.sleep)

    async def one() -> None:
        nonlocal inside, most
        async with pace.turn(1):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert most == 1


async def test_a_closed_door_lets_nothing_through_until_it_opens() -> None:
    time = Time()
    pace = Pace(None, 1, time.clock, time.sleep)
    pace.close(1, 30)
    pace.close(1, 5)
    with pytest.raises(Unavailable) as closed:
        await write(pace, 1)
    assert closed.value.retry_after == 30
    await write(pace, 1, 2)
    time.now = 30
    await write(pace, 1)
