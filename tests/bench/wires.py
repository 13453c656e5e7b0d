"""HTTP/1.1 over a Unix socket, as little of it as the daemon's answers need."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

_CHUNK = 262_144
BASE = "/api/v1"


class UnexpectedError(Exception):
    """The daemon answered with another status than the load counts on."""


class Reply(NamedTuple):
    status: int
    body: bytes

    def expect(self, status: int) -> Any:
        """The body as a value. Raises UnexpectedError."""
        self.check(status)
        return json.loads(self.body)

    def check(self, status: int) -> None:
        if self.status != status:
            raise UnexpectedError(f"{self.status} and not {status}: {self.body[:500]!r}")


def request(
    method: str,
    path: str,
    conversation: str | None = None,
    body: Any = None,
    key: str | None = None,
) -> bytes:
    """`path` is what follows /api/v1."""
    content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    lines = [f"{method} {BASE}{path} HTTP/1.1", "Host: localhost"]
    if conversation is not None:
        lines.append(f"Coordrooms-Conversation: {conversation}")
    if key is not None:
        lines.append(f"Idempotency-Key: {key}")
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


def post(room: str, conversation: str, body: str, count: int = 1) -> bytes:
    message = {"kind": "status", "body": body}
    return request("POST", f"/rooms/{room}/messages", conversation, {"messages": [message] * count})


def wait(room: str, conversation: str, after_seq: int, timeout_s: float = 300) -> bytes:
    path = f"/rooms/{room}/wait?after_seq={after_seq}&timeout_s={timeout_s}"
    return request("GET", path, conversation)


class Replies:
    """Cuts a connection's bytes into replies."""

    __slots__ = ("_received",)

    def __init__(self) -> None:
        self._received = b""

    def add(self, chunk: bytes) -> Reply | None:
        """The reply, once it is whole. There is one at a time: nobody here pipelines."""
        received = self._received = self._received + chunk if self._received else chunk
        head, end, body = received.partition(b"\r\n\r\n")
        if not end:
            return None
        _, _, rest = head.partition(b"content-length: ")
        length = int(rest.split(b"\r\n", 1)[0])
        if len(body) < length:
            return None
        self._received = b""
        return Reply(int(head[9:12]), body)


def connect(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    return connection


class Caller:
    """One connection whose calls block."""

    def __init__(self, path: str) -> None:
        self._socket = connect(path)
        self._replies = Replies()

    def send(self, sent: bytes) -> None:
        self._socket.sendall(sent)

    def receive(self) -> Reply:
        while True:
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise ConnectionError("the daemon closed the connection")
            if reply := self._replies.add(chunk):
                return reply

    def call(self, sent: bytes) -> Reply:
        self.send(sent)
        return self.receive()


_METRICS = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def until_parked(caller: Caller, number: int) -> None:
    """Return when so many calls are parked in the daemon."""
    while b"coordrooms_waiters %d.0\n" % number not in caller.call(_METRICS).body:
        pass


class Crowd:
    """Many connections, in one thread."""

    def __init__(self, path: str, number: int) -> None:
        self._sockets = [connect(path) for _ in range(number)]
        self._replies = [Replies() for _ in range(number)]
        self._poll = select.epoll()
        self._of_descriptor: dict[int, int] = {}
        for index, connection in enumerate(self._sockets):
            self._of_descriptor[connection.fileno()] = index
            self._poll.register(connection.fileno(), select.EPOLLIN)

    def send(self, index: int, sent: bytes) -> None:
        self._sockets[index].sendall(sent)

    def replies(self, timeout_s: float = 60) -> Iterator[tuple[int, Reply]]:
        """Those that are there; waits for the first. Raises TimeoutError."""
        ready = self._poll.poll(timeout_s)
        if not ready:
            raise TimeoutError(f"no reply within {timeout_s} s")
        yield from self._received(ready)

    def replies_within(self, timeout_s: float) -> Iterator[tuple[int, Reply]]:
        """Those that are there, or come first within that time."""
        yield from self._received(self._poll.poll(timeout_s))

    def _received(self, ready: list[tuple[int, int]]) -> Iterator[tuple[int, Reply]]:
        for descriptor, _ in ready:
            index = self._of_descriptor[descriptor]
            chunk = self._sockets[index].recv(_CHUNK)
            if not chunk:
                raise ConnectionError("the daemon closed a connection")
            if reply := self._replies[index].add(chunk):
                yield index, reply
