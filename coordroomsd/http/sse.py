"""A stream of server-sent events (WHATWG HTML, "Server-sent events")."""

from __future__ import annotations

from starlette.types import Send

from coordroomsd.api.pipeline import refusal_of
from coordroomsd.api.streaming import Stream

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    # nginx would otherwise hold events back until its buffer is full.
    (b"x-accel-buffering", b"no"),
]


async def send_stream(send: Send, stream: Stream) -> None:
    """Send until the stream ends. `send` waits for a slow reader, who then reads from the store.

    Raises what the stream is refused with before its first chunk. What fails later ends it, so that
    its reader comes again and is told.
    """
    begun = False

    async def emit(chunk: bytes) -> None:
        nonlocal begun
        if not begun:
            begun = True
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    try:
        await stream.run(emit)
    except Exception as error:
        if not begun:
            raise
        refusal_of(error)
    await send({"type": "http.response.body", "body": b""})
