from __future__ import annotations

import asyncio
from typing import Any

from coordroomsd.chores import end_what_runs_out
from coordroomsd.live.timers import Timers
from tests.clocks import FakeClock


class OneBrokenRoom:
    """A journal that fails in room 1, and tells of every other room that it is asked about."""

    def __init__(self) -> None:
        self.ended: asyncio.Queue[int] = asyncio.Queue()

    async def execute(self, command: Any, _: Any) -> None:
        if command.room_id == 1:
            raise ZeroDivisionError
        self.ended.put_nowait(command.room_id)


async def test_a_room_that_fails_keeps_no_other_from_its_deadlines() -> None:
    clock, journal = FakeClock(), OneBrokenRoom()
    timers = Timers(clock)
    for room_id in (1, 2):
        timers.arm(room_id, clock.now())
    ending = asyncio.create_task(end_what_runs_out(journal, timers, clock))  # type: ignore[arg-type]
    assert await journal.ended.get() == 2
    timers.arm(3, clock.now())
    assert await journal.ended.get() == 3
    assert len(timers) == 1, "the broken room is looked at again later"
    ending.cancel()
