"""What MCP sessions cost the daemon."""

from __future__ import annotations

import asyncio
import statistics
from typing import NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds
from tests.bench.processes import Memory, load
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Daemon, Stage

SESSIONS = (1_000, 100)
# Before, so that what the first sessions load is not counted.
WARM = 20
SETTLE_S = 2.0
IDLE_S = (10.0, 2.0)


class Measured(NamedTuple):
    opened: Memory
    parked: Memory
    idle: float
    wake_s: list[float]


async def run(stage: Stage, settings: Settings) -> Findings:
    number, idle_s = settings.size(*SESSIONS), settings.size(*IDLE_S)

    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, 1)
        await fills.members(connection, WARM + number + 1)

    rounds = []
    for _ in range(settings.rounds):
        # In a new daemon each, for memory that was given back would be used again.
        async with stage.daemon(fill) as daemon:
            await _measured(daemon, 2, WARM, 0)
            rounds.append(await _measured(daemon, WARM + 2, number, idle_s))
    opened = _median([one.opened for one in rounds])
    parked = _median([one.parked for one in rounds])
    idle = statistics.median(one.idle for one in rounds)
    first, last = (statistics.median(one.wake_s[end] for one in rounds) for end in (0, 1))
    return Findings(
        f"{number:,} MCP sessions",
        "Each session is a connection to the daemon's MCP socket, as a relay opens it: it names "
        "its conversation, shakes hands and lists the tools; then each calls `wait` and stays "
        "parked until one post wakes all. Memory is what the daemon has more than before the "
        "sessions; the last column is what a parked wait adds. Idle is its processor time with "
        f"all parked, in {idle_s:g} s.",
        [
            Table(
                ["", "KiB a session", "KiB more with a parked wait"],
                [
                    [kind, f"{each / 1024:.1f}", f"{(more - each) / 1024:.1f}"]
                    for kind, each, more in zip(
                        ("resident", "private and dirty"), opened, parked, strict=True
                    )
                ],
            ),
            Table(
                ["one post wakes all", "first ms", "last ms", "idle before, of a core"],
                [[f"{number:,} waits", milliseconds(first), milliseconds(last), f"{idle:.2%}"]],
            ),
        ],
        [
            Target(f"a session's memory, {kind}", "at most", 60, each / 1024, "KiB")
            for kind, each in zip(("resident", "private and dirty"), opened, strict=True)
        ],
        [
            Bars(
                "memory of an MCP session in the daemon",
                "KiB",
                {
                    "coordroomsd, a session": opened.resident / 1024,
                    "coordroomsd, with a parked wait": parked.resident / 1024,
                },
            )
        ],
    )


async def _measured(daemon: Daemon, first: int, number: int, idle_s: float) -> Measured:
    before = daemon.process.memory()
    async with load(
        "sessions",
        socket=daemon.socket,
        mcp_socket=daemon.mcp_socket,
        room=fills.ROOM,
        sessions=number,
        first=first,
        body=BODY,
    ) as sessions:
        await sessions.said()
        opened = daemon.process.memory()
        sessions.go_on()
        await sessions.said()
        await asyncio.sleep(SETTLE_S)
        parked = daemon.process.memory()
        used = daemon.process.cpu_s()
        await asyncio.sleep(idle_s)
        idle = (daemon.process.cpu_s() - used) / idle_s if idle_s else 0.0
        sessions.go_on()
        wake_s = await sessions.said()
        await sessions.ended()
    return Measured(_each(opened, before, number), _each(parked, before, number), idle, wake_s)


def _each(after: Memory, before: Memory, number: int) -> Memory:
    return Memory(*((a - b) // number for a, b in zip(after, before, strict=True)))


def _median(memories: list[Memory]) -> Memory:
    return Memory(*(round(statistics.median(kind)) for kind in zip(*memories, strict=True)))
