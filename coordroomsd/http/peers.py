"""Connections: the user at the other end of a Unix socket, and how long one may dawdle."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import orjson
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.http.bounds import LINGER_S, MAX_LINGERING, Bounds
from coordroomsd.http.readers import Readers
from coordroomsd.http.replies import headers_of_refusal
from coordroomsd.http.requests import CrowdedError

PEER = "coordrooms.peer"
# The longest that has a use is a path of 120 characters, percent-encoded, and a token: 2 KiB.
MAX_HEADER_BYTES = 64 * 1024
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: struct ucred of unix(7)


class Peer(NamedTuple):
    """The other end of a connection: a user of this host, or an address; `uid` None over TCP."""

    uid: int | None
    address: str | None


def address_of(peer: Peer) -> Hashable:
    """Where a call comes from: an address, or a user of this host."""
    return peer.uid if peer.address is None else peer.address


def origin_of(peer: Peer) -> str:
    """The same, for people."""
    return f"uid {peer.uid}" if peer.address is None else peer.address


def peer_uid(connection: socket.socket) -> int:
    """The uid of whoever connected, as the kernel saw it then. The pid is not to be trusted."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)


class Flow(FlowControl):
    """uvicorn's, which has an event for each connection: 0.8 KiB that is hardly ever used."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        readers: Readers,
        drop: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._readers = readers
        self._drop = drop
        self.read_paused = False
        self.write_paused = False
        self._writable: asyncio.Event | None = None

    async def drain(self) -> None:
        if self.write_paused:
            self._writable = self._writable or asyncio.Event()
            await self._writable.wait()

    def pause_writing(self) -> None:
        self.write_paused = True
        self._readers.fell_behind(self._transport, self._loop, self._drop)

    def resume_writing(self) -> None:
        if self.write_paused:
            self.write_paused = False
            self._readers.caught_up(self._transport)
        if self._writable:
            self._writable.set()
            self._writable = None


# Of all connections: there is never a second request behind one that is not answered.
_NO_PIPELINE: deque[Any] = deque()


class PeerProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which here tells the application who the peer of a Unix socket is.

    `scope["extensions"]` has it under PEER. A connection that says nothing is closed after
    uvicorn's `timeout_keep_alive`, from its beginning on, and one whose request has no end of
    headers, or no end, after `bounds.request_within_s`: who takes longer holds it for nothing.

    What is sent behind a request that is not answered yet is not looked at, and the connection ends
    with that answer (RFC 9112, 9.3.2): uvicorn would stop reading, and not notice a caller that
    goes away.
    """

    peer: Peer
    bounds: Bounds
    # Too many are open.
    _is_turned_away = False
    _lingers: asyncio.TimerHandle | None = None
    _body_deadline: asyncio.TimerHandle | None = None
    _headers_deadline: asyncio.TimerHandle | None = None
    # Of a request whose headers have not ended.
    _header_bytes = 0
    _is_in_headers = False
    _reads_no_more = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.pipeline = _NO_PIPELINE
        connection = transport.get_extra_info("socket")
        is_local = connection is not None and connection.family == socket.AF_UNIX
        self.peer = Peer(
            peer_uid(connection) if is_local else None, self.client[0] if self.client else None
        )
        self.flow = Flow(transport, self.loop, self.bounds.readers, self._reads_too_slowly)
        try:
            self.bounds.connections.enter(address_of(self.peer))
        except Refusal as refusal:
            self._turn_away(refusal)
            return
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        if self._lingers is not None:
            self.bounds.lingering -= 1
            self._lingers.cancel()
        if not self._is_turned_away:
            self.bounds.connections.leave(address_of(self.peer))
        self._headers_have_ended()
        if self._body_deadline is not None:
            self._body_deadline.cancel()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self._reads_no_more:
            return
        super().data_received(data)
        self.expect_body()
        if not self._holds_for_nothing() or self.transport.is_closing():
            return
        if self._is_in_headers:
            self._header_bytes += len(data)
            self.bounds.senders.has_sent(self, self._header_bytes, self._give_way)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.send_400_response(f"The headers are longer than {MAX_HEADER_BYTES} bytes.")
        elif self._headers_deadline is None:
            self._headers_deadline = self.loop.call_later(
                self.bounds.request_within_s, self._sends_too_slowly
            )

    def expect_body(self) -> None:
        """What has come so far does not end the request: give the rest its time."""
        if self._body_deadline is None and self._is_unfinished(self.cycle):
            self._body_deadline = self.loop.call_later(
                self.bounds.request_within_s, self._end_if_unfinished, self.cycle
            )

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request of HTTP, and close: where the next one begins is unknown."""
        self._answer_at_once(invalid("", msg))
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

    def _turn_away(self, refusal: Refusal) -> None:
        """The answer is there before the request, which is not waited for."""
        self._is_turned_away = self._reads_no_more = True
        self.bounds.turned_away(refusal, origin_of(self.peer))
        self._answer_at_once(refusal)
        if self.bounds.lingering < MAX_LINGERING:
            self.bounds.lingering += 1
            self._lingers = self.loop.call_later(LINGER_S, self.transport.close)
        else:
            self.transport.close()

    def _answer_at_once(self, refusal: Refusal) -> None:
        body = orjson.dumps(refusal.problem())
        headers = [*headers_of_refusal(refusal), (b"content-length", b"%d" % len(body))]
        lines = [b"%b: %b\r\n" % header for header in (*headers, (b"connection", b"close"))]
        self.transport.write(b"".join([STATUS_LINE[refusal.status], *lines, b"\r\n", body]))

    def _give_way(self) -> None:
        if not self.transport.is_closing():
            refusal = CrowdedError()
            self.bounds.turned_away(refusal, origin_of(self.peer))
            self._answer_at_once(refusal)
            self.transport.close()

    def _sends_too_slowly(self) -> None:
        if not self.transport.is_closing():
            self.bounds.dropped("slow_sender", origin_of(self.peer))
            self.transport.close()

    def _reads_too_slowly(self) -> None:
        self.bounds.dropped("slow_reader", origin_of(self.peer))
        # Closing would wait until all was read.
        self.transport.abort()

    def _end_if_unfinished(self, cycle: Any) -> None:
        self._body_deadline = None
        if cycle is self.cycle and self._is_unfinished(cycle):
            self._sends_too_slowly()
        else:
            self.expect_body()

    def _is_unfinished(self, cycle: Any) -> bool:
        return cycle is not None and cycle.more_body and not cycle.response_complete

    def _holds_for_nothing(self) -> bool:
        """Whether what came last is of no request that is under way; one answered early is over."""
        return self._is_in_headers or self.cycle is None or self.cycle.response_complete

    def _headers_have_ended(self) -> None:
        self._is_in_headers = False
        self._header_bytes = 0
        self.bounds.senders.is_done(self)
        if self._headers_deadline is not None:
            self._headers_deadline.cancel()
            self._headers_deadline = None
