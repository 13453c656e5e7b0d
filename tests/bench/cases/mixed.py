"""Everything at once, at rising rates, until it takes too long."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.figures import quantile
from tests.bench.findings import Bars, Findings, Table, milliseconds
from tests.bench.loads.mixed import MIX
from tests.bench.processes import outcome
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Daemon, Stage

ROOMS, EACH, WAITERS, MESSAGES = 8, 8, 2, 1_000
# Calls a second, each the root of two times as many as the one before.
RATES = tuple(round(250 * 2 ** (step / 2)) for step in range(14))
SECONDS = (4.0, 1.0)
TOO_LONG_S = 0.1


class Run(NamedTuple):
    """One round at one rate: seconds of the calls by their sort, and parts of a core."""

    calls: dict[str, list[float]]
    load: float
    daemon: float

    def quantile(self, part: float) -> float:
        return quantile([one for each in self.calls.values() for one in each], part)


async def run(stage: Stage, settings: Settings) -> Findings:
    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, ROOMS)
        await fills.groups(connection, ROOMS, EACH)
        await fills.messages(connection, MESSAGES, rooms=ROOMS)

    seconds = settings.size(*SECONDS)
    found: dict[int, list[Run]] = {}
    async with stage.daemon(fill) as daemon:
        await daemon.at_rest()
        # The first calls of a daemon are slower than all that follow.
        await _run(daemon, RATES[0], 1.0)
        for _ in range(settings.rounds):
            for rate in RATES:
                run = await _run(daemon, rate, seconds)
                found.setdefault(rate, []).append(run)
                if run.quantile(0.99) > TOO_LONG_S:
                    break
    return _findings(found, settings.rounds, seconds)


async def _run(daemon: Daemon, rate: int, seconds: float) -> Run:
    used = daemon.process.cpu_s()
    [said] = await outcome(
        "mixed",
        socket=daemon.socket,
        rooms=ROOMS,
        each=EACH,
        messages=MESSAGES,
        waiters=WAITERS,
        rate=rate,
        seconds=seconds,
        body=BODY,
    )
    return Run(said["calls"], said["busy"], (daemon.process.cpu_s() - used) / said["elapsed"])


def _findings(found: dict[int, list[Run]], rounds: int, seconds: float) -> Findings:
    # A rate that some round did not come to was too much for it at a lower one.
    whole = {rate: runs for rate, runs in found.items() if len(runs) == rounds}
    p99 = {rate: _median(runs, 0.99) for rate, runs in whole.items()}
    kept = [rate for rate, took in p99.items() if took <= TOO_LONG_S]
    rows = [
        [
            f"{rate:,}",
            *(milliseconds(_median(runs, part)) for part in (0.5, 0.9, 0.99)),
            *(milliseconds(_median_of(runs, sort)) for sort in ("post", "wait", "history")),
            f"{statistics.median(one.daemon for one in runs):.0%}",
            f"{statistics.median(one.load for one in runs):.0%}",
        ]
        for rate, runs in whole.items()
    ]
    columns = [
        "calls/s", "p50 ms", "p90", "p99", "post, p99", "message to waiter, p99", "history, p99",
        "daemon, of a core", "load, of a core",
    ]  # fmt: skip
    shares = Counter(MIX)
    mix = ", ".join(f"{share * 5} % {sort}" for sort, share in shares.most_common())
    most = f"{kept[-1]:,} calls a second are the most" if kept else "Not even the lowest rate is"
    return Findings(
        "A mixed load that rises",
        f"{ROOMS} rooms with {EACH} members and {MESSAGES:,} messages each; {WAITERS} members of "
        f"each room wait all the time. Calls come at a fixed rate for {seconds:g} s, whether or "
        f"not the daemon keeps up: {mix}. A call's time begins when it was due. A rate is kept "
        f"when the p99 of all calls and waits is at most {TOO_LONG_S * 1000:.0f} ms; above, the "
        "round ends. The load's own processor time is in the last column: it has one core of "
        "this machine, at the most.",
        [Table(columns, rows)],
        [],
        [
            Bars(
                "mixed load, p99 by calls a second",
                "ms",
                {f"coordroomsd, {rate:,}/s": took * 1000 for rate, took in p99.items()},
            )
        ],
        [f"{most} that the daemon keeps with a p99 of at most {TOO_LONG_S * 1000:.0f} ms."],
    )


def _median(runs: list[Run], part: float) -> float:
    return statistics.median(run.quantile(part) for run in runs)


def _median_of(runs: list[Run], sort: str) -> float:
    return statistics.median(quantile(run.calls[sort], 0.99) for run in runs)
