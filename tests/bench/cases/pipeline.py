"""Thirty agents that all have something to say at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg

from tests.bench import fills
from tests.bench.figures import quantile
from tests.bench.findings import Bars, Findings, Table, milliseconds
from tests.bench.processes import load
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Stage

AGENTS, EACH = 30, 5
REPEATS = (10, 3)
# https://github.com/Dicklesworthstone/mcp_agent_mail_rust, README: "30-agent message pipeline",
# until a message is stored, on that project's machine.
PUBLISHED_P99_S = 6.8


async def run(stage: Stage, settings: Settings) -> Findings:
    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, 1)
        await fills.members(connection, AGENTS)

    repeats = settings.rounds * settings.size(*REPEATS)
    async with stage.daemon(fill) as daemon:
        await daemon.at_rest()
        async with load(
            "pipeline",
            socket=daemon.socket,
            room=fills.ROOM,
            agents=AGENTS,
            each=EACH,
            body=BODY,
            repeats=repeats,
        ) as agents:
            found: list[dict[str, Any]] = [await agents.said() for _ in range(repeats)]
    stored = [seconds for one in found for seconds in one["stored"]]
    heard = [seconds for one in found for seconds in one["heard"]]
    p99 = quantile(stored, 0.99)
    return Findings(
        f"{AGENTS} agents, {EACH} messages each",
        f"All {AGENTS} agents are in one room and wait there. All begin at once to send {EACH} "
        "messages of 200 bytes, each the next one when the last one is stored. A message is "
        f"heard when the last of the other {AGENTS - 1} has it; that each has every message once "
        f"and in order is checked. {repeats} times.",
        [
            Table(
                ["", "p50 ms", "p90", "p99", "longest"],
                [
                    _row("stored", stored),
                    _row("heard by all others", heard),
                    _row("everybody has everything", [one["all"] for one in found]),
                ],
            )
        ],
        [],
        [
            Bars(
                f"{AGENTS} agents at once, p99 of a message",
                "ms",
                {
                    "coordroomsd, stored": p99 * 1000,
                    "coordroomsd, heard by all": quantile(heard, 0.99) * 1000,
                },
            )
        ],
        [
            f"mcp_agent_mail publishes a p99 of {PUBLISHED_P99_S} s until a message is stored, "
            f"for the same number of agents and messages: {PUBLISHED_P99_S / p99:,.0f} times as "
            "long. That was another machine, and it was not measured in this run."
        ],
    )


def _row(name: str, seconds: Sequence[float]) -> list[str]:
    quantiles = [quantile(seconds, part) for part in (0.5, 0.9, 0.99)]
    return [name, *map(milliseconds, [*quantiles, max(seconds)])]
