from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from coordroomsd.http.readers import ANSWER_WITHIN_S, LEAST_BYTES, Readers
from tests.clocks import FakeClock, SkippingLoop
from tests.unit.http.test_peers import Transport

MIB = 1024 * 1024


class Unread(Transport):
    """So many bytes wait in it."""

    def __init__(self, unread: int) -> None:
        super().__init__()
        self.unread = unread
        self.drops = 0

    def get_write_buffer_size(self) -> int:
        return self.unread

    def drop(self) -> None:
        self.drops += 1


class World:
    def __init__(self) -> None:
        self._loop = SkippingLoop(FakeClock())
        self.readers = Readers(most_bytes=10 * MIB)

    def behind(self, unread: int) -> Unread:
        transport = Unread(unread)
        self.falls_behind(transport)
        return transport

    def falls_behind(self, transport: Unread) -> None:
        self.readers.fell_behind(transport, self._loop, transport.drop)

    def passes(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def close(self) -> None:
        self._loop.close()


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


def test_one_that_takes_nothing_is_dropped_once(world: World) -> None:
    reader = world.behind(MIB)
    world.passes(ANSWER_WITHIN_S - 1)
    assert reader.drops == 0
    world.passes(2)
    assert reader.drops == 1
    world.passes(10 * ANSWER_WITHIN_S)
    assert (reader.drops, world.readers.unread_bytes()) == (1, 0)


def test_one_byte_a_second_is_too_little(world: World) -> None:
    reader = world.behind(MIB)
    for _ in range(int(ANSWER_WITHIN_S) + 1):
        world.passes(1)
        reader.unread -= 1
    assert reader.drops == 1


def test_a_slow_line_is_waited_for(world: World) -> None:
    reader = world.behind(MIB)
    while reader.unread > LEAST_BYTES:
        reader.unread -= LEAST_BYTES
        world.passes(ANSWER_WITHIN_S)
    world.readers.caught_up(reader)
    world.passes(10 * ANSWER_WITHIN_S)
    assert (reader.drops, world.readers.unread_bytes()) == (0, 0)


def test_when_memory_is_short_the_longest_behind_makes_room(world: World) -> None:
    first, second, third = (world.behind(size * MIB) for size in (4, 5, 3))
    assert (first.drops, second.drops, third.drops) == (1, 0, 0)
    assert world.readers.unread_bytes() == 8 * MIB


def test_one_answer_alone_may_be_larger_than_all(world: World) -> None:
    assert world.behind(20 * MIB).drops == 0


def test_falling_behind_twice_counts_once(world: World) -> None:
    reader = world.behind(MIB)
    world.readers.caught_up(Unread(0))
    world.falls_behind(reader)
    assert world.readers.unread_bytes() == MIB
