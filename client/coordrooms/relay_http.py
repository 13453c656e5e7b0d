"""The relay's other way to a daemon: each call a request to `/mcp`, for a daemon behind a URL.

It stands in for a connection of `relay_streams.py`. Whatever era the host speaks, requests go out
in the modern one, which needs no handshake and so no session that a restart could end. Only this
way has threads: one for each call, blocked in its own request.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from binascii import b2a_base64
from collections.abc import Callable
from typing import Any

from .addresses import TcpAddress
from .event_streams import FrameReader
from .relay_answers import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    MODERN_VERSIONS,
    VERSION_KEY,
    Message,
    encoded,
    failure,
    is_modern,
    parsed,
)
from .relay_calls import MAX_WAIT_KEY
from .relay_streams import READ_SIZE, Lines
from .wire import ResponseReader, WireError, request_bytes

# A daemon that is there takes a connection at once; the host waits meanwhile.
CONNECT_WITHIN_S = 2.0
UNAVAILABLE = 503
EVENT_STREAM = "text/event-stream"
Headers = list[tuple[str, str]]


class HttpDaemon:
    """`headers` say who is calling. Every method raises OSError when the daemon is lost."""

    def __init__(self, address: TcpAddress, headers: Headers) -> None:
        _connected(address).close()  # a daemon that is not there is found out now
        self.unsent = bytearray()
        self._address = address
        self._headers = headers
        self._client_info: Any = None
        self._max_wait: Message = {}
        self._outgoing = Lines()
        self._incoming = Lines()
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._answering = threading.Lock()
        self._posts: dict[object, _Post] = {}

    def fileno(self) -> int:
        return self._ours.fileno()

    def read(self) -> list[bytes]:
        """The lines that have come. Raises ConnectionResetError when a request failed."""
        try:
            data = self._ours.recv(READ_SIZE)
        except BlockingIOError:
            return []
        if not data:
            raise ConnectionResetError("a request to the daemon failed")
        return self._incoming.fed(data)

    def flush(self) -> None:
        lines = self._outgoing.fed(bytes(self.unsent))
        self.unsent.clear()
        for line in lines:
            self._send(parsed(line))

    def close(self) -> None:
        for post in list(self._posts.values()):
            post.cancel()
        self._ours.close()
        self._theirs.close()

    def _send(self, message: Message) -> None:
        match message:
            case {"coordrooms": _, "max_wait_s": max_wait_s}:
                self._max_wait = {MAX_WAIT_KEY: max_wait_s}
            case {"method": "initialize", "params": {"clientInfo": info}}:
                self._client_info = info
            case {"method": "notifications/cancelled", "params": {"requestId": request_id}}:
                if post := self._posts.get(request_id):
                    post.cancel()
            case {"method": str(), "id": request_id}:
                post = _Post(self._address, self._request(message), message, self._answer)
                self._posts[request_id] = post
                post.start()
            case _:
                pass  # other notifications: this daemon holds no session

    def _request(self, message: Message) -> bytes:
        """A request of the modern era, which carries what a handshake would have settled."""
        params = message.get("params") or {}
        envelope = {
            VERSION_KEY: MODERN_VERSIONS[-1],
            CLIENT_INFO_KEY: self._client_info,
            CLIENT_CAPABILITIES_KEY: {},
            **self._max_wait,
        }
        meta = {**envelope, **(params.get("_meta") or {})}
        body = {**message, "params": {**params, "_meta": meta}}
        headers = [
            ("Host", self._address.host_header),
            ("Content-Type", "application/json"),
            ("Accept", f"application/json, {EVENT_STREAM}"),
            ("Connection", "close"),
            ("MCP-Protocol-Version", _header_value(meta[VERSION_KEY])),
            ("Mcp-Method", _header_value(message["method"])),
            *self._headers,
        ]
        if message["method"] == "tools/call":
            headers.append(("Mcp-Name", _header_value(params.get("name"))))
        return request_bytes("POST", "/mcp", headers, encoded(body))

    def _answer(self, request: Message, answer: Message | None) -> None:
        """Hand on an answer from the thread that got it; None: the daemon is lost."""
        if answer is None or answer.get("id") == request["id"]:
            self._posts.pop(request["id"], None)
        try:
            with self._answering:
                if answer is None:
                    self._theirs.shutdown(socket.SHUT_WR)
                else:
                    self._theirs.sendall(encoded(_of_the_same_era(request, answer)))
        except OSError:
            return  # this connection is closed already


class _Post(threading.Thread):
    """One request on a connection of its own, which closing cancels (as the modern era has it)."""

    def __init__(
        self,
        address: TcpAddress,
        request: bytes,
        message: Message,
        answer: Callable[[Message, Message | None], None],
    ) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._request = request
        self._message = message
        self._answer = answer
        self._socket: socket.socket | None = None
        self._cancelled = False
        self._answered = False

    def cancel(self) -> None:
        # The flag first: `run` looks at it once its connection is there.
        self._cancelled = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        with (
            contextlib.suppress(OSError, WireError),
            _connected(self._address) as self._socket,
        ):
            if not self._cancelled:
                self._exchange(self._socket)
        if not self._answered and not self._cancelled:
            self._answer(self._message, None)

    def _exchange(self, connection: socket.socket) -> None:
        connection.settimeout(None)
        connection.sendall(self._request)
        reader, frames = ResponseReader(), FrameReader()
        body = b""
        while not reader.done:
            reader.feed(connection.recv(READ_SIZE))
            if EVENT_STREAM in reader.headers.get("content-type", ""):
                for frame in frames.feed(reader.take()):
                    self._hand_on(json.loads(frame.data))
            else:
                body += reader.take()
        if not self._answered and reader.status != UNAVAILABLE:
            self._hand_on(self._single(reader.status, body))

    def _hand_on(self, message: Message) -> None:
        self._answered = message.get("id") == self._message["id"]
        self._answer(self._message, message)

    def _single(self, status: int, body: bytes) -> Message:
        """The answer in a body that was no stream: JSON-RPC, or a refusal by somebody before it."""
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        match answer:
            case {"jsonrpc": "2.0"}:
                return {**answer, "id": self._message["id"]}
            case {"code": str(code), "detail": str(detail), "recovery": str(recovery)}:
                return failure(self._message, code, detail, recovery)
        return failure(
            self._message,
            "daemon_unreachable",
            f"{self._address}/mcp answered with status {status} and no message of MCP.",
            "Check that COORDROOMS_URL names the daemon, then repeat the call.",
        )


def _connected(address: TcpAddress) -> socket.socket:
    connection = socket.create_connection((address.host, address.port), CONNECT_WITHIN_S)
    if not address.tls:
        return connection
    import ssl

    try:
        return ssl.create_default_context().wrap_socket(connection, server_hostname=address.host)
    except BaseException:
        connection.close()
        raise


def _header_value(value: object) -> str:
    """A value that the modern era repeats in a header, encoded where a header cannot carry it."""
    text = str(value)
    if text.isascii() and text.isprintable() and text == text.strip():
        return text
    encoded_text = b2a_base64(text.encode("utf-8", "replace"), newline=False).decode()
    return f"=?base64?{encoded_text}?="


def _of_the_same_era(request: Message, answer: Message) -> Message:
    """The answer without what a host that shakes hands does not know."""
    result = answer.get("result")
    if is_modern(request) or not isinstance(result, dict):
        return answer
    plain = {name: part for name, part in result.items() if name not in ("resultType", "_meta")}
    return {**answer, "result": plain}
