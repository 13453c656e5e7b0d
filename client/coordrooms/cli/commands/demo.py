"""`coordrooms demo`"""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser, Namespace

from ...events import Event, Message
from ...operations.rooms import get_document
from ..clients import (
    add_caller,
    connect,
    connect_async,
    seconds,
    token_file,
)
from ..demo.scripts import AUDIENCE
from ..demo.stages import Cast, Stage
from ..events import event_lines
from ..failures import DONE
from ..outputs import Output

HELP = "watch two agents argue a decision, and check that nothing was lost"

# Slow enough to read along.
READING_PACE_S = 1.0

# As much as each of the agents has.
PATIENCE_S = 30.0


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
    with connect(arguments) as client:
        # A first look that is not patient: a daemon that is away shows at once.
        client.document(get_document("/rooms", {"limit": 1}))
        # On the socket anybody may act as anyone new; who has a token acts below its name.
        named = client.session.has_token or arguments.as_
        prefix = f"{client.me().participant.name}/" if named else ""
    token = token_file(arguments)
    environment = {} if token is None else {"COORDROOMS_TOKEN_FILE": token}
    pace_s = arguments.pace
    if pace_s is None:
        pace_s = READING_PACE_S if output.on_terminal else 0.0
    cast = Cast(prefix, os.urandom(3).hex(), environment)
    log = asyncio.run(_play(arguments, output, cast, pace_s))
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


async def _play(arguments: Namespace, output: Output, cast: Cast, pace_s: float) -> list[Event]:
    def show(event: Event) -> None:
        output.line(event_lines(event, output.style, cast.names))

    audience = cast.conversation(AUDIENCE)
    async with connect_async(arguments, audience, PATIENCE_S) as client:
        return await Stage(client, cast, pace_s, show).run()
