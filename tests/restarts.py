"""Clients of the library that follow and write while somebody restarts the daemon under them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Final

from coordrooms import AsyncClient, AsyncRoom, Message
from tests.figures import report
from tests.polling import until

LAST: Final = "the last"
# Between two messages of one writer.
PAUSE_S: Final = 0.05
# A writer makes so many more between two restarts.
POSTS_BETWEEN: Final = 3


@dataclass(slots=True)
class Place:
    """A room, who is in it, and what they said and were told."""

    writers: list[AsyncRoom] = field(default_factory=list)
    followers: list[AsyncRoom] = field(default_factory=list)
    said: dict[str, list[str]] = field(default_factory=dict)
    told: list[list[str]] = field(default_factory=list)


async def check_that_nobody_notices(
    url: str,
    restart: Callable[[], Awaitable[object]],
    *,
    restarts: int,
    followers: int,
    writers: int,
    rooms: int,
) -> None:
    """No call fails, and every follower is told every message once and in order.

    In every other room nobody speaks: its followers stay parked until the end. `restart` returns
    when the daemon is there again.
    """
    async with AsyncExitStack() as clients:
        places = await _made(url, clients, followers=followers, writers=writers, rooms=rooms)
        async with asyncio.TaskGroup() as tasks:
            for place in places:
                for room in place.followers:
                    tasks.create_task(_follow(room, place))
            for place in places:
                await until(lambda place=place: _all_wait(place))  # type: ignore[misc]
            stopping = asyncio.Event()
            async with asyncio.TaskGroup() as writing:
                for place in places[::2]:
                    for room in place.writers:
                        writing.create_task(_write(room, place, stopping))
                await until(lambda: _have_said_more(places, 0))
                for number in range(restarts):
                    began = asyncio.get_running_loop().time()
                    await restart()
                    report("restarted under load", asyncio.get_running_loop().time() - began)
                    await until(
                        lambda number=number: _have_said_more(places, number + 1)  # type: ignore[misc]
                    )
                stopping.set()
            for place in places:
                await place.writers[0].post(LAST)
        for place in places:
            await _check(place)


async def _made(
    url: str, clients: AsyncExitStack, *, followers: int, writers: int, rooms: int
) -> list[Place]:
    run = uuid.uuid4().hex[:8]

    async def enter(role: str, number: int, room: int, *, create: bool = False) -> AsyncRoom:
        name = f"{role}-{number}-{run}"
        client = await clients.enter_async_context(AsyncClient(name, url=url))
        if create:
            return await client.create_room(f"room-{room}-{run}")
        return await client.join(f"room-{room}-{run}")

    places = [Place([await enter("host", room, room, create=True)]) for room in range(rooms)]
    busy = places[::2]
    for number in range(len(busy), writers):
        place = busy[number % len(busy)]
        place.writers.append(await enter("writer", number, places.index(place)))
    for number in range(followers):
        places[number % rooms].followers.append(await enter("follower", number, number % rooms))
    return places


async def _follow(room: AsyncRoom, place: Place) -> None:
    told: list[str] = []
    place.told.append(told)
    async with aclosing(room.follow()) as events:
        async for event in events:
            if isinstance(event, Message):
                told.append(event.body)
                if event.body == LAST:
                    return


async def _write(room: AsyncRoom, place: Place, stopping: asyncio.Event) -> None:
    name = room.client.conversation
    said = place.said.setdefault(str(name), [])
    while not stopping.is_set():
        body = f"{name} says {len(said)}"
        began = asyncio.get_running_loop().time()
        await room.post(body)
        report("posted while it restarts", asyncio.get_running_loop().time() - began)
        said.append(body)
        await asyncio.sleep(PAUSE_S)


async def _all_wait(place: Place) -> bool:
    waiting = [member for member in await place.writers[0].members() if member.waiting]
    return len(waiting) == len(place.followers)


def _have_said_more(places: list[Place], rounds: int) -> bool:
    enough = (rounds + 1) * POSTS_BETWEEN
    return all(len(said) >= enough for place in places for said in place.said.values())


async def _check(place: Place) -> None:
    log, after_seq = [], 0
    while page := (await place.writers[0].events(after_seq=after_seq, limit=1000)).events:
        log += [event.body for event in page if isinstance(event, Message)]
        after_seq = page[-1].seq
    assert len(log) == len(set(log)), "a message is there twice"
    assert log[-1] == LAST
    for name, said in place.said.items():
        assert [body for body in log if body.startswith(f"{name} ")] == said
    assert len(log) == sum(map(len, place.said.values())) + 1
    assert len(place.told) == len(place.followers)
    for told in place.told:
        assert told == log, "a follower was told something else"
