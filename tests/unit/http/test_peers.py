"""How long a connection may dawdle, and what it is told when it speaks no HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import orjson
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from coordroomsd.http.bounds import REQUEST_WITHIN_S, Bounds
from coordroomsd.http.peers import MAX_HEADER_BYTES, PeerProtocol
from tests.clocks import FakeClock, SkippingLoop

IDLE_S = 75
REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return len(self.written)

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Connection:
    """One to an application that answers when it is told to."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._answers = asyncio.Event()
        self.answered = 0
        self.transport = Transport()
        config = uvicorn.Config(
            self._app, interface="asgi3", log_config=None, timeout_keep_alive=IDLE_S
        )
        self.protocol = PeerProtocol(config, ServerState(), {}, _loop=loop)
        self.protocol.bounds = Bounds()
        self.protocol.connection_made(self.transport)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answers.wait()
        self.answered += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    def says(self, data: bytes) -> None:
        self.protocol.data_received(data)

    def may_answer(self) -> None:
        self._answers.set()

    def after(self, seconds: float) -> bool:
        """Whether it is still open then."""
        self._loop.run_until_complete(asyncio.sleep(seconds))
        return not self.transport.closed


@pytest.fixture
def connection() -> Iterator[Connection]:
    loop = SkippingLoop(FakeClock())
    asyncio.set_event_loop(loop)
    connection = Connection(loop)
    yield connection
    connection.may_answer()
    connection.protocol.connection_lost(None)
    loop.run_until_complete(asyncio.sleep(0.1))
    asyncio.set_event_loop(None)
    loop.close()


def test_one_that_says_nothing_is_closed(connection: Connection) -> None:
    assert connection.after(IDLE_S - 1)
    assert not connection.after(2)


@pytest.mark.parametrize("beginning", [b"G", b"\r\n", b"GET / HTTP/1.1\r\nHost: h", REQUEST[:-1]])
def test_headers_that_do_not_end(connection: Connection, beginning: bytes) -> None:
    connection.says(beginning)
    assert connection.after(REQUEST_WITHIN_S - 1)
    assert not connection.after(2)


def test_a_trickle_does_not_help(connection: Connection) -> None:
    connection.says(b"GET / HTTP/1.1\r\nx: ")
    for _ in range(int(REQUEST_WITHIN_S) - 1):
        assert connection.after(1)
        connection.says(b"x")
    assert not connection.after(2)


def test_a_parked_call_stays(connection: Connection) -> None:
    connection.says(REQUEST[:10])
    connection.says(REQUEST[10:])
    assert connection.after(3600)
    connection.may_answer()
    assert connection.after(1)
    assert connection.answered == 1


def test_after_an_answer_it_counts_anew(connection: Connection) -> None:
    connection.may_answer()
    for _ in range(3):
        connection.says(REQUEST)
        assert connection.after(IDLE_S - 1)
    assert connection.answered == 3
    connection.says(REQUEST + REQUEST[:5])
    assert connection.after(REQUEST_WITHIN_S - 1)
    assert not connection.after(2)
    assert connection.answered == 4


def test_headers_without_bound(connection: Connection) -> None:
    connection.says(b"GET / HTTP/1.1\r\nx: ")
    for _ in range(MAX_HEADER_BYTES // 1024 + 1):
        connection.says(b"x" * 1024)
    assert connection.transport.closed
    assert _problem(connection)["code"] == "invalid_arguments"


def test_a_body_that_follows_an_early_answer_is_let_pass(connection: Connection) -> None:
    """Its sender gets to read the answer, and may go on with the same connection."""
    size = 4 * MAX_HEADER_BYTES
    connection.may_answer()
    connection.says(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % size)
    assert connection.after(1)
    for _ in range(size // 1024):
        connection.says(b"x" * 1024)
    connection.says(REQUEST)
    assert connection.after(1)
    assert connection.answered == 2


def test_such_a_body_is_not_waited_for(connection: Connection) -> None:
    connection.may_answer()
    connection.says(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nx")
    assert connection.after(1)
    connection.says(b"x")
    assert connection.after(REQUEST_WITHIN_S - 1)
    assert not connection.after(2)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"GET\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"CONNECT here:80 HTTP/1.1\r\nHost: here\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : here\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
    ],
)
def test_no_request_of_http(connection: Connection, sent: bytes) -> None:
    connection.says(sent)
    assert connection.transport.closed
    assert _problem(connection)["status"] == 400
    assert connection.answered == 0


def _problem(connection: Connection) -> dict[str, Any]:
    head, _, body = connection.transport.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json")
    return cast("dict[str, Any]", orjson.loads(body))
