"""Many callers at once: what batching is worth."""

from __future__ import annotations

import contextlib
import statistics

import asyncpg

from tests.bench import fills, neighbours
from tests.bench.figures import Rounds, ratio
from tests.bench.findings import Bars, Findings, Table, Target, number
from tests.bench.processes import outcome
from tests.bench.rounds import Measure, alternating
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Daemon, Stage

CALLERS = 64
CONNECTIONS = 16
BATCH = 20
SECONDS = (1.0, 0.3)
EACH = f", {BATCH} each"
ONE_ROOM, ROOMS, BATCHES = "coordroomsd, one room", "coordroomsd, 64 rooms", f"coordroomsd{EACH}"
TRANSACTION = "a transaction each"
TRANSACTION_ROOMS = "a transaction each, 64 rooms"
NUMBERED = "a numbered statement each"
BARE = "a bare row each"
STATEMENT = "the journal's statement alone"
# As many messages as a batch of all callers has.
STATEMENT_ROWS = CALLERS * BATCH
REDIS = "Redis Streams, redis-py"
WORTH = 25_000

# Processor time of the daemon for a message, in seconds, round by round.
Costs = dict[str, list[float]]


async def run(stage: Stage, settings: Settings) -> Findings:
    seconds = settings.size(*SECONDS)
    async with contextlib.AsyncExitStack() as open_things:
        costs: Costs = {}
        contestants = await _ours(stage, open_things, seconds, costs)
        contestants |= await _neighbours(stage, open_things, seconds)
        found = await alternating(settings.rounds, contestants)
    rows = [
        [
            name,
            number(rate.median),
            "–".join(map(number, rate.spread)),
            f"{ratio(found[ONE_ROOM], rate):.2f}",
            number(statistics.median(costs[name]) * 1e6) if name in costs else "",
        ]
        for name, rate in found.items()
    ]
    columns = [
        "", "messages/s", "rounds", "coordroomsd in one room is so many times",
        "the daemon's processor, µs a message",
    ]  # fmt: skip

    def medians(*, is_batch: bool) -> dict[str, float]:
        return {
            name: rate.median
            for name, rate in found.items()
            if (name == STATEMENT or name.endswith(EACH)) is is_batch
        }

    return Findings(
        "64 callers",
        "Each caller posts on a connection of its own and posts again when it is answered, for "
        f"{seconds:g} s a round: single messages of 200 bytes, and batches of {BATCH}. `A "
        "transaction each` is what a person would write: BEGIN, the room's row gives the next "
        f"number, INSERT, COMMIT, over a pool of {CONNECTIONS} connections, with asyncpg alone "
        "and no HTTP. `A numbered statement` does the same in one statement; `a bare row` is one "
        f"INSERT without a number. The journal's statement is run with {STATEMENT_ROWS:,} "
        "messages, back to back. `20 each` of Redis is a transaction (MULTI … EXEC); NATS has no "
        "batch that is all or none.",
        [Table(columns, rows)],
        _targets(found),
        [
            Bars("64 callers, messages a second", "1/s", medians(is_batch=False)),
            Bars("64 callers, batches of 20, messages a second", "1/s", medians(is_batch=True)),
        ],
    )


def _targets(found: dict[str, Rounds]) -> list[Target]:
    one_room, rooms, batches = found[ONE_ROOM], found[ROOMS], found[BATCHES]

    def against(text: str, limit: float, one: Rounds, other: str) -> Target:
        return Target(f"{text}, against {other}", "at least", limit, ratio(one, found[other]))

    targets = [
        against("one room", 8, one_room, TRANSACTION),
        against("one room", 8, one_room, NUMBERED),
        against("64 rooms", 8, rooms, TRANSACTION_ROOMS),
        against("one room", 8, one_room, BARE),
    ]
    if REDIS in found:
        targets += [
            against("one room", 1, one_room, REDIS),
            against("64 rooms", 1, rooms, f"{REDIS}, 64 streams"),
        ]
    # Either is enough.
    if batches.median >= WORTH:
        targets.append(Target("batches of 20", "at least", WORTH, batches.median, "messages/s"))
    else:
        targets.append(against("batches of 20", 0.6, batches, STATEMENT))
    return targets


async def _ours(
    stage: Stage, open_things: contextlib.AsyncExitStack, seconds: float, costs: Costs
) -> dict[str, Measure]:
    """The daemon, which adds to `costs`, and what it stands on."""

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
    for daemon in (together, apart):
        await daemon.at_rest()
    pool_url = await open_things.enter_async_context(stage.another_server())
    statement_url = await open_things.enter_async_context(stage.database(fill_one))

    def posting(name: str, daemon: Daemon, rooms: int, batch: int) -> Measure:
        async def measure() -> list[float]:
            used = daemon.process.cpu_s()
            [rate] = await outcome(
                "callers",
                socket=daemon.socket,
                callers=CALLERS,
                rooms=rooms,
                batch=batch,
                seconds=seconds,
                body=BODY,
            )
            used = daemon.process.cpu_s() - used
            costs.setdefault(name, []).append(used / (rate * seconds))
            # What it has left for later would disturb the next one.
            await daemon.at_rest()
            return [rate]

        return measure

    def pooled(way: str, rooms: int = 1) -> Measure:
        async def measure() -> list[float]:
            return await outcome(
                "pool",
                loop="uvloop",
                url=pool_url,
                callers=CALLERS,
                connections=CONNECTIONS,
                rooms=rooms,
                way=way,
                seconds=seconds,
                body=BODY,
            )

        return measure

    async def statements() -> list[float]:
        return await outcome(
            "statements", url=statement_url, count=20, messages=STATEMENT_ROWS, body=BODY
        )

    return {
        ONE_ROOM: posting(ONE_ROOM, together, 1, 1),
        ROOMS: posting(ROOMS, apart, CALLERS, 1),
        TRANSACTION: pooled("transaction"),
        TRANSACTION_ROOMS: pooled("transaction", CALLERS),
        NUMBERED: pooled("statement"),
        BARE: pooled("bare"),
        BATCHES: posting(BATCHES, together, 1, BATCH),
        STATEMENT: statements,
    }


async def _neighbours(
    stage: Stage, open_things: contextlib.AsyncExitStack, seconds: float
) -> dict[str, Measure]:
    contestants: dict[str, Measure] = {}
    redis = await open_things.enter_async_context(neighbours.redis(stage.new_directory()))
    nats = await open_things.enter_async_context(neighbours.nats(stage.new_directory()))
    for neighbour in (redis, nats):
        if neighbour is None:
            continue
        for client, name in neighbour.names.items():
            for streams, suffix in ((1, ""), (CALLERS, ", 64 streams")):
                contestants[name + suffix] = neighbour.callers(
                    client, CALLERS, streams, 1, seconds, BODY
                )
    if redis:
        for client, name in redis.names.items():
            contestants[name + EACH] = redis.callers(client, CALLERS, 1, BATCH, seconds, BODY)
    return contestants
