"""Whether a long history or many rooms make anything slower."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.figures import Rounds, ratio
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds, number
from tests.bench.processes import outcome
from tests.bench.rounds import Measure, alternating
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Daemon, Stage

COUNT = 100


class Size(NamedTuple):
    messages: int
    rooms: int

    def __str__(self) -> str:
        rooms = f"{self.rooms:,} rooms" if self.rooms > 1 else "one room"
        messages = f"{self.messages:,} messages" if self.messages > 1 else "one message"
        return f"coordroomsd, {messages} in {rooms}"

    async def fill(self, connection: asyncpg.Connection) -> None:
        """All messages are in the first room, for it is the longest history that could be slow."""
        await fills.rooms(connection, self.rooms)
        await fills.members(connection, 2)
        await fills.messages(connection, self.messages)


SMALLEST = Size(1, 1)
LARGE = Size(1_000_000, 1)
LARGEST = Size(10_000_000, 100_000)


async def run(stage: Stage, settings: Settings) -> Findings:
    sizes = [SMALLEST, LARGE] if settings.small else [SMALLEST, LARGE, LARGEST]
    async with contextlib.AsyncExitStack() as open_things:
        daemons = {}
        for size in sizes:
            daemons[size] = await open_things.enter_async_context(stage.daemon(size.fill))
        starts = {size: daemon.started_s for size, daemon in daemons.items()}
        contestants = {str(size): _posting(daemon) for size, daemon in daemons.items()}
        found = await alternating(settings.rounds, contestants)
    return _findings(sizes, found, starts)


def _posting(daemon: Daemon) -> Measure:
    async def measure() -> list[float]:
        return await outcome(
            "lone",
            socket=daemon.socket,
            room=fills.ROOM,
            poster=fills.agent(1),
            waiter=fills.agent(2),
            count=COUNT,
            body=BODY,
        )

    return measure


def _findings(
    sizes: Sequence[Size], found: dict[str, Rounds], starts: dict[Size, float]
) -> Findings:
    small = found[str(SMALLEST)]
    rows = [
        [
            str(size),
            milliseconds(found[str(size)].quantile(0.5)),
            milliseconds(found[str(size)].quantile(0.99)),
            f"{ratio(found[str(size)], small):.2f}",
            number(starts[size]),
        ]
        for size in sizes
    ]
    targets = [
        Target(
            f"post → waiter, {size}, against the smallest",
            "at most",
            1.2,
            ratio(found[str(size)], small),
        )
        for size in sizes[1:]
    ]
    targets.append(
        Target(f"start to first call, {sizes[-1]}", "at most", 2, starts[sizes[-1]], "s")
    )
    return Findings(
        "Long histories and many rooms",
        "A lone message to a parked waiter, as above, in databases filled beforehand. The start "
        "is that of the daemon alone: its PostgreSQL runs already.",
        [Table(["", "p50 ms", "p99", "times the smallest", "start s"], rows)],
        targets,
        [
            Bars(
                "lone message after how long a history, p50",
                "ms",
                {str(size): found[str(size)].median * 1000 for size in sizes},
            )
        ],
    )
