"""Under sixteen writers and eight waiters, the daemon or its database is killed at any moment.

Everything that was acknowledged is there exactly once, the numbers have no gap, no retry made a
second message, and every waiter was shown every event once and in order.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.processes import server_pid, server_pids, sessions
from tests.faults.traffic import Traffic
from tests.figures import report
from tests.polling import GIVE_UP_AFTER_S

STOPPED_S: Final = 5

Fault = Callable[[DaemonProcess, random.Random], Awaitable[None]]


async def kill_the_daemon(daemon: DaemonProcess, chances: random.Random) -> None:
    daemon.kill()
    while chances.random() < 0.3:
        daemon.spawn()
        # At any step of its start, which takes about a second.
        await asyncio.sleep(chances.uniform(0, 1.5))
        daemon.kill()
    daemon.spawn()


async def kill_the_server(daemon: DaemonProcess, chances: random.Random) -> None:
    os.kill(server_pid(daemon), signal.SIGKILL)


async def quit_the_server(daemon: DaemonProcess, chances: random.Random) -> None:
    """PostgreSQL's immediate shutdown, as when its machine goes down."""
    os.kill(server_pid(daemon), signal.SIGQUIT)


async def kill_one_session(daemon: DaemonProcess, chances: random.Random) -> None:
    """PostgreSQL ends all others then, and recovers."""
    os.kill(chances.choice(sorted((await sessions(daemon)).values())), signal.SIGKILL)


async def end_the_writing_session(daemon: DaemonProcess, chances: random.Random) -> None:
    os.kill((await sessions(daemon))["coordroomsd writer"], signal.SIGTERM)


async def kill_both(daemon: DaemonProcess, chances: random.Random) -> None:
    server = server_pid(daemon)
    daemon.kill()
    os.kill(server, signal.SIGKILL)
    daemon.spawn()


async def stop_the_daemon_for_a_while(daemon: DaemonProcess, chances: random.Random) -> None:
    await stop_for_a_while([daemon.pid])


async def stop_the_server_for_a_while(daemon: DaemonProcess, chances: random.Random) -> None:
    await stop_for_a_while(server_pids(daemon))


async def stop_for_a_while(pids: list[int]) -> None:
    """As a machine does that swaps, or whose lid is closed."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(STOPPED_S)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


KILLS: list[Fault] = [
    kill_the_daemon,
    kill_the_server,
    quit_the_server,
    kill_one_session,
    end_the_writing_session,
    kill_both,
]


STOPS: list[Fault] = [stop_the_daemon_for_a_while, stop_the_server_for_a_while]


@pytest.mark.parametrize("fault", KILLS, ids=lambda fault: fault.__name__)
async def test_nothing_is_lost_or_doubled(
    daemon: DaemonProcess, fault: Fault, rounds: int, chances: random.Random
) -> None:
    for number in range(rounds):
        await one_round(daemon, fault, chances, f"room-{number}")
    assert await daemon.end() == 0
    assert "internal error" not in daemon.read_log()


@pytest.mark.parametrize("fault", STOPS, ids=lambda fault: fault.__name__)
async def test_a_standstill_is_a_pause(
    daemon: DaemonProcess, fault: Fault, chances: random.Random
) -> None:
    await one_round(daemon, fault, chances, "room")
    assert await daemon.end() == 0
    assert "ERROR" not in daemon.read_log()


async def one_round(daemon: DaemonProcess, fault: Fault, chances: random.Random, room: str) -> None:
    traffic = Traffic(daemon, room, chances)
    await traffic.begin()
    async with asyncio.timeout(GIVE_UP_AFTER_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(traffic.flow())
        await traffic.more_answers(chances.randrange(10, 400))
        await fault(daemon, chances)
        report(f"served again after {fault.__name__}", await time_until_served(traffic))
        await traffic.more_answers(50)
        traffic.stop()
    await traffic.check()


async def time_until_served(traffic: Traffic) -> float:
    """Seconds until every writer has an answer to something it asks from now on."""
    clock = asyncio.get_running_loop().time
    began = clock()
    await traffic.all_answered_since(began)
    return clock() - began
