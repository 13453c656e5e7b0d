"""Calls on a connection: when one is served, what is written, and a caller that goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from coordroomsd.http.bounds import REQUEST_WITHIN_S, Bounds
from coordroomsd.http.exchanges import Exchange
from coordroomsd.http.protocols import CallProtocol
from coordroomsd.http.requests import DRAINED_BYTES, MAX_REQUEST_BYTES
from tests.clocks import FakeClock, SkippingLoop
from tests.unit.http.test_peers import Transport

HOST = b"Host: here\r\n"


class Connection:
    """One whose calls are answered with their own body, once they may be."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.served: list[Exchange] = []
        self.ended: list[type[BaseException] | None] = []
        self.parks = False
        self.transport = Transport()
        config = uvicorn.Config(self._app, interface="asgi3", log_config=None)
        self.protocol = CallProtocol(
            self._serve,
            Bounds(),
            config=config,
            server_state=ServerState(),
            app_state={},
            _loop=loop,
        )
        self.protocol.connection_made(self.transport)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def _serve(self, exchange: Exchange) -> None:
        self.served.append(exchange)
        if self.parks:
            exchange.park()
        error: type[BaseException] | None = None
        try:
            await self.may_answer.wait()
            await exchange.reply(200, [(b"x", b"y")], bytes(exchange.body))
        except BaseException as raised:
            error = type(raised)
            raise
        finally:
            self.ended.append(error)

    def says(self, *data: bytes) -> None:
        for one in data:
            self.protocol.data_received(one)
            self.passes(0)

    def passes(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))
        self._loop.run_until_complete(asyncio.sleep(0))

    def goes_away(self) -> None:
        self.transport.close()
        self.protocol.connection_lost(None)
        self.passes(0)

    @property
    def answer(self) -> bytes:
        """What was written since this was asked last."""
        written, self.transport.written = self.transport.written, b""
        return written


@pytest.fixture
def connection() -> Iterator[Connection]:
    loop = SkippingLoop(FakeClock())
    asyncio.set_event_loop(loop)
    connection = Connection(loop)
    yield connection
    connection.may_answer.set()
    connection.passes(1)
    connection.protocol.connection_lost(None)
    connection.passes(1)
    asyncio.set_event_loop(None)
    loop.close()


def post(body: bytes, *headers: bytes) -> bytes:
    lines = b"".join((HOST, *headers))
    return b"POST /api/v1/rooms?a=b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (
        lines, len(body), body,
    )  # fmt: skip


def test_a_call_and_its_answer(connection: Connection) -> None:
    connection.says(post(b"hello", b"Name: \xe9\r\n", b"NAME: second\r\n"))
    [exchange] = connection.served
    head = exchange.head
    assert (head.method, head.path, head.query) == (b"POST", b"/api/v1/rooms", b"a=b")
    assert (head.get(b"name"), head.get(b"other")) == ("é", None)
    assert connection.answer == b"HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 5\r\n\r\nhello"
    assert not connection.transport.closed


def test_calls_follow_each_other_on_one_connection(connection: Connection) -> None:
    for body in (b"one", b"two", b""):
        connection.says(post(body))
        assert connection.answer.endswith(b"\r\n\r\n" + body)
    assert len(connection.served) == 3


