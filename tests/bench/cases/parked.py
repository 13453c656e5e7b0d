"""Parked waiters: what they cost, and how soon one post wakes all of them."""

from __future__ import annotations

import asyncio
import statistics
import sys
from typing import Any, NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds
from tests.bench.processes import Memory, load, outcome, started
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Stage

SIZES = ((1_000, 5_000, 10_000), (1_000,))
IDLE_S = (10.0, 2.0)
# The first round writes to connections that nothing was written to before.
WARM = 1
LOOPS = ("asyncio", "uvloop")


class Parked(NamedTuple):
    """What one size has shown: bytes a waiter, processor time a second, and rounds of times."""

    number: int
    memory: Memory
    idle: float
    wakes: list[dict[str, Any]]
    floors: dict[str, list[dict[str, Any]]]


async def run(stage: Stage, settings: Settings) -> Findings:
    idle_s = settings.size(*IDLE_S)
    found = [
        await _measured(stage, number, settings.rounds, idle_s) for number in settings.size(*SIZES)
    ]
    rows, floors = [], {}
    for one in found:
        row = [f"{one.number:,}", *(milliseconds(_median(one.wakes, k)) for k in _KEYS)]
        for loop in LOOPS:
            floors[one.number, loop] = _median(one.floors[loop], "last")
            row.append(milliseconds(floors[one.number, loop]))
        row += [f"{size / 1024:.1f}" for size in one.memory]
        rows.append([*row, f"{one.idle:.2%}"])
    largest = found[-1]
    last = _median(largest.wakes, "last")
    targets = [
        Target(
            f"last of {largest.number:,}, against a bare {loop} server's last",
            "at most",
            2,
            last / floors[largest.number, loop],
        )
        for loop in LOOPS
    ]
    for kind, size in zip(("resident", "private and dirty"), largest.memory, strict=True):
        targets.append(Target(f"memory a parked waiter, {kind}", "at most", 12, size / 1024, "KiB"))
    targets.append(
        Target(
            f"idle with {largest.number:,} parked",
            "at most",
            0.5,
            largest.idle * 100,
            "% of a core",
        )
    )
    columns = [
        "parked",
        "first ms",
        "middle ms",
        "last ms",
        "floor's last, asyncio",
        "floor's last, uvloop",
    ]
    columns += ["KiB each, resident", "KiB each, private dirty", "idle, of a core"]
    return Findings(
        "Parked waiters",
        "Each waits on a connection of its own, as a member of its own, in one room; one post "
        "of 200 bytes wakes all. Times are from sending the post. The floor is a bare server "
        "that writes answers of the same size to as many sockets when a byte comes in. Memory "
        "is the daemon's after they parked, less before they connected; each had made a call on "
        "another connection before, so that it was known. Idle is the daemon's processor "
        f"time in {idle_s:g} s without a call.",
        [Table(columns, rows)],
        targets,
        [
            Bars(
                f"one post wakes {largest.number:,}, last",
                "ms",
                {"coordroomsd": last * 1000}
                | {f"bare {k} server": floors[largest.number, k] * 1000 for k in LOOPS},
            )
        ],
    )  # fmt: skip


_KEYS = ("first", "middle", "last")


def _median(rounds: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(one[key] for one in rounds))


async def _measured(stage: Stage, number: int, rounds: int, idle_s: float) -> Parked:
    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, 1)
        await fills.members(connection, number + 1)

    async with stage.daemon(fill) as daemon:
        await daemon.at_rest()
        # The room and who is in it stay known without a call that is parked.
        await outcome("greetings", socket=daemon.socket, room=fills.ROOM, members=number + 1)
        before = daemon.process.memory()
        async with load(
            "parked",
            socket=daemon.socket,
            room=fills.ROOM,
            waiters=number,
            rounds=rounds + WARM,
            body=BODY,
        ) as waiters:
            await waiters.said()
            # What the calls before have left to do, positions to write for one, is none of the
            # waiters' idling.
            await asyncio.sleep(3)
            after = daemon.process.memory()
            used = daemon.process.cpu_s()
            await asyncio.sleep(idle_s)
            idle = (daemon.process.cpu_s() - used) / idle_s
            waiters.go_on()
            wakes = [await waiters.said() for _ in range(rounds + WARM)][WARM:]
    each = Memory(*((a - b) // number for a, b in zip(after, before, strict=True)))
    floors = {loop: await _floor(stage, loop, number, rounds, wakes[0]["bytes"]) for loop in LOOPS}
    return Parked(number, each, idle, wakes, floors)


async def _floor(
    stage: Stage, loop: str, number: int, rounds: int, size: int
) -> list[dict[str, Any]]:
    socket = str(stage.new_directory() / "fan.sock")
    ask = f'{{"loop": "{loop}", "socket": "{socket}", "bytes": {size}}}'
    async with started(
        "the fan server", sys.executable, "-m", "tests.bench.loads.fan_server", ask
    ) as server:
        await server.said()
        async with load("fans", socket=socket, waiters=number, rounds=rounds) as fans:
            return [await fans.said() for _ in range(rounds + 1)][1:]
