"""The clock's work: many statuses and leases that end at once, and many that are pending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.figures import quantile
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds
from tests.bench.processes import outcome
from tests.bench.settings import Settings
from tests.bench.stages import Fill, Stage

ENDING = 1_000
# Long enough for the daemon to start, to load the MCP SDK, and for the probe to see it at rest.
ENDS_IN_S = 10.0
REST_S = 2.0
# However busy the machine is.
ENDED_WITHIN_S = 30.0
PENDING = (100_000, 1_000)
# Within what the daemon looks ahead, so that every deadline is armed, and beyond what is measured.
PENDING_FOR_S = 100.0
IDLE_S = (10.0, 2.0)


class Ended(NamedTuple):
    """The longest answer to a probe before the deadlines and around them, in seconds."""

    at_rest: float
    while_ending: float


async def run(stage: Stage, settings: Settings) -> Findings:
    places = {
        "in one room": [await _ended(stage, [1], ENDING // 2) for _ in range(settings.rounds)],
        f"in {ENDING // 2} rooms": [
            await _ended(stage, range(1, ENDING // 2 + 1), 1) for _ in range(settings.rounds)
        ],
    }
    pending, idle_s = settings.size(*PENDING), settings.size(*IDLE_S)
    idle = {number: await _idle(stage, number, pending, idle_s) for number in (0, pending)}
    rows: list[list[str]] = []
    targets: list[Target] = []
    bars: dict[str, float] = {}
    for place, rounds in places.items():
        rest = quantile([one.at_rest for one in rounds], 0.5)
        ending = quantile([one.while_ending for one in rounds], 0.5)
        worst = max(one.while_ending for one in rounds)
        rows.append([place, *map(milliseconds, (rest, ending, worst))])
        bars |= {f"coordroomsd, {place}": ending * 1000, f"the same at rest, {place}": rest * 1000}
        targets.append(
            Target(
                f"{ENDING:,} that end at once {place}: longest answer to a probe",
                "at most",
                50,
                ending * 1000,
                "ms",
            )
        )
    targets.append(
        Target(
            f"idle with {pending:,} deadlines pending",
            "at most",
            0.5,
            idle[pending] * 100,
            "% of a core",
        )
    )
    idle_rows = [[f"{number:,}", f"{share:.2%}"] for number, share in idle.items()]
    return Findings(
        "Deadlines",
        f"{ENDING // 2} statuses and {ENDING // 2} claims end at the same instant while a probe "
        "calls /healthz every millisecond: the longest answer of a round is the loop's lag and "
        "what the machine adds. Then so many claims that end later, each in a room of its own, "
        f"and the daemon's processor time in {idle_s:g} s without a call.",
        [
            Table(
                [
                    "1,000 that end",
                    "longest at rest, median ms",
                    "longest while they end, median",
                    "worst",
                ],
                rows,
            ),
            Table(["deadlines pending", "idle, of a core"], idle_rows),
        ],
        targets,
        [Bars("longest answer while 1,000 end", "ms", bars)],
    )


async def _ended(stage: Stage, rooms: Sequence[int], each: int) -> Ended:
    """`each` statuses and as many claims in each room."""
    ends_at = 0.0

    async def fill(connection: asyncpg.Connection) -> None:
        nonlocal ends_at
        await fills.rooms(connection, len(rooms))
        if len(rooms) == 1:
            await fills.members(connection, each)
        else:
            await fills.alone(connection, len(rooms))
        # By a number of members for each, and the first member holds the claims.
        await fills.deadlines(connection, rooms, each, each, ENDS_IN_S)
        ends_at = time.time() + ENDS_IN_S

    async with stage.database(fill) as url, stage.daemon_on(url) as daemon:
        seconds = ends_at - time.time() + REST_S
        probes = await outcome("probes", socket=daemon.socket, seconds=seconds)
        await _until_all_have_ended(url)
    rest = [took for at, took in probes if ends_at - REST_S < at < ends_at - 0.5]
    ending = [took for at, took in probes if at > ends_at - 0.5]
    return Ended(max(rest), max(ending))


async def _until_all_have_ended(url: str) -> None:
    """Raises TimeoutError when they do not."""
    connection = await asyncpg.connect(url)
    count = "SELECT count(*) FROM events WHERE reason = 'expired'"
    try:
        async with asyncio.timeout(ENDED_WITHIN_S):
            while True:
                ended = await connection.fetchval(count)
                if ended == ENDING:
                    return
                await asyncio.sleep(0.1)
    finally:
        await connection.close()


async def _idle(stage: Stage, pending: int, rooms: int, idle_s: float) -> float:
    """The part of a core that the daemon uses."""

    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, rooms)
        await fills.alone(connection, rooms)
        if pending:
            await fills.deadlines(connection, range(1, pending + 1), 0, 1, PENDING_FOR_S)

    filling: Fill = fill
    async with stage.daemon(filling) as daemon:
        await daemon.at_rest()
        used = daemon.process.cpu_s()
        await asyncio.sleep(idle_s)
        return (daemon.process.cpu_s() - used) / idle_s
