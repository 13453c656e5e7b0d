"""The members of a room as a table that keeps itself up to date, until Ctrl-C."""

from __future__ import annotations

import asyncio
import shutil
import sys
from argparse import Namespace
from datetime import UTC, datetime

from ..answers import Overview
from ..async_clients import AsyncRoom
from ..follows import FOLLOW_PATIENCE_S
from .clients import connect, connect_async
from .failures import DONE
from .outputs import Output
from .rosters import HEADS, roster
from .texts import clock_time, cut, safe, table

# Ages and who waits change without an event.
REFRESH_S = 2.0
# A busy room is drawn at most this often.
SHORTEST_S = 0.2

# Another page of the terminal, without a cursor, so that what was there comes back at the end.
ENTER, LEAVE, HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[J"


def watch(arguments: Namespace, output: Output) -> int:
    """Draw the table again and again. Ends with Ctrl-C, leaving the last one behind."""
    with connect(arguments) as client:
        # A first look that is not patient: a wrong name or a daemon that is away shows at once.
        shown = [client.room(arguments.room).overview()]
    sys.stdout.write(ENTER)
    try:
        asyncio.run(_draw_until_interrupted(arguments, output, shown))
    except KeyboardInterrupt:
        return DONE
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        sys.stdout.write(LEAVE)
        output.line("\n".join(_lines(shown[0], output, sys.maxsize)))
    return DONE


async def _draw_until_interrupted(
    arguments: Namespace, output: Output, shown: list[Overview]
) -> None:
    changed = asyncio.Event()
    async with (
        connect_async(arguments, arguments.as_, FOLLOW_PATIENCE_S) as client,
        asyncio.TaskGroup() as tasks,
    ):
        room = client.room(arguments.room)
        tasks.create_task(_listen(room, changed))
        while True:
            shown[:] = [await room.overview()]
            columns, rows = shutil.get_terminal_size()
            sys.stdout.write(HOME + "\n".join(_lines(shown[0], output, columns)[: rows - 1]))
            sys.stdout.flush()
            changed.clear()
            await asyncio.sleep(SHORTEST_S)
            try:
                async with asyncio.timeout(REFRESH_S):
                    await changed.wait()
            except TimeoutError:
                continue


async def _listen(room: AsyncRoom, changed: asyncio.Event) -> None:
    async for _ in room.stream():
        changed.set()


def _lines(shown: Overview, output: Output, columns: int) -> list[str]:
    room, style = shown.room, output.style
    title = (
        f"{safe(room.name or room.ref)}: {room.latest_seq} events, {clock_time(datetime.now(UTC))}"
    )
    heads, *rows = (cut(line, columns) for line in table(HEADS, roster(shown.members, style)))
    claims = [
        f"{safe(claim.key)} is claimed by {safe(claim.holder.name)} "
        f"until {clock_time(claim.expires_at)}"
        for claim in shown.claims
    ]
    below = ["", *(cut(line, columns) for line in claims)] if claims else []
    return [style.bold(cut(title, columns)), style.dim(heads), *rows, *below]
