"""Claims as locks, with the daemon deciding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from threading import Thread

import pytest

from coordrooms import (
    AsyncClient,
    AsyncRoom,
    ClaimConflictError,
    Client,
    LeaseLostError,
    NotClaimHolderError,
)
from tests.acceptance.daemons import Daemon
from tests.polling import until

Unique = Callable[[str], str]


@pytest.fixture
async def rooms(daemon: Daemon, unique: Unique) -> AsyncIterator[list[AsyncRoom]]:
    """One room, as eight participants."""
    async with AsyncExitStack() as stack:
        handles = []
        for number in range(8):
            client = AsyncClient(unique(f"p{number}"), url=daemon.url)
            await stack.enter_async_context(client)
            handles.append(await client.join(unique("room"), create=True))
        yield handles


async def test_one_at_a_time_and_everybody_in_the_end(rooms: list[AsyncRoom]) -> None:
    inside: list[str] = []
    fences: list[int] = []

    async def work(room: AsyncRoom) -> None:
        async with room.claim("the-draft", timeout_s=60) as lease:
            assert inside == []
            inside.append(room.ref)
            fences.append(lease.fence)
            await room.post("working", if_claim=lease)
            inside.clear()

    async with asyncio.TaskGroup() as tasks:
        for room in rooms:
            tasks.create_task(work(room))
    assert len(fences) == len(rooms)
    assert fences == sorted(set(fences))


async def test_who_does_not_wait_is_refused(rooms: list[AsyncRoom]) -> None:
    ann, bob, *_ = rooms
    async with ann.claim("the-draft"):
        with pytest.raises(ClaimConflictError):
            async with bob.claim("the-draft"):
                pytest.fail("two hold it")


async def test_waiting_for_a_claim_confirms_nothing(rooms: list[AsyncRoom]) -> None:
    ann, bob, *_ = rooms
    async with ann.claim("the-draft"):
        await ann.post("to be read later")
        taking = asyncio.ensure_future(hold_and_leave(bob))

        async def is_waiting() -> bool:
            return any(member.waiting for member in await ann.members())

        await until(is_waiting)
    await taking
    [unread] = await bob.client.unread()
    assert "to be read later" in [message.body for message in unread.messages]


async def hold_and_leave(room: AsyncRoom) -> None:
    async with room.claim("the-draft", timeout_s=60):
        pass


async def test_leaving_the_room_loses_the_claim(rooms: list[AsyncRoom]) -> None:
    ann, bob, *_ = rooms
    lease = ann.claim("the-draft")
    with pytest.raises(LeaseLostError):
        async with lease:
            await ann.leave()
    assert (await bob.take("the-draft")).claim.fence > lease.fence
    await ann.client.join(ann.ref)
    with pytest.raises(NotClaimHolderError):
        await ann.post("late", if_claim=lease)


def test_threads_take_turns(daemon: Daemon, unique: Unique) -> None:
    inside: list[int] = []
    overlaps: list[int] = []

    def work(number: int) -> None:
        with Client(unique(f"t{number}"), url=daemon.url) as client:
            room = client.join(unique("threads"), create=True)
            with room.claim("the-draft", timeout_s=60) as lease:
                inside.append(number)
                overlaps.append(len(inside))
                room.post("working", if_claim=lease)
                inside.remove(number)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [1, 1, 1, 1]
