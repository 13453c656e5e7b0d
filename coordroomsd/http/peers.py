"""Connections: the user at the other end of a Unix socket, and how long one may dawdle."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from typing import Any, NamedTuple

import orjson
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from coordroomsd.domain.errors import invalid
from coordroomsd.http.replies import PROBLEM

PEER = "coordrooms.peer"
# From a request's first byte to the end of its headers; who takes longer holds a connection for
# nothing.
HEADERS_WITHIN_S = 30.0
# The longest that has a use is a path of 120 characters, percent-encoded, and a token: 2 KiB.
MAX_HEADER_BYTES = 64 * 1024
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: struct ucred of unix(7)


class Peer(NamedTuple):
    """The other end of a connection: a user of this host, or an address; `uid` None over TCP."""

    uid: int | None
    address: str | None


def peer_uid(connection: socket.socket) -> int:
    """The uid of whoever connected, as the kernel saw it then. The pid is not to be trusted."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)


class Flow(FlowControl):
    """uvicorn's, which has an event for each connection: 0.8 KiB that is hardly ever used."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.read_paused = False
        self.write_paused = False
        self._writable: asyncio.Event | None = None

    async def drain(self) -> None:
        if self.write_paused:
            self._writable = self._writable or asyncio.Event()
            await self._writable.wait()

    def pause_writing(self) -> None:
        self.write_paused = True

    def resume_writing(self) -> None:
        self.write_paused = False
        if self._writable:
            self._writable.set()
            self._writable = None


# Of all connections: there is never a second request behind one that is not answered.
_NO_PIPELINE: deque[Any] = deque()


class PeerProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which here tells the application who the peer of a Unix socket is.

    `scope["extensions"]` has it under PEER. A connection that says nothing is closed after
    uvicorn's `timeout_keep_alive`, from its beginning on, and one whose request has no end of
    headers after HEADERS_WITHIN_S.

    What is sent behind a request that is not answered yet is not looked at, and the connection ends
    with that answer (RFC 9112, 9.3.2): uvicorn would stop reading, and not notice a caller that
    goes away.
    """

    peer: Peer
    _headers_deadline: asyncio.TimerHandle | None = None
    # Of a request whose headers have not ended.
    _header_bytes = 0
    _is_in_headers = False
    _reads_no_more = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = Flow(transport)
        self.pipeline = _NO_PIPELINE
        connection = transport.get_extra_info("socket")
        is_local = connection is not None and connection.family == socket.AF_UNIX
        self.peer = Peer(
            peer_uid(connection) if is_local else None, self.client[0] if self.client else None
        )
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_have_ended()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self._reads_no_more:
            return
        began_in_headers = self._is_in_headers
        super().data_received(data)
        if not self._holds_for_nothing() or self.transport.is_closing():
            return
        if began_in_headers:
            self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.send_400_response(f"The headers are longer than {MAX_HEADER_BYTES} bytes.")
        elif self._headers_deadline is None:
            self._headers_deadline = self.loop.call_later(
                HEADERS_WITHIN_S, self.timeout_keep_alive_handler
            )

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request of HTTP, and close: where the next one begins is unknown."""
        body = orjson.dumps(invalid("", msg).problem())
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: %b\r\ncontent-length: %d\r\n"
            b"connection: close\r\n\r\n%b" % (PROBLEM, len(body), body)
        )
        self.transport.close()

    def on_message_begin(self) -> None:
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._is_in_headers = not self._reads_no_more

    def on_headers_complete(self) -> None:
        self._headers_have_ended()
        if self.cycle is None or self.cycle.response_complete:
            self.begin_answering()
        else:
            self.cycle.keep_alive = False
            self._reads_no_more = True

    def begin_answering(self) -> None:
        """A request's headers are there; its body may still be on its way."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.headers, self.expect_100_continue = url, headers, expects
        self.scope["headers"] = headers
        self.scope["extensions"] = {PEER: self.peer}  # type: ignore[dict-item]
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._reads_no_more:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._reads_no_more:
            super().on_message_complete()

    def _holds_for_nothing(self) -> bool:
        """Whether what came last is of no request that is under way; one answered early is over."""
        return self._is_in_headers or self.cycle is None or self.cycle.response_complete

    def _headers_have_ended(self) -> None:
        self._is_in_headers = False
        self._header_bytes = 0
        if self._headers_deadline is not None:
            self._headers_deadline.cancel()
            self._headers_deadline = None
