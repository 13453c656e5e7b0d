"""Rooms are loaded once: two copies of one room would be a lost wake-up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coordroomsd.domain import ids
from coordroomsd.live import rooms as rooms_module
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import reads
from tests.integration.daemons import Running, running
from tests.integration.held_writers import HeldWriter
from tests.polling import until


async def loaded(daemon: Running, room: str) -> LiveRoom:
    found = await daemon.services.rooms.of_slug("default", room)
    assert found
    return found


async def waiting(daemon: Running, number: int) -> None:
    await until(lambda: daemon.services.hub.statistics().waiting == number)


async def test_a_room_found_between_its_commit_and_its_publishing_is_the_one_that_lives_on(
    connect_arguments: dict[str, Any],
) -> None:
    async with running(connect_arguments) as daemon:
        writer = HeldWriter(daemon.database)
        writer.hold()
        creating = asyncio.create_task(daemon.party("ada").create("plan"))
        await writer.committed()
        seen = await daemon.operator.ok("GET", "/rooms/plan")
        assert seen["room"]["latest_seq"] == 1
        early = await loaded(daemon, "plan")
        writer.release()
        await creating
        assert await loaded(daemon, "plan") is early
        await daemon.party("ada").say("plan")
        assert early.state.head == 2
        assert len(early.tail) == 1


async def test_a_room_whose_load_ends_after_it_was_published_is_the_published_one(
    connect_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(connect_arguments) as daemon:
        writer = HeldWriter(daemon.database)
        load, read, go_on = reads.load_room, asyncio.Event(), asyncio.Event()

        async def load_slowly(*arguments: Any) -> Any:
            found = await load(*arguments)
            read.set()
            await go_on.wait()
            return found

        monkeypatch.setattr(reads, "load_room", load_slowly)
        writer.hold()
        creating = asyncio.create_task(daemon.party("ada").create("plan"))
        await writer.committed()
        looking = asyncio.create_task(daemon.operator.ok("GET", "/rooms/plan"))
        await read.wait()
        writer.release()
        await creating
        published = await loaded(daemon, "plan")
        go_on.set()
        await looking
        assert await loaded(daemon, "plan") is published


async def test_a_room_is_loaded_while_it_is_written(connect_arguments: dict[str, Any]) -> None:
    """After a restart nothing is in memory: readers and writers ask for the room at once."""
    async with running(connect_arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        await ada.say("plan", *["x"] * 100)
    for _ in range(20):
        async with running(connect_arguments) as daemon:
            ada, bob = daemon.party("ada"), daemon.party("bob")
            _, one, _, other, _ = await asyncio.gather(
                bob.wait("plan", timeout_s=0),
                ada.say("plan"),
                bob.events("plan"),
                ada.say("plan"),
                bob.ok("GET", "/rooms/plan/members"),
            )
            head = max(one + other)
            room = await loaded(daemon, "plan")
            assert room.state.head == head
            assert len(room.tail) == 2
            waited = await bob.wait("plan", head - 1)
            assert waited["woken_by"] == [head]


async def test_rooms_that_are_let_go_keep_waking_who_waits_in_them(
    connect_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms_module, "KEPT_ROOMS", 2)
    async with running(connect_arguments) as daemon:
        names = [f"room-{number}" for number in range(12)]
        waits = []
        for number, name in enumerate(names):
            await daemon.room(name, f"maker-{number}", f"waiter-{number}")
            waiter = daemon.party(f"waiter-{number}")
            waits.append(asyncio.create_task(waiter.wait(name, 2)))
        await waiting(daemon, len(names))
        assert len(daemon.services.rooms) == len(names)
        for number, name in enumerate(names):
            await daemon.party(f"maker-{number}").say(name)
        answers = await asyncio.gather(*waits)
        assert [answer["woken_by"] for answer in answers] == [[3]] * len(names)
        del waits
        await until(lambda: not daemon.services.positions)
        for name in names[:2]:
            await loaded(daemon, name)
        await until(lambda: len(daemon.services.rooms) <= 2)


async def test_a_room_that_was_let_go_comes_back_as_it_was(
    connect_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(connect_arguments) as daemon:
        ada, bob = await daemon.room("plan", "ada", "bob")
        [seq] = await ada.say("plan")
        await ada.claim("plan", "k")
        await ada.set_status("plan", "reading")
        await bob.ok("PUT", f"/rooms/plan/messages/{seq}/reactions/ack")
        await bob.events("plan")
        before = await bob.ok("GET", "/rooms/plan")
        room = await loaded(daemon, "plan")
        kept = room.state, dict(room.positions)
        del room
        await until(lambda: not daemon.services.positions)
        monkeypatch.setattr(rooms_module, "KEPT_ROOMS", 1)
        await daemon.room("other", "eve")
        await until(lambda: len(daemon.services.rooms) == 1)
        again = await loaded(daemon, "plan")
        assert (again.state, again.positions) == kept
        assert (await bob.ok("GET", "/rooms/plan"))["claims"] == before["claims"]


async def test_nobody_by_an_id_loads_nothing(connect_arguments: dict[str, Any]) -> None:
    async with running(connect_arguments) as daemon:
        nobody = ids.room_id(12345)
        await daemon.operator.refused("room_not_found", "GET", f"/rooms/{nobody}")
        assert len(daemon.services.rooms) == 0
