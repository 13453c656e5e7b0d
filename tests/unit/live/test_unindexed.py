"""No room that the index is behind in is ever missing from what a search looks at."""

from __future__ import annotations

import asyncio

from coordroomsd.live.unindexed import Unindexed


def test_a_taken_room_is_still_behind() -> None:
    unindexed = Unindexed([1, 2])
    assert unindexed.take() == 1
    assert unindexed.rooms() == {1, 2}
    unindexed.done()
    assert unindexed.rooms() == {2}


def test_what_comes_while_a_room_is_read_waits_for_another_turn() -> None:
    unindexed = Unindexed([1])
    unindexed.take()
    unindexed.add(1)
    unindexed.done()
    assert unindexed.rooms() == {1}
    assert unindexed.take() == 1


def test_a_room_that_has_more_goes_behind_the_others() -> None:
    unindexed = Unindexed([1, 2])
    unindexed.take()
    unindexed.again()
    assert [unindexed.take(), unindexed.take()] == [2, 1]
    unindexed.done()
    assert unindexed.take() is None
    assert len(unindexed) == 0


async def test_it_says_when_there_is_something() -> None:
    unindexed = Unindexed()
    woken = asyncio.create_task(unindexed.some())
    await asyncio.sleep(0)
    assert not woken.done()
    unindexed.add(7)
    await woken
    unindexed.take()
    unindexed.done()
    again = asyncio.create_task(unindexed.some())
    await asyncio.sleep(0)
    assert not again.done()
    again.cancel()
