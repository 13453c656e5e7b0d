"""Under the traffic of a full room, the daemon or its database is killed or halted at any moment.

Everything that was acknowledged is there exactly once, the numbers have no gap, no retry made a
second message, and every waiter was shown every event once and in order.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal

import asyncpg
import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.conftest import STANDSTILL_S
from tests.faults.processes import server_pid, server_pids, sessions
from tests.faults.rounds import Fault, one_round


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


async def restart_the_server(daemon: DaemonProcess, chances: random.Random) -> None:
    """PostgreSQL's fast shutdown, as an upgrade of its package makes one."""
    os.kill(server_pid(daemon), signal.SIGINT)


async def terminate_all_sessions(daemon: DaemonProcess, chances: random.Random) -> None:
    connection = await asyncpg.connect(**daemon.server_address())
    ended = await connection.fetchval(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    await connection.close()
    assert ended


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
    await asyncio.sleep(STANDSTILL_S)
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

# Milder ones, for which a few rounds do.
ENDS: list[Fault] = [restart_the_server, terminate_all_sessions]

STOPS: list[Fault] = [stop_the_daemon_for_a_while, stop_the_server_for_a_while]


@pytest.mark.parametrize("fault", KILLS, ids=lambda fault: fault.__name__)
async def test_nothing_is_lost_or_doubled(
    daemon: DaemonProcess, fault: Fault, rounds: int, chances: random.Random
) -> None:
    for number in range(rounds):
        await one_round(daemon, fault, chances, f"room-{number}")
    assert await daemon.end() == 0
    assert "internal error" not in daemon.read_log()


@pytest.mark.parametrize("fault", ENDS, ids=lambda fault: fault.__name__)
async def test_an_end_in_good_order_loses_nothing(
    daemon: DaemonProcess, fault: Fault, few_rounds: int, chances: random.Random
) -> None:
    for number in range(few_rounds):
        await one_round(daemon, fault, chances, f"room-{number}")
    assert await daemon.end() == 0
    assert "internal error" not in daemon.read_log()


@pytest.mark.parametrize("fault", STOPS, ids=lambda fault: fault.__name__)
async def test_a_standstill_is_a_pause(
    daemon: DaemonProcess, fault: Fault, few_rounds: int, chances: random.Random
) -> None:
    for number in range(few_rounds):
        await one_round(daemon, fault, chances, f"room-{number}")
    assert await daemon.end() == 0
    assert "ERROR" not in daemon.read_log()
