"""A lone durable message, from the post to the waiter that has it."""

from __future__ import annotations

import contextlib
import sys

import asyncpg

from tests.bench import fills, neighbours
from tests.bench.figures import ratio
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds, quantiles
from tests.bench.processes import outcome, started
from tests.bench.rounds import Measure, alternating
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Stage

DAEMON = "coordroomsd"
COUNTS = (200, 50)


async def run(stage: Stage, settings: Settings) -> Findings:
    async with contextlib.AsyncExitStack() as open_things:
        count = settings.size(*COUNTS)
        contestants = await _ours(stage, open_things, count)
        contestants |= await _neighbours(stage, open_things, count)
        found = await alternating(settings.rounds, contestants)
    floors = {
        loop: [found[f"{what}, {loop}"] for what in ("commit", "round trip")]
        for loop in ("asyncio", "uvloop")
    }
    daemon = found[DAEMON]
    targets = [
        Target(
            "post to waiter, against commit + round trip on bare asyncio",
            "at most",
            1.3,
            ratio(daemon, *floors["asyncio"]),
        ),
        Target(
            "post to waiter, against the same on uvloop, which the daemon runs on",
            "at most",
            1.3,
            ratio(daemon, *floors["uvloop"]),
        ),
    ]
    client = "Redis Streams, redis-py"
    if client in found:
        targets.append(
            Target(
                f"post to waiter, against {client}", "at most", 1.0, ratio(daemon, found[client])
            )
        )
    rows = [
        [
            name,
            *quantiles(rounds),
            "–".join(map(milliseconds, rounds.spread)),
            f"{ratio(daemon, rounds):.2f}",
        ]
        for name, rounds in found.items()
    ]
    columns = ["", "p50 ms", "p90", "p99", "medians of rounds", "coordroomsd is so many times"]
    return Findings(
        "A lone message",
        "One message of 200 bytes at a time to one parked waiter: from sending the post until "
        "the waiter holds the whole answer. `commit` is one row through a bare asyncpg "
        "connection to the same PostgreSQL, `round trip` is 400 bytes to a bare server on a "
        "Unix socket and back.",
        [Table(columns, rows)],
        targets,
        [Bars("lone message, p50", "ms", {n: r.median * 1000 for n, r in found.items()})],
    )


async def _ours(
    stage: Stage, open_things: contextlib.AsyncExitStack, count: int
) -> dict[str, Measure]:
    """The daemon and what it stands on."""

    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, 1)
        await fills.members(connection, 2)

    daemon = await open_things.enter_async_context(stage.daemon(fill))
    await daemon.at_rest()
    url = await open_things.enter_async_context(stage.database())

    async def message() -> list[float]:
        return await outcome(
            "lone",
            socket=daemon.socket,
            room=fills.ROOM,
            poster=fills.agent(1),
            waiter=fills.agent(2),
            count=count,
            body=BODY,
        )

    contestants: dict[str, Measure] = {DAEMON: message}
    for loop in ("asyncio", "uvloop"):
        contestants |= await _floors(stage, open_things, url, loop, count)
    return contestants


async def _floors(
    stage: Stage, open_things: contextlib.AsyncExitStack, url: str, loop: str, count: int
) -> dict[str, Measure]:
    socket = str(stage.new_directory() / "echo.sock")
    server = await open_things.enter_async_context(
        started(
            "the echo server",
            *(sys.executable, "-m", "tests.bench.loads.echo_server"),
            f'{{"loop": "{loop}", "socket": "{socket}"}}',
        )
    )
    await server.said()

    async def commit() -> list[float]:
        return await outcome("commits", loop=loop, url=url, count=count, body=BODY)

    async def round_trip() -> list[float]:
        return await outcome("echoes", loop=loop, socket=socket, count=count, body=BODY * 2)

    return {f"commit, {loop}": commit, f"round trip, {loop}": round_trip}


async def _neighbours(
    stage: Stage, open_things: contextlib.AsyncExitStack, count: int
) -> dict[str, Measure]:
    contestants: dict[str, Measure] = {}
    for make in (neighbours.redis, neighbours.nats):
        neighbour = await open_things.enter_async_context(make(stage.new_directory()))
        if neighbour is not None:
            for client, name in neighbour.names.items():
                contestants[name] = neighbour.lone(client, count, BODY)
    return contestants
