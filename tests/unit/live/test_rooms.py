from __future__ import annotations

import asyncio
import gc
from typing import Any, cast

import pytest

from coordroomsd.domain.rooms import Room
from coordroomsd.live import rooms as rooms_module
from coordroomsd.live.rooms import LiveRoom, Rooms
from coordroomsd.store import reads
from coordroomsd.store.reads import LoadedRoom
from tests.clocks import START


def room(number: int) -> Room:
    name = f"room-{number}"
    return Room(number, "default", "room", name, name, START)


class Store:
    """Has rooms 1 to 9; `asked` are the numbers that were loaded."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def load_room(self, _: object, number: int) -> LoadedRoom | None:
        self.asked.append(number)
        await self.may_answer.wait()
        return LoadedRoom(room(number), {}) if 0 < number < 10 else None

    async def room_of_slug(self, _: object, __: str, slug: str) -> int | None:
        return int(slug.removeprefix("room-")) if slug.startswith("room-") else None


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    store = Store()
    monkeypatch.setattr(reads, "load_room", store.load_room)
    monkeypatch.setattr(reads, "room_of_slug", store.room_of_slug)
    return store


@pytest.fixture
def rooms(store: Store) -> Rooms:
    return Rooms(cast(Any, None))


async def test_a_room_is_loaded_once(rooms: Rooms, store: Store) -> None:
    first, second = await asyncio.gather(rooms.get(1), rooms.get(1))
    assert first is second is rooms.peek(1) is await rooms.of_slug("default", "room-1")
    assert store.asked == [1]
    assert len(rooms) == 1


async def test_who_is_not_there_is_not_kept(rooms: Rooms, store: Store) -> None:
    assert await rooms.get(99) is None
    assert await rooms.of_slug("default", "nowhere") is None
    assert rooms.peek(1) is None
    assert len(rooms) == 0


async def test_the_rooms_used_last_are_kept(
    rooms: Rooms, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms_module, "KEPT_ROOMS", 2)
    for number in (1, 2, 1, 3):
        await rooms.get(number)
    gc.collect()
    assert [number for number in range(1, 10) if rooms.peek(number)] == [1, 3]
    assert store.asked == [1, 2, 3]


async def test_a_room_that_somebody_holds_stays_the_same(
    rooms: Rooms, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms_module, "KEPT_ROOMS", 1)
    held = await rooms.get(1)
    for number in (2, 3, 4):
        await rooms.get(number)
    assert await rooms.get(1) is held
    assert store.asked == [1, 2, 3, 4]


async def test_what_was_made_while_it_was_loaded_is_what_there_is(
    rooms: Rooms, store: Store
) -> None:
    store.may_answer.clear()
    loading = asyncio.create_task(rooms.get(1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    made = LiveRoom(room(1), {})
    rooms.add(made)
    store.may_answer.set()
    assert await loading is made
    assert rooms.peek(1) is made


async def test_a_room_that_was_made_is_found_by_its_name(rooms: Rooms, store: Store) -> None:
    made = LiveRoom(room(77), {})
    rooms.add(made)
    assert await rooms.of_slug("default", "room-77") is made
    assert store.asked == []
    assert rooms.loaded() == [made]
