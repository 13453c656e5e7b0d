"""A stream of server-sent events (WHATWG HTML, "Server-sent events")."""

from __future__ import annotations

from starlette.types import Send

from coordroomsd.api.streaming import Stream

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    # nginx would otherwise hold events back until its buffer is full.
    (b"x-accel-buffering", b"no"),
]


async def send_stream(send: Send, stream: Stream) -> None:
    """Send until the stream ends. `send` waits for a slow reader, who then reads from the store."""

    async def emit(chunk: bytes) -> None:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await stream.run(emit)
    await send({"type": "http.response.body", "body": b""})
