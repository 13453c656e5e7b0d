"""What runs out while there is no daemon has run out once when there is one."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Final

import asyncpg

from coordroomsd.store.private_postgres import PrivatePostgres
from tests.daemon_processes import DaemonProcess
from tests.faults.traffic import whole_log
from tests.http_callers import Caller
from tests.model.checker import check_log
from tests.polling import until

ROOMS: Final = 10
MEMBERS: Final = 10


async def test_each_status_and_lease_expires_once(
    daemon: DaemonProcess, rounds: int, chances: random.Random
) -> None:
    callers = [await enter(daemon, n % ROOMS, n // ROOMS) for n in range(ROOMS * MEMBERS)]
    for number in range(rounds):
        await asyncio.gather(*(begin(caller, number) for caller in callers))
        daemon.kill()
        await until(daemon.no_server_runs)
        await let_everything_run_out(daemon)
        daemon.spawn()
        # Among the first things that it does is to end them.
        while chances.random() < 0.5:
            await asyncio.sleep(chances.uniform(0.5, 1.5))
            daemon.kill()
            daemon.spawn()
        await daemon.ready()
        for caller in callers[:ROOMS]:
            await until(lambda caller=caller: nothing_stands(caller))  # type: ignore[misc]
    for caller in callers[:ROOMS]:
        log = await whole_log(caller, "/rooms/@active")
        check_log(log)
        ends = Counter((e["type"], e["reason"]) for e in log if e["author"] is None)
        assert ends == {
            ("status", "expired"): rounds * MEMBERS,
            ("claim", "expired"): rounds * MEMBERS,
        }


async def enter(daemon: DaemonProcess, room: int, number: int) -> Caller:
    caller = daemon.caller(f"member-{room}-{number}")
    if number == 0:
        assert (
            await caller.until_answered("POST", "/rooms", {"name": f"room {room}"})
        ).status == 201
    else:
        assert (await caller.until_answered("POST", f"/rooms/room-{room}/join")).status == 200
    return caller


async def begin(caller: Caller, number: int) -> None:
    status = {"status": f"round {number}", "expires_in_s": 3600}
    assert (await caller.until_answered("PUT", "/rooms/@active/status", status)).status == 200
    claim = {"key": f"{caller.name} {number}", "lease_s": 3600}
    assert (await caller.until_answered("POST", "/rooms/@active/claims", claim)).status == 200


async def let_everything_run_out(daemon: DaemonProcess) -> None:
    """As if the time were over: the shortest lease is a minute."""
    server = PrivatePostgres(daemon.state_dir)
    await server.start()
    try:
        connection = await asyncpg.connect(**server.connect_arguments())
        for table in ("statuses", "claims"):
            await connection.execute(f"UPDATE {table} SET expires_at = clock_timestamp()")
        await connection.close()
    finally:
        await server.stop()


async def nothing_stands(caller: Caller) -> bool:
    shown = (await caller.until_answered("GET", "/rooms/@active")).body
    return not shown["claims"] and not any(member["status"] for member in shown["members"])
