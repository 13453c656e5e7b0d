"""Whole lines from a stream, however long the others are."""

from __future__ import annotations

import asyncio


async def next_line(reader: asyncio.StreamReader) -> bytes | None:
    """The next line without its end; None when it was longer than the reader's limit.

    A line that is too long is skipped whole. Raises EOFError at the end of the stream.
    """
    skipped = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as overrun:
            await reader.readexactly(overrun.consumed)
            skipped = True
        except (asyncio.IncompleteReadError, ConnectionError) as end:
            raise EOFError from end
        else:
            return None if skipped else line.rstrip(b"\r\n")