def test_what_is_no_call_goes_to_the_application(connection: Connection) -> None:
    connection.says(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert connection.answer.startswith(b"HTTP/1.1 204 ")
    connection.says(post(b"a call"))
    assert connection.answer.endswith(b"a call")
    connection.says(b"GET /api/v1 HTTP/1.1\r\n" + HOST + b"\r\n")
    assert connection.answer.startswith(b"HTTP/1.1 204 ")
    assert len(connection.served) == 1


def test_it_is_served_once_its_body_is_there(connection: Connection) -> None:
    whole = post(b"in pieces")
    connection.says(*(whole[index : index + 1] for index in range(len(whole) - 1)))
    assert not connection.served
    connection.says(whole[-1:])
    assert connection.answer.endswith(b"in pieces")


def test_a_body_in_chunks(connection: Connection) -> None:
    head = b"POST /api/v1/rooms HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
    connection.says(head, b"3\r\nabc\r\n", b"2\r\nde\r\n", b"0\r\n\r\n")
    assert connection.answer.endswith(b"\r\n\r\nabcde")


@pytest.mark.parametrize("size", [MAX_REQUEST_BYTES, MAX_REQUEST_BYTES + 1])
def test_the_size_of_a_body(connection: Connection, size: int) -> None:
    connection.says(post(b"x" * size))
    [exchange] = connection.served
    assert exchange.is_too_large == (size > MAX_REQUEST_BYTES)
    assert not exchange.more_body
    assert len(exchange.body) == (0 if exchange.is_too_large else size)


def test_of_a_body_without_end_so_much_is_read(connection: Connection) -> None:
    whole = post(b"x" * 2 * DRAINED_BYTES)
    connection.says(whole[:DRAINED_BYTES])
    assert not connection.served
    connection.says(whole[DRAINED_BYTES : DRAINED_BYTES + 1000])
    [exchange] = connection.served
    assert (exchange.is_too_large, exchange.more_body) == (True, True)


def test_a_body_that_does_not_come(connection: Connection) -> None:
    connection.says(post(b"late")[:-1])
    connection.passes(REQUEST_WITHIN_S - 1)
    assert not connection.served
    connection.passes(2)
    [exchange] = connection.served
    assert (exchange.is_late, exchange.more_body) == (True, True)


def test_a_body_in_time_is_not_late(connection: Connection) -> None:
    connection.may_answer.clear()
    whole = post(b"in time")
    connection.says(whole[:-1])
    connection.passes(REQUEST_WITHIN_S - 1)
    connection.says(whole[-1:])
    connection.passes(10 * REQUEST_WITHIN_S)
    [exchange] = connection.served
    assert not exchange.is_late


def test_who_expects_to_be_told_to_continue_is(connection: Connection) -> None:
    whole = post(b"body", b"Expect: 100-continue\r\n")
    connection.says(whole[:-4])
    assert connection.answer == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.says(whole[-4:])
    assert connection.answer.endswith(b"body")


@pytest.mark.parametrize(
    ("request_line", "header"),
    [(b"GET /api/v1/me HTTP/1.0", b""), (b"GET /api/v1/me HTTP/1.1", b"Connection: close\r\n")],
)
def test_the_last_answer_of_a_connection(
    connection: Connection, request_line: bytes, header: bytes
) -> None:
    connection.says(b"%b\r\n%b%b\r\n" % (request_line, HOST, header))
    assert b"\r\nconnection: close\r\n" in connection.answer
    assert connection.transport.closed


def test_an_answer_to_head_has_no_body(connection: Connection) -> None:
    connection.says(post(b"hello").replace(b"POST", b"HEAD"))
    assert connection.answer.endswith(b"content-length: 5\r\n\r\n")


@pytest.mark.parametrize(("parks", "ended"), [(True, asyncio.CancelledError), (False, None)])
def test_a_caller_that_goes_away(
    connection: Connection, parks: bool, ended: type[BaseException] | None
) -> None:
    """A parked call ends with it; what a call may have begun is brought to its end."""
    connection.parks = parks
    connection.may_answer.clear()
    connection.says(post(b""))
    connection.goes_away()
    connection.may_answer.set()
    connection.passes(0)
    assert connection.ended == [ended]
    assert connection.answer == b""
    assert not connection.protocol.tasks


def test_a_caller_that_goes_away_with_half_a_body(connection: Connection) -> None:
    connection.says(post(b"half")[:-2])
    begun: Any = connection.protocol.cycle
    assert connection.protocol.bounds.senders.unfinished_bytes() > 2
    connection.goes_away()
    # The protocol and its exchange hold each other: who knows when they go.
    assert begun.body == b""
    assert connection.protocol.bounds.senders.unfinished_bytes() == 0
    connection.passes(2 * REQUEST_WITHIN_S)
    assert not connection.served


def test_an_answer_in_pieces(connection: Connection) -> None:
    async def serve(exchange: Exchange) -> None:
        await exchange.begin_stream([(b"x", b"y")])
        await exchange.stream(b"a" * 20)
        exchange.end_stream()

    stream: Callable[[Exchange], Any] = serve
    connection.protocol._serve = stream
    connection.says(post(b""))
    assert connection.answer == (
        b"HTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n"
        b"14\r\naaaaaaaaaaaaaaaaaaaa\r\n0\r\n\r\n"
    )
    connection.protocol._serve = connection._serve
    connection.says(post(b"next"))
    assert connection.answer.endswith(b"next")


def test_who_does_not_read_is_waited_for(connection: Connection) -> None:
    connection.protocol.pause_writing()
    connection.says(post(b"patience"))
    assert connection.answer == b""
    connection.protocol.resume_writing()
    connection.passes(0)
    assert connection.answer.endswith(b"patience")
