"""A stream of server-sent events (WHATWG HTML, "Server-sent events")."""

from __future__ import annotations

from coordroomsd.api.pipeline import refusal_of
from coordroomsd.api.streaming import Stream
from coordroomsd.http.exchanges import Exchange

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    # nginx would otherwise hold events back until its buffer is full.
    (b"x-accel-buffering", b"no"),
]


async def send_stream(exchange: Exchange, stream: Stream) -> None:
    """Send until the stream ends. A slow reader is waited for, and then read from the store.

    Raises what the stream is refused with before its first chunk. What fails later ends it, so that
    its reader comes again and is told.
    """
    begun = False

    async def emit(chunk: bytes) -> None:
        nonlocal begun
        if not begun:
            begun = True
            await exchange.begin_stream(_HEADERS)
        await exchange.stream(chunk)

    try:
        await stream.run(emit, exchange.until_writable)
    except Exception as error:
        if not begun:
            raise
        refusal_of(error)
    exchange.end_stream()
