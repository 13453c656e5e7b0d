from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from coordroomsd import chores
from coordroomsd.chores import end_what_runs_out, index_words
from coordroomsd.live.timers import Timers
from coordroomsd.live.unindexed import Unindexed
from coordroomsd.store.errors import NoSpaceError
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


class FullDisk:
    """A database on it: `asked` tells of each session that it refuses."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[None] = asyncio.Queue()

    @contextlib.asynccontextmanager
    async def side_session(self) -> AsyncIterator[None]:
        self.asked.put_nowait(None)
        raise NoSpaceError(f"only {self.asked.qsize()} MiB are free")
        yield


async def test_what_fails_each_time_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(chores, "INDEX_AFTER_S", 0)
    caplog.set_level(logging.INFO)
    disk, unindexed = FullDisk(), Unindexed([1])
    indexing = asyncio.create_task(index_words(disk, unindexed, FakeClock()))  # type: ignore[arg-type]
    for _ in range(10):
        await disk.asked.get()
    indexing.cancel()
    assert caplog.messages == ["could not read messages into the search index: only 1 MiB are free"]
