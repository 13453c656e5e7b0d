"""What stands between an agent and the daemon: the client library, the relay and the hook."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from tests.bench import fills
from tests.bench.figures import Rounds
from tests.bench.findings import Bars, Findings, Table, Target, milliseconds, quantiles
from tests.bench.loads import mcp_lines
from tests.bench.processes import Memory, outcome
from tests.bench.rounds import Measure, alternating
from tests.bench.settings import BODY, Settings
from tests.bench.stages import Daemon, Stage

CALLS, LONES, STARTS = (200, 50), (100, 30), (20, 5)
COMMAND = Path(sys.executable).with_name("coordrooms")
BARE, LIBRARY, RELAY = "bare sockets", "client library", "MCP relays"
LONE_LOADS = {BARE: "lone", LIBRARY: "lone_library", RELAY: "lone_relay"}
PYTHON, RELAY_COMMAND, HOOK = "python alone", "coordrooms mcp", "coordrooms hook"


class Starts(NamedTuple):
    """Of one command: rounds of seconds, and its memory."""

    seconds: Rounds
    memory: Memory


async def run(stage: Stage, settings: Settings) -> Findings:
    async def fill(connection: asyncpg.Connection) -> None:
        await fills.rooms(connection, 2)
        await fills.groups(connection, 2, 2)

    async with stage.daemon(fill) as daemon:
        await daemon.at_rest()
        calls = [
            found
            for _ in range(settings.rounds)
            for found in await _calls(daemon, settings.size(*CALLS))
        ]
        lone = await alternating(settings.rounds, _lone(daemon, settings.size(*LONES)))
        starts = await _starts(stage, daemon, settings.rounds, settings.size(*STARTS))
    return _findings(calls, lone, starts)


async def _calls(daemon: Daemon, count: int) -> list[Any]:
    return await outcome(
        "calls",
        socket=daemon.socket,
        room=fills.ROOM,
        caller=fills.agent(1),
        count=count,
        body=BODY,
    )


def _lone(daemon: Daemon, count: int) -> dict[str, Measure]:
    def measure(program: str) -> Measure:
        async def measured() -> list[float]:
            return await outcome(
                program,
                socket=daemon.socket,
                room=fills.ROOM,
                poster=fills.agent(1),
                waiter=fills.agent(2),
                count=count,
                body=BODY,
                command=[str(COMMAND), "mcp"],
            )

        return measured

    return {way: measure(program) for way, program in LONE_LOADS.items()}


async def _starts(stage: Stage, daemon: Daemon, rounds: int, count: int) -> dict[str, Starts]:
    environment = {
        "COORDROOMS_URL": f"unix:{daemon.socket}",
        # In the second room, where nobody speaks.
        "COORDROOMS_CONVERSATION": fills.agent(3),
        # The hook leaves a trace there of when it ran.
        "HOME": str(stage.directory),
        "XDG_STATE_HOME": str(stage.directory / "traces"),
    }
    memories: dict[str, Memory] = {}

    def measure(name: str, command: list[str], **asked: Any) -> Measure:
        async def measured() -> list[float]:
            seconds: list[float]
            seconds, memory = await outcome(
                "starts", command=command, environment=environment, count=count, **asked
            )
            memories[name] = Memory(*memory)
            return seconds

        return measured

    session = '{"session_id": "bench", "hook_event_name": "PostToolUse"}'
    echo = "import sys; print(input(), flush=True); sys.stdin.read()"
    python = [sys.executable, "-c", echo]
    initialize, listed = mcp_lines.INITIALIZE.decode(), mcp_lines.LIST.decode()
    called = mcp_lines.INITIALIZED.decode() + mcp_lines.call(1, "list_active_rooms").decode()
    hook = [str(COMMAND), "hook", "PostToolUse", "--host", "claude"]
    found = await alternating(
        rounds,
        {
            PYTHON: measure(PYTHON, python, until="answer", sent="\n", more=[]),
            RELAY_COMMAND: measure(
                RELAY_COMMAND,
                [str(COMMAND), "mcp"],
                until="answer",
                sent=initialize,
                more=[listed, called],
            ),
            HOOK: measure(HOOK, hook, until="end", sent=session),
        },
    )
    return {name: Starts(seconds, memories[name]) for name, seconds in found.items()}


def _findings(
    calls: list[Any], lone: Mapping[str, Rounds], starts: Mapping[str, Starts]
) -> Findings:
    call_rows, targets = [], []
    for call in calls[0]:
        medians = {
            way: statistics.median(statistics.median(found[call][way]) for found in calls)
            for way in calls[0][call]
        }
        for way in ("Client", "AsyncClient"):
            added = statistics.median(
                statistics.median(found[call][way]) - statistics.median(found[call]["bare"])
                for found in calls
            )
            targets.append(Target(f"{way} adds to `{call}`", "at most", 0.3, added * 1000, "ms"))
        call_rows.append([f"`{call}`", *map(milliseconds, medians.values())])
    relay = starts[RELAY_COMMAND]
    targets += [
        Target("`coordrooms mcp` answers `initialize`", "at most", 0.1, relay.seconds.median, "s"),
        Target(
            "`coordrooms mcp` in use, resident", "at most", 15, relay.memory.resident / 2**20, "MiB"
        ),
    ]
    return Findings(
        "Client library, MCP relay and hook",
        "The same call over a bare socket and by both fronts of the client library, in turns. "
        "Then a lone message, as above, but posted and awaited through the library, and through "
        "two relays as an agent's host starts them. Then the commands that hosts start: until the "
        "relay answers `initialize`, and until a hook has ended that found nothing unread; their "
        "memory is that of a relay that has listed the tools and called one, and the most that a "
        "hook had.",
        [
            Table(["a call, p50 ms", "bare socket", "Client", "AsyncClient"], call_rows),
            Table(
                ["lone message", "p50 ms", "p90", "p99"],
                [[way, *quantiles(rounds)] for way, rounds in lone.items()],
            ),
            Table(
                ["started", "p50 ms", "p99", "MiB resident", "MiB private and dirty"],
                [
                    [
                        name,
                        milliseconds(one.seconds.median),
                        milliseconds(one.seconds.quantile(0.99)),
                        *(f"{size / 2**20:.1f}" for size in one.memory),
                    ]
                    for name, one in starts.items()
                ],
            ),
        ],
        targets,
        [
            Bars(
                "lone message end to end, p50",
                "ms",
                {f"coordrooms, {way}": rounds.median * 1000 for way, rounds in lone.items()},
            ),
            Bars(
                "started and done, p50",
                "ms",
                {name: one.seconds.median * 1000 for name, one in starts.items()},
            ),
        ],
    )
