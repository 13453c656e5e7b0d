"""What the client library does while the daemon goes away and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

from coordrooms import AsyncClient, AsyncRoom, DaemonUnreachableError, Event, Message
from tests.acceptance.daemons import Daemon
from tests.polling import until

Unique = Callable[[str], str]

ENDS = pytest.mark.parametrize("end", [Daemon.stop, Daemon.kill], ids=["stopped", "killed"])


@pytest.fixture
async def ann(own_daemon: Daemon, unique: Unique) -> AsyncIterator[AsyncRoom]:
    # She posts faster than the daemon allows for long.
    name = unique("ann")
    async with AsyncClient(name, url=own_daemon.url, wait_out_rate_limits=True) as client:
        yield await client.create_room(unique("room"))


@pytest.fixture
async def bob(ann: AsyncRoom, own_daemon: Daemon, unique: Unique) -> AsyncIterator[AsyncRoom]:
    async with AsyncClient(unique("bob"), url=own_daemon.url) as client:
        yield await client.join(ann.ref)


async def restart(daemon: Daemon, end: Callable[[Daemon], None]) -> None:
    await asyncio.to_thread(end, daemon)
    await asyncio.to_thread(daemon.start)


async def is_waiting(room: AsyncRoom) -> bool:
    return any(member.waiting for member in await room.members())


@ENDS
async def test_followers_and_writers_notice_no_restart(
    own_daemon: Daemon, ann: AsyncRoom, bob: AsyncRoom, end: Callable[[Daemon], None]
) -> None:
    """Everything that was posted is there once, in order, and everybody was given it once."""
    followed: list[str] = []
    streamed: list[int] = []
    last = "the last"

    async def follow() -> None:
        async with aclosing(bob.follow()) as events:
            async for event in events:
                assert isinstance(event, Message)
                followed.append(event.body)
                if event.body == last:
                    return

    async def stream() -> None:
        async with aclosing(bob.stream(after_seq=0)) as events:
            async for event in events:
                assert isinstance(event, Event)
                streamed.append(event.seq)
                if isinstance(event, Message) and event.body == last:
                    return

    async def write(stopping: asyncio.Event) -> list[str]:
        said: list[str] = []
        while not stopping.is_set():
            said.append(f"m{len(said)}")
            await ann.post(said[-1])
        return said

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(follow())
        tasks.create_task(stream())
        stopping = asyncio.Event()
        writing = tasks.create_task(write(stopping))
        for rounds in range(1, 4):
            await until(lambda rounds=rounds: len(followed) >= 20 * rounds)  # type: ignore[misc]
            await restart(own_daemon, end)
        stopping.set()
        said = [*await writing, last]
        await ann.post(last)
    assert followed == said
    assert streamed == list(range(1, len(said) + 3))


@ENDS
async def test_a_wait_goes_on_after_a_restart(
    own_daemon: Daemon, ann: AsyncRoom, bob: AsyncRoom, end: Callable[[Daemon], None]
) -> None:
    waiting = asyncio.ensure_future(bob.wait(2))
    await until(lambda: is_waiting(ann))
    await restart(own_daemon, end)
    if end is Daemon.stop:
        assert (await waiting).reason == "closing"
        waiting = asyncio.ensure_future(bob.wait(2))
    await ann.post("news")
    woken = await waiting
    assert [event.seq for event in woken.events] == [3]


async def test_a_post_waits_for_the_daemon(own_daemon: Daemon, ann: AsyncRoom) -> None:
    await asyncio.to_thread(own_daemon.kill)
    posting = asyncio.ensure_future(ann.post("said while it was away"))
    await asyncio.to_thread(own_daemon.start)
    assert (await posting).message.id == 2
    log = await ann.events()
    assert [event.seq for event in log.events] == [1, 2]


async def test_a_claim_is_held_through_a_restart(
    own_daemon: Daemon, ann: AsyncRoom, bob: AsyncRoom
) -> None:
    async with ann.claim("the-draft", lease_s=60) as lease:
        await restart(own_daemon, Daemon.kill)
        [claim] = await bob.claims()
        assert claim.fence == lease.fence
        await ann.post("The draft.", if_claim=lease)
    assert await bob.claims() == []


async def test_a_daemon_that_stays_away(own_daemon: Daemon, ann: AsyncRoom) -> None:
    own_daemon.stop()
    following = ann.follow(patience_s=0.2)
    with pytest.raises(DaemonUnreachableError, match=r"s\.sock cannot be reached"):
        await anext(following)
    own_daemon.start()
