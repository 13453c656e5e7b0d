"""Many callers at once: what batching is worth."""

from __future__ import annotations

import contextlib

import asyncpg

from tests.bench import fills, neighbours
from tests.bench.figures import Rounds, ratio
from tests.bench.findings import Bars, Findings, Table, Target, number
from tests.bench.processes import outcome
from tests.bench.rounds import Measure, alternating
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Stage

CALLERS = 64
CONNECTIONS = 16
BATCH = 20
SECONDS = 1.0
ONE_ROOM, ROOMS, BATCHES = "coordroomsd, one room", "coordroomsd, 64 rooms", "coordroomsd, 20 each"
NUMBERED = "a transaction each, numbered"
PLAIN = "a transaction each, a bare row"
STATEMENT = "the journal's statement alone"
# As many messages as a batch of all callers has.
STATEMENT_ROWS = CALLERS * BATCH


async def run(stage: Stage, settings: Settings) -> Findings:
    async with contextlib.AsyncExitStack() as open_things:
        contestants = await _ours(stage, open_things)
        contestants |= await _neighbours(stage, open_things)
        found = await alternating(settings.rounds, contestants)
    one_room, statement = found[ONE_ROOM], found[STATEMENT]
    targets = [
        Target(
            "64 callers in one room, against a numbered transaction each",
            "at least",
            8,
            ratio(one_room, found[NUMBERED]),
        ),
        Target("against a bare row each", "at least", 8, ratio(one_room, found[PLAIN])),
    ]
    if (client := "Redis Streams, redis-py") in found:
        targets.append(Target(f"against {client}", "at least", 1, ratio(one_room, found[client])))
    batches = found[BATCHES]
    targets.append(
        Target(
            "batches of 20, against the statement alone", "at least", 0.6, ratio(batches, statement)
        )
        if batches.median < 25_000
        else Target("batches of 20", "at least", 25_000, batches.median, "messages/s")
    )
    rows = [
        [name, number(rate.median), "–".join(map(number, rate.spread)), _times(one_room, rate)]
        for name, rate in found.items()
    ]
    columns = ["", "messages/s", "rounds", "coordroomsd in one room is so many times"]
    return Findings(
        "64 callers",
        "Each caller posts on a connection of its own and posts again when it is answered, for "
        f"{SECONDS:g} s a round: single messages of 200 bytes, and batches of 20. `numbered` "
        "gives each message the next number of its room in its own transaction, over "
        f"{CONNECTIONS} connections of a pool, with asyncpg alone and no HTTP; a `bare row` is "
        f"one INSERT. The journal's statement is run with {STATEMENT_ROWS} messages, back to "
        "back.",
        [Table(columns, rows)],
        targets,
        [Bars("64 callers, messages a second", "1/s", {n: r.median for n, r in found.items()})],
    )


def _times(one: Rounds, other: Rounds) -> str:
    return f"{ratio(one, other):.2f}"


async def _ours(stage: Stage, open_things: contextlib.AsyncExitStack) -> dict[str, Measure]:
    """The daemon and what it stands on."""

    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, CALLERS + 1)
        await fills.members(connection, CALLERS)

    async def fill_rooms(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, CALLERS)
        await fills.alone(connection, CALLERS)

    async def fill_one(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, 1)
        await fills.members(connection, 1)

    together = await open_things.enter_async_context(stage.daemon(fill))
    apart = await open_things.enter_async_context(stage.daemon(fill_rooms))
    pool_url = await open_things.enter_async_context(stage.another_server())
    statement_url = await open_things.enter_async_context(stage.database(fill_one))

    def posting(socket: str, rooms: int, batch: int) -> Measure:
        async def measure() -> list[float]:
            return await outcome(
                "callers",
                socket=socket,
                callers=CALLERS,
                rooms=rooms,
                batch=batch,
                seconds=SECONDS,
                body=BODY,
            )

        return measure

    def pooled(*, numbered: bool) -> Measure:
        async def measure() -> list[float]:
            return await outcome(
                "pool",
                loop="uvloop",
                url=pool_url,
                callers=CALLERS,
                connections=CONNECTIONS,
                rooms=1,
                numbered=numbered,
                seconds=SECONDS,
                body=BODY,
            )

        return measure

    async def statements() -> list[float]:
        return await outcome(
            "statements", url=statement_url, count=20, messages=STATEMENT_ROWS, body=BODY
        )

    return {
        ONE_ROOM: posting(together.socket, 1, 1),
        ROOMS: posting(apart.socket, CALLERS, 1),
        NUMBERED: pooled(numbered=True),
        PLAIN: pooled(numbered=False),
        BATCHES: posting(together.socket, 1, BATCH),
        STATEMENT: statements,
    }


async def _neighbours(stage: Stage, open_things: contextlib.AsyncExitStack) -> dict[str, Measure]:
    contestants: dict[str, Measure] = {}
    redis = await open_things.enter_async_context(neighbours.redis(stage.new_directory()))
    nats = await open_things.enter_async_context(neighbours.nats(stage.new_directory()))
    for neighbour, library in ((redis, "redis-py"), (nats, "nats-py")):
        if neighbour is None:
            continue
        for client, label in (("client", library), ("raw", "bare socket")):
            name = f"{neighbour.name}, {label}"
            contestants[name] = neighbour.callers(client, CALLERS, 1, 1, SECONDS, BODY)
    if redis:
        name = f"{redis.name}, bare socket, 20 each"
        contestants[name] = redis.callers("raw", CALLERS, 1, BATCH, SECONDS, BODY)
    return contestants
