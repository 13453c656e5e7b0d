"""Whether a long history or many rooms make anything slower, the daemon's start included."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.figures import Rounds, ratio
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds, number
from tests.bench.processes import outcome
from tests.bench.rounds import Measure, alternating
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Daemon, Stage

COUNTS = (100, 30)
# What fills a page of history, so that pages are alike.
LEAST = 100


class Size(NamedTuple):
    """So many messages in the first room, and so many in each of all the rooms."""

    first: int
    rooms: int
    each: int

    def __str__(self) -> str:
        messages = self.first + self.rooms * self.each
        if self.rooms == 1:
            return f"{messages:,} messages in one room"
        return f"{messages:,} messages in {self.rooms:,} rooms"

    async def fill(self, connection: asyncpg.Connection) -> None:
        async with fills.in_bulk(connection):
            await fills.rooms(connection, self.rooms)
            await fills.groups(connection, self.rooms, 2)
            if self.each:
                await fills.messages(connection, self.each, rooms=self.rooms)
            await fills.messages(connection, self.first)


SMALLEST = Size(LEAST, 1, 0)
# Half of the last one's messages are in one room, the others in all of them: either could be slow.
SIZES = (SMALLEST, Size(1_000_000, 1, 0), Size(LEAST, 100_000, 0), Size(5_000_000, 100_000, 50))
SMALL_SIZES = (SMALLEST, Size(50_000, 1_000, 50))
STARTED_WITHIN_S = 2


async def run(stage: Stage, settings: Settings) -> Findings:
    count = settings.size(*COUNTS)
    async with contextlib.AsyncExitStack() as open_things:
        homes: dict[Size, Path] = {}
        for size in settings.size(SIZES, SMALL_SIZES):
            print(f"  filling: {size} …", flush=True)
            homes[size] = await open_things.enter_async_context(stage.home(size.fill))
        # Each has a PostgreSQL of its own, so they start alone and not side by side.
        starts = await alternating(
            settings.rounds, {str(size): _starting(stage, home) for size, home in homes.items()}
        )
        waits: dict[str, Measure] = {}
        pages: dict[str, Measure] = {}
        for size, home in homes.items():
            daemon = await open_things.enter_async_context(stage.daemon_at(home))
            await daemon.at_rest()
            waits[str(size)] = _posting(daemon, count)
            pages[str(size)] = _paging(daemon, count)
        woken = await alternating(settings.rounds, waits)
        read = await alternating(settings.rounds, pages)
    return _findings(woken, read, starts)


def _starting(stage: Stage, home: Path) -> Measure:
    async def measure() -> list[float]:
        async with stage.daemon_at(home) as daemon:
            return [daemon.started_s]

    return measure


def _posting(daemon: Daemon, count: int) -> Measure:
    async def measure() -> list[float]:
        return await outcome(
            "lone",
            socket=daemon.socket,
            room=fills.ROOM,
            poster=fills.agent(1),
            waiter=fills.agent(2),
            count=count,
            body=BODY,
        )

    return measure


def _paging(daemon: Daemon, count: int) -> Measure:
    async def measure() -> list[float]:
        return await outcome(
            "pages", socket=daemon.socket, room=fills.ROOM, reader=fills.agent(2), count=count
        )

    return measure


def _findings(
    woken: Mapping[str, Rounds], read: Mapping[str, Rounds], starts: Mapping[str, Rounds]
) -> Findings:
    sizes = list(woken)
    smallest, largest = str(SMALLEST), sizes[-1]
    rows = [
        [
            size,
            milliseconds(woken[size].median),
            milliseconds(woken[size].quantile(0.99)),
            f"{ratio(woken[size], woken[smallest]):.2f}",
            milliseconds(read[size].median),
            f"{ratio(read[size], read[smallest]):.2f}",
            number(starts[size].median),
        ]
        for size in sizes
    ]
    columns = [
        "", "post to waiter, p50 ms", "p99", "times the smallest",
        "page of history, p50 ms", "times the smallest", "start, s",
    ]  # fmt: skip
    targets = [
        Target(f"post to waiter, {size}", "at most", 1.2, ratio(woken[size], woken[smallest]))
        for size in sizes[1:]
    ]
    targets.append(
        Target(
            f"ready for calls, {largest}", "at most", STARTED_WITHIN_S, starts[largest].median, "s"
        )
    )
    return Findings(
        "Long histories and many rooms",
        "A lone message to a parked waiter, as above, and a page of 50 messages from anywhere in "
        "the first room, in databases that were filled beforehand. The start is that of the "
        "daemon with its own private PostgreSQL, from the process's start until it takes calls.",
        [Table(columns, rows)],
        targets,
        [
            Bars(
                "lone message after how long a history, p50",
                "ms",
                {f"coordroomsd, {size}": found.median * 1000 for size, found in woken.items()},
            ),
            Bars(
                "start, with a private PostgreSQL",
                "s",
                {f"coordroomsd, {size}": found.median for size, found in starts.items()},
            ),
        ],
    )
