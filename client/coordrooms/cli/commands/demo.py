"""`coordrooms demo`"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from ...events import Event, Message
from ...operations.rooms import get_document
from ..clients import add_caller, connect, seconds
from ..events import event_lines
from ..failures import DONE
from ..outputs import Output

HELP = "watch two agents argue a decision, and check that nothing was lost"

# Slow enough to read along.
READING_PACE_S = 1.0


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--pace",
        type=seconds,
        metavar="S",
        help="how long an agent thinks before a line "
        f"(default: {READING_PACE_S:g} on a terminal, else 0)",
    )
    add_caller(parser)


def run(arguments: Namespace, output: Output) -> int:
    import asyncio

    with connect(arguments) as client:
        # A first look that is not patient: a daemon that is away shows at once.
        client.document(get_document("/rooms", {"limit": 1}))
        # On the socket anybody may act as anyone new; who has a token acts below its name.
        prefix = (
            f"{client.me().participant.name}/" if client.session.has_token or arguments.as_ else ""
        )
    pace_s = arguments.pace
    if pace_s is None:
        pace_s = READING_PACE_S if output.on_terminal else 0.0
    suffix = os.urandom(3).hex()
    log = asyncio.run(_play(arguments, output, prefix, suffix, pace_s))
    messages = sum(isinstance(event, Message) for event in log)
    output.line("")
    output.line(
        output.style.good(
            f"{messages} messages, events 1 to {len(log)}: nothing lost, nothing repeated, "
            "nothing out of order."
        )
    )
    output.line("Each agent slept in `wait` until the other one spoke, and was handed all it said.")
    return DONE


async def _play(
    arguments: Namespace, output: Output, prefix: str, suffix: str, pace_s: float
) -> list[Event]:
    from ...async_clients import AsyncClient
    from ..demo.stages import Stage

    async with AsyncClient(f"{prefix}audience-{suffix}", url=arguments.url) as client:
        stage = Stage(
            client,
            suffix,
            prefix,
            pace_s,
            lambda event: output.line(event_lines(event, output.style)),
        )
        return await stage.run()
