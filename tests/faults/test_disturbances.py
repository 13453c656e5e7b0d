"""Under the traffic of a full room: a full disk, no free descriptor, callers that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from tests.daemon_processes import DaemonProcess
from tests.faults.processes import open_descriptors, sessions
from tests.faults.rounds import one_round
from tests.faults.scarcity import fill_up, none_free, small_disk, tools_are_served
from tests.faults.strangers import connected, post, request, say, two_in_a_room, vanishing_request
from tests.http_callers import Caller
from tests.polling import until

# What the daemon keeps free is 64 MiB of it, and a new state takes 40.
DISK: Final = "200m"
VANISHING: Final = 100
SLOW: Final = 20
LONG: Final = "x" * 60_000
# What the daemon may have opened of its own accord meanwhile.
READING_SESSIONS: Final = 4


async def test_a_disk_that_fills_up_heals_without_a_restart(
    made_state: Path, state_dir: Path, few_rounds: int, chances: random.Random
) -> None:
    daemon = DaemonProcess(state_dir)
    with small_disk(daemon.state_dir, DISK) as disk:
        daemon.begin_with(made_state)
        try:
            await daemon.start()
            ann, _ = await two_in_a_room(daemon)

            async def fill_the_disk(daemon: DaemonProcess, chances: random.Random) -> None:
                fill_up(disk / "others")
                await until(lambda: is_refused(ann))
                await asyncio.sleep(chances.uniform(0, 0.5))
                (disk / "others").unlink()

            for number in range(few_rounds):
                await one_round(daemon, fill_the_disk, chances, f"room-{number}")
            assert await daemon.end() == 0
            assert "internal error" not in daemon.read_log()
        finally:
            await daemon.discard()


async def is_refused(caller: Caller) -> bool:
    reply = await say(caller, "is there space?")
    assert reply.status in (201, 503), reply
    return reply.status == 503


async def test_without_a_free_descriptor_those_who_are_in_go_on(
    daemon: DaemonProcess, few_rounds: int, chances: random.Random
) -> None:
    async def leave_no_descriptor(daemon: DaemonProcess, chances: random.Random) -> None:
        async with none_free(daemon):
            if chances.random() < 0.5:
                os.kill((await sessions(daemon))["coordroomsd writer"], signal.SIGTERM)
            await asyncio.sleep(chances.uniform(0, 0.5))

    for number in range(few_rounds):
        await one_round(daemon, leave_no_descriptor, chances, f"room-{number}")
    await until(lambda: tools_are_served(daemon))
    assert await daemon.end() == 0
    assert "internal error" not in daemon.read_log()


async def test_slow_and_vanishing_callers_disturb_nobody(
    daemon: DaemonProcess, few_rounds: int, chances: random.Random
) -> None:
    ann, _ = await two_in_a_room(daemon)
    for _ in range(16):
        assert (await say(ann, LONG)).status == 201

    async def disturb(daemon: DaemonProcess, chances: random.Random) -> None:
        async with contextlib.AsyncExitStack() as slow:
            for _ in range(SLOW):
                await slow.enter_async_context(sending_slowly(daemon))
                await slow.enter_async_context(reading_slowly(daemon))
            await asyncio.gather(*(vanish(number) for number in range(VANISHING)))
            # A byte or two of each.
            await asyncio.sleep(1.5)

    async def vanish(number: int) -> None:
        async with connected(daemon.socket) as writer:
            writer.write(vanishing_request(number, chances))
            await asyncio.sleep(chances.uniform(0, 0.5))

    before = open_descriptors(daemon.pid)
    for number in range(few_rounds):
        await one_round(daemon, disturb, chances, f"room-{number}")
        for caller in daemon.callers:
            caller.close()
        await until(lambda: open_descriptors(daemon.pid) <= before + READING_SESSIONS)
    assert await daemon.end() == 0
    assert "ERROR" not in daemon.read_log()


@contextlib.asynccontextmanager
async def sending_slowly(daemon: DaemonProcess) -> AsyncIterator[None]:
    """A byte of a request each second."""

    async def send(writer: asyncio.StreamWriter) -> None:
        for byte in post("slow"):
            writer.write(bytes([byte]))
            await asyncio.sleep(1)

    async with connected(daemon.socket) as writer:
        sending = asyncio.create_task(send(writer))
        yield
        sending.cancel()


@contextlib.asynccontextmanager
async def reading_slowly(daemon: DaemonProcess) -> AsyncIterator[None]:
    """A byte of a megabyte each second."""

    async def read(reading: socket.socket) -> None:
        for _ in range(1 << 20):
            await asyncio.get_running_loop().sock_recv(reading, 1)
            await asyncio.sleep(1)

    with socket.socket(socket.AF_UNIX) as reading:
        reading.setblocking(False)
        await asyncio.get_running_loop().sock_connect(reading, str(daemon.socket))
        await asyncio.get_running_loop().sock_sendall(reading, request("messages?limit=100"))
        task = asyncio.create_task(read(reading))
        yield
        task.cancel()
        await asyncio.wait([task])
