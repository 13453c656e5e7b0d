"""Callers that go away, over a real socket: nothing of them stays behind."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemons import Running
from tests.integration.served import served
from tests.model.checker import check_sent
from tests.polling import until

# Two descriptors each: an ordinary user may have 1,024 of them.
WAITS, AT_ONCE = 10_000, 400


def request(method: str, path: str, name: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [
        f"{method} /api/v1{path} HTTP/1.1",
        "Host: localhost",
        f"Coordrooms-Conversation: {name}",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
        *(f"{header}: {value}" for header, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture
def socket_path(state_dir: Path) -> Iterator[Path]:
    path = state_dir / "daemon.sock"
    yield path
    path.unlink()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def connected(path: Path, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(sent)
    return reader, writer


async def test_ten_thousand_waits_opened_and_dropped_leave_nothing(
    daemon: Running, socket_path: Path
) -> None:
    await daemon.room("plan", "ada", "bob")
    room = await daemon.services.rooms.of_slug("default", "plan")
    assert room
    hub = daemon.services.hub
    async with served(daemon, socket_path):
        tasks, files = len(asyncio.all_tasks()), descriptors()
        for batch in range(WAITS // AT_ONCE):
            kind = ("message", "claim", "free:k")[batch % 3]
            if kind == "free:k":
                await daemon.party("bob").claim("plan", "k", lease_s=3600)
            after_seq = room.state.head
            wait = request(
                "GET", f"/rooms/plan/wait?timeout_s=300&wake_on={kind}&after_seq={after_seq}", "ada"
            )
            waiting = [await connected(socket_path, wait) for _ in range(AT_ONCE)]
            await until(lambda: hub.statistics().waiting == AT_ONCE)
            for _, writer in waiting:
                writer.transport.abort()
            await until(lambda: hub.statistics().waiting == 0)
        assert len(room.waiters) == 0
        assert not room.waiters.is_waiting(next(iter(room.state.memberships)))
        await until(lambda: len(asyncio.all_tasks()) == tasks)
        del waiting
        gc.collect()
        await until(lambda: descriptors() == files)


async def test_a_stream_that_is_dropped_leaves_nothing(daemon: Running, socket_path: Path) -> None:
    await daemon.room("plan", "ada")
    hub = daemon.services.hub
    async with served(daemon, socket_path):
        tasks = len(asyncio.all_tasks())
        stream = request("GET", "/rooms/plan/events", "ada", Accept="text/event-stream")
        streams = [await connected(socket_path, stream) for _ in range(100)]
        await until(lambda: hub.statistics().streaming == 100)
        for _, writer in streams:
            writer.transport.abort()
        await until(lambda: hub.statistics().streaming == 0)
        await until(lambda: len(asyncio.all_tasks()) == tasks)


async def test_a_post_whose_caller_goes_away_is_stored_or_not_and_once(
    daemon: Running, socket_path: Path
) -> None:
    [ada] = await daemon.room("plan", "ada")
    async with served(daemon, socket_path):
        for number in range(100):
            body = b'{"messages": [{"kind": "decision", "body": "%d"}]}' % number
            post = request("POST", "/rooms/plan/messages", "ada", body)
            _, writer = await connected(socket_path, post)
            for _ in range(number % 7):
                await asyncio.sleep(0)
            writer.transport.abort()
        await ada.say("plan", "the last")
    check_sent(await ada.events("plan"), ["the last"], ["the last", *map(str, range(100))])


async def test_half_a_request_stores_nothing(daemon: Running, socket_path: Path) -> None:
    [ada] = await daemon.room("plan", "ada")
    async with served(daemon, socket_path):
        tasks = len(asyncio.all_tasks())
        whole = request(
            "POST",
            "/rooms/plan/messages",
            "ada",
            b'{"messages": [{"kind": "decision", "body": "x"}]}',
        )
        for length in range(1, len(whole), 7):
            _, writer = await connected(socket_path, whole[:length])
            await writer.drain()
            writer.transport.abort()
        await until(lambda: len(asyncio.all_tasks()) == tasks)
    assert await ada.log("plan") == [("member", "joined")]
