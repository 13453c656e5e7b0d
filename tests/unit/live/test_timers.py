from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import pytest

from coordroomsd.live.timers import Timers
from tests.clocks import START, FakeClock, SkippingLoop


def after(seconds: float) -> Any:
    return START + timedelta(seconds=seconds)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def timers(clock: FakeClock) -> Timers:
    return Timers(clock)


def on_fake_time(clock: FakeClock, work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=lambda: SkippingLoop(clock)) as runner:
        runner.run(work)


def test_rooms_are_due_at_their_deadlines(timers: Timers, clock: FakeClock) -> None:
    timers.arm(1, after(10))
    timers.arm(2, after(20))
    assert timers.take_due() == set()
    clock.pass_seconds(10)
    assert timers.take_due() == {1}
    assert timers.take_due() == set()
    clock.pass_seconds(10)
    assert timers.take_due() == {2}
    assert len(timers) == 0


def test_the_earliest_deadline_of_a_room_counts(timers: Timers, clock: FakeClock) -> None:
    timers.arm(1, after(20))
    timers.arm(1, after(10))
    timers.arm(1, after(30))
    assert len(timers) == 1
    clock.pass_seconds(10)
    assert timers.take_due() == {1}
    clock.pass_seconds(100)
    assert timers.take_due() == set()


def test_a_room_that_was_due_is_armed_anew(timers: Timers, clock: FakeClock) -> None:
    timers.arm(1, after(10))
    clock.pass_seconds(10)
    timers.take_due()
    timers.arm(1, after(15))
    clock.pass_seconds(5)
    assert timers.take_due() == {1}


def test_a_deadline_that_is_over_is_due_now(timers: Timers) -> None:
    timers.arm(1, after(-5))
    assert timers.take_due() == {1}


def test_it_sleeps_until_something_is_due(timers: Timers, clock: FakeClock) -> None:
    async def sleep() -> None:
        timers.arm(2, after(0.25))
        timers.arm(1, after(3600))
        assert await timers.due() == {2}
        assert after(0.25) <= clock.now() < after(0.27)
        assert await timers.due() == {1}
        assert after(3600) <= clock.now() < after(3600.02)

    on_fake_time(clock, sleep())


def test_an_earlier_deadline_ends_the_sleep(timers: Timers, clock: FakeClock) -> None:
    async def sleep() -> None:
        timers.arm(1, after(3600))
        due = asyncio.create_task(timers.due())
        await asyncio.sleep(0.6)
        timers.arm(2, after(0.7))
        assert await due == {2}
        assert clock.now() < after(0.72)

    on_fake_time(clock, sleep())


def test_the_first_deadline_ends_the_sleep_of_who_had_none(
    timers: Timers, clock: FakeClock
) -> None:
    async def sleep() -> None:
        due = asyncio.create_task(timers.due())
        await asyncio.sleep(10)
        timers.arm(1, after(0))
        assert await due == {1}
        assert clock.now() < after(10.01)

    on_fake_time(clock, sleep())


def test_a_machine_that_slept_is_noticed_within_a_second(timers: Timers, clock: FakeClock) -> None:
    """The loop's own clock stood still meanwhile."""
    loop_s = FakeClock()

    async def sleep() -> None:
        timers.arm(1, after(3600))
        due = asyncio.create_task(timers.due())
        await asyncio.sleep(0)
        clock.pass_seconds(3600)
        assert await due == {1}
        assert loop_s.monotonic() < 1.1

    on_fake_time(loop_s, sleep())


@pytest.mark.parametrize("armed", [1, 100_000])
def test_far_deadlines_cost_one_look_a_second_however_many_they_are(
    timers: Timers, clock: FakeClock, armed: int
) -> None:
    async def idle() -> None:
        for room_id in range(armed):
            timers.arm(room_id, after(86_400 + room_id))
        due = asyncio.create_task(timers.due())
        await asyncio.sleep(0)
        before = clock.readings
        await asyncio.sleep(600)
        # Each look asks what is due, and how long to sleep.
        assert clock.readings - before <= 2 * 601
        due.cancel()

    on_fake_time(clock, idle())


def test_a_thousand_deadlines_of_one_second_are_due_together(
    timers: Timers, clock: FakeClock
) -> None:
    for room_id in range(1000):
        timers.arm(room_id, after(5 + room_id / 1000))
    clock.pass_seconds(6)
    assert timers.take_due() == set(range(1000))
