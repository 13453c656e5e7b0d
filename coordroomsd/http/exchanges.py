"""A request for a call, and its answer: bytes on one side, what a call needs on the other.

It stands where uvicorn has a cycle, and ASGI between that and an application. Without those a
parked wait takes half the memory, and a call a third less time outside of Postgres.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from coordroomsd.http.bounds import Bounds
from coordroomsd.http.peers import Peer
from coordroomsd.http.replies import Header
from coordroomsd.http.requests import DRAINED_BYTES, MAX_REQUEST_BYTES


class Head(NamedTuple):
    """What a request begins with. Names of headers are in lower case, values as they were sent."""

    method: bytes
    path: bytes
    query: bytes
    headers: list[Header]
    # The first one of each name.
    by_name: dict[bytes, bytes]
    peer: Peer

    def get(self, name: bytes) -> str | None:
        value = self.by_name.get(name)
        return None if value is None else value.decode("latin-1")


class Connection(NamedTuple):
    """What an exchange uses of its connection. `answered` is called once the answer is written."""

    transport: asyncio.Transport
    flow: FlowControl
    loop: asyncio.AbstractEventLoop
    tasks: set[asyncio.Task[None]]
    answered: Callable[[], None]
    bounds: Bounds


class Exchange:
    """`serve` answers it, in a task of its own that begins when the body is there.

    The attributes from `body` to `response_complete` are those of uvicorn's cycle: uvicorn's
    protocol reads and sets them, and calls `message_event.set()` when it has.
    """

    __slots__ = (
        "_connection",
        "_dropped",
        "_late",
        "_parks",
        "_serve",
        "_task",
        "body",
        "disconnected",
        "head",
        "is_crowded",
        "is_late",
        "is_too_large",
        "keep_alive",
        "more_body",
        "response_complete",
    )  # fmt: skip

    def __init__(
        self,
        head: Head,
        connection: Connection,
        serve: Callable[[Exchange], Coroutine[Any, Any, None]],
        *,
        keep_alive: bool,
    ) -> None:
        self.head = head
        self.body = bytearray()
        self.more_body = True
        self.disconnected = False
        self.keep_alive = keep_alive
        self.response_complete = False
        self.is_late = False
        self.is_crowded = False
        self.is_too_large = _is_announced_too_large(head)
        # Whether it ends when its caller goes away; others are done to their end.
        self._parks = False
        self._connection = connection
        self._serve = serve
        self._dropped = 0
        self._late: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def body_within_s(self) -> float:
        return self._connection.bounds.request_within_s

    @property
    def message_event(self) -> Exchange:
        return self

    def set(self) -> None:
        """The body has gone on or ended, or the caller has gone away."""
        if self.disconnected:
            self._body_is_over()
            if self._task is None:
                self.body = bytearray()
            elif self._parks:
                self._task.cancel()
            return
        if self.is_too_large or len(self.body) > MAX_REQUEST_BYTES:
            # Its sender gets to read the answer if it is not much more.
            self.is_too_large = True
            self._dropped += len(self.body)
            self.body.clear()
        # uvicorn stops reading after each 64 KiB.
        self._connection.flow.resume_reading()
        if self._task is None and (not self.more_body or self._dropped > DRAINED_BYTES):
            self._body_is_over()
            self._begin()

    def take_body(self) -> bytearray:
        """Once: a call that parks would keep it for minutes."""
        body, self.body = self.body, bytearray()
        return body

    def expect_body(self) -> None:
        """What has come so far does not end the request: give the rest its time."""
        if not self.more_body or self._task:
            return
        if self._late is None:
            self._late = self._connection.loop.call_later(self.body_within_s, self._give_up)
        size = len(self.body) + sum(len(name) + len(value) for name, value in self.head.headers)
        self._connection.bounds.senders.has_sent(self, size, self._give_way)

    def park(self) -> None:
        """From now on it ends when its caller goes away, and does without headers: 1.5 KiB."""
        self._parks = True
        self.head.headers.clear()
        self.head.by_name.clear()
        if self.disconnected and self._task:
            self._task.cancel()

    async def until_writable(self) -> None:
        """Its reader has taken most of what was written, or is gone."""
        if self._connection.flow.write_paused and not self.disconnected:
            await self._connection.flow.drain()

    async def reply(self, status: int, headers: Sequence[Header], body: bytes) -> None:
        await self.until_writable()
        length = b"content-length: %d\r\n" % len(body)
        if self.head.method == b"HEAD":
            body = b""
        self._write(self._beginning(status, headers, length) + body)
        self._is_answered()

    async def begin_stream(self, headers: Sequence[Header]) -> None:
        """An answer without a length: `stream` what there is of it, then `end_stream`."""
        await self.until_writable()
        self._write(self._beginning(200, headers, b"transfer-encoding: chunked\r\n"))

    async def stream(self, chunk: bytes) -> None:
        """Waits for a slow reader."""
        await self.until_writable()
        self._write(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    def end_stream(self) -> None:
        self._write(b"0\r\n\r\n")
        self._is_answered()

    def _give_up(self) -> None:
        self._late = None
        self.is_late = True
        self._body_is_over()
        self._begin()

    def _give_way(self) -> None:
        self.is_crowded = True
        self.body = bytearray()
        self._body_is_over()
        self._begin()

    def _body_is_over(self) -> None:
        self._connection.bounds.senders.is_done(self)
        if self._late:
            self._late.cancel()
            self._late = None

    def _begin(self) -> None:
        loop, tasks = self._connection.loop, self._connection.tasks
        self._task = task = loop.create_task(self._serve(self))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def _write(self, data: bytes) -> None:
        if not self.disconnected:
            self._connection.transport.write(data)

    def _beginning(self, status: int, headers: Sequence[Header], length: bytes) -> bytes:
        lines = [STATUS_LINE[status], *(b"%b: %b\r\n" % header for header in headers), length]
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        return b"".join((*lines, b"\r\n"))

    def _is_answered(self) -> None:
        if self.disconnected:
            return
        self.response_complete = True
        if not self.keep_alive:
            self._connection.transport.close()
        self._connection.answered()


def _is_announced_too_large(head: Head) -> bool:
    length = head.get(b"content-length")
    return length is not None and length.isdigit() and int(length) > MAX_REQUEST_BYTES
