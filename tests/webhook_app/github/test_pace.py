"""Writes follow each other, in bursts and not faster than allowed."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.ports import Unavailable
from webhook_app.github.pace import PATIENCE, SHARE, Limits, Pace

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
    await write(Pace(Limits(per_minute, 5), time.clock, time.sleep), writes)
    assert time.now == pytest.approx(seconds)


async def test_a_pause_fills_the_bucket_but_not_over_its_rim() -> None:
    time = Time()
    pace = Pace(Limits(60, 5), time.clock, time.sleep)
    await write(pace, 5)
    time.now += 3600
    await write(pace, 6)
    assert time.now == pytest.approx(3601)


async def test_installations_do_not_wait_for_each_other() -> None:
    time = Time()
    pace = Pace(Limits(60, 1), time.clock, time.sleep)
    for installation in range(5):
        await write(pace, 1, installation)
    assert time.now == 0


async def test_writes_of_one_installation_never_overlap() -> None:
    time, inside, most = Time(), 0, 0
    pace = Pace(Limits(6000, 10), time.clock, time.sleep)

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
    pace = Pace(Limits(None, 1), time.clock, time.sleep)
    pace.close(1, 30)
    pace.close(1, 5)
    with pytest.raises(Unavailable) as closed:
        await write(pace, 1)
    assert closed.value.retry_after == 30
    await write(pace, 1, 2)
    time.now = 30
    await write(pace, 1)


async def test_a_pause_of_unsaid_length_doubles_until_a_write_works() -> None:
    time = Time()
    pace = Pace(Limits(None, 1), time.clock, time.sleep)
    waits = []
    for _ in range(6):
        pace.close(1, 60, told=False)
        with pytest.raises(Unavailable) as closed:
            pace.check(1)
        waits.append(closed.value.retry_after)
        time.now += closed.value.retry_after
    assert waits == [60, 120, 240, 480, 900, 900]
    pace.worked(1)
    pace.close(1, 60, told=False)
    assert pace.brakes() == {1: (60, 0)}


async def test_a_long_wait_is_sent_back_and_named_as_the_brake() -> None:
    time = Time()
    pace = Pace(Limits(600, 600, per_hour=10), time.clock, time.sleep)
    await write(pace, 8)
    with pytest.raises(Unavailable, match="no faster than allowed") as braked:
        await write(pace, 1)
    assert braked.value.retry_after == pytest.approx(3600)
    assert pace.brakes()[1][0] == pytest.approx(3600)
    async with pace.turn(1, urgent=True):
        pass  # a fifth of the hour is kept for it
    time.now += 3600
    assert not pace.brakes()
    await write(pace, 1)


async def test_an_urgent_write_passes_those_that_wait() -> None:
    time, order = Time(), []
    pace = Pace(Limits(60, 1), time.clock, time.sleep)

    async def one(name: str, *, urgent: bool) -> None:
        async with pace.turn(1, urgent=urgent):
            order.append(name)
            await asyncio.sleep(0.01)

    shown = [asyncio.create_task(one(f"show {n}", urgent=False)) for n in range(3)]
    await asyncio.sleep(0.005)
    await asyncio.gather(one("start", urgent=True), one("end", urgent=True), *shown)
    assert order == ["show 0", "start", "end", "show 1", "show 2"]


async def test_whoever_gives_up_waiting_lets_the_next_one_through() -> None:
    time = Time()
    pace = Pace(Limits(60, 5), time.clock, time.sleep)
    async with pace.turn(1):
        waiting = [asyncio.create_task(write(pace, 1)) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    await waiting[1]
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]


STEPS = st.lists(st.tuples(st.floats(0, 40), st.booleans()), min_size=1, max_size=120)


@given(st.integers(1, 12), st.integers(1, 30), st.integers(1, 5), STEPS)
def test_no_window_ever_holds_more_writes_than_its_limit(
    minute: int, hour: int, burst: int, steps: list[tuple[float, bool]]
) -> None:
    sent = asyncio.run(_sent(Limits(minute, burst, hour), steps))
    for seconds, most in ((60.0, minute), (3600.0, hour)):
        for at, urgent in sent:
            inside = [t for t, _ in sent if at - seconds < t <= at]
            assert len(inside) <= most
            assert urgent or len(inside) <= max(1, int(most * SHARE))


async def _sent(limits: Limits, steps: list[tuple[float, bool]]) -> list[tuple[float, bool]]:
    """Write after each pause, urgent or not; what was sent when. Who is sent back tries no more."""
    time, sent, sent_back = Time(), [], [PATIENCE + 1]
    pace = Pace(limits, time.clock, time.sleep)

    async def one(urgent: bool) -> None:  # noqa: FBT001
        try:
            async with pace.turn(1, urgent=urgent):
                sent.append((time.now, urgent))
                time.now += 0.1
        except Unavailable as braked:
            sent_back.append(braked.retry_after)

    for pause, urgent in steps:
        time.now += pause
        await asyncio.gather(one(urgent), one(not urgent))
    assert min(sent_back) > PATIENCE
    return sent
