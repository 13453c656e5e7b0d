"""A daemon on a real socket that answers what it was told to, byte by byte if need be."""

from __future__ import annotations

import contextlib
import queue
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tests.unit.client.scripted import Request, parsed_request, reply_bytes

# Only how long a broken program holds up the suite.
GIVE_UP_AFTER_S = 60.0


class Answer(NamedTuple):
    """What is sent for a request, and what becomes of the connection.

    `park` sends nothing and waits for the other side to close.
    """

    pieces: tuple[bytes, ...]
    then: Literal["keep", "close", "reset", "park"] = "keep"


PARK = Answer((), "park")


def whole(document: object, status: int = 200) -> Answer:
    return Answer((reply_bytes(document, status),))


class FakeDaemon:
    """Listens from `start` to `stop`, which may be called again and again."""

    def __init__(self, path: Path | None = None) -> None:
        """On a Unix socket, or without a path on a free port of the loopback address."""
        self.path = path
        self.port = 0
        self.answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        # What came, to be taken by the test; a parked request that was given up comes as None.
        self.requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self.accepted = 0
        self._listener: socket.socket | None = None
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        return f"unix:{self.path}" if self.path else f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        if self.path is not None:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self.path))
        else:
            listener = socket.create_server(("127.0.0.1", self.port))
            self.port = listener.getsockname()[1]
        listener.listen()
        self._listener = listener
        self._run(self._accept, listener)

    def stop(self) -> None:
        """Close everything, as a process that ends does."""
        if self._listener is None:
            return
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._listener = None
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(GIVE_UP_AFTER_S)
        self._connections.clear()
        self._threads.clear()
        if self.path is not None:
            self.path.unlink()

    def request(self) -> Request | None:
        """The next request that came."""
        return self.requests.get(timeout=GIVE_UP_AFTER_S)

    def answer(self, *answers: Answer) -> None:
        for answer in answers:
            self.answers.put(answer)

    def _run(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._connections.append(connection)
            self._run(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            for data in self._read(connection):
                answer = self.answers.get(timeout=GIVE_UP_AFTER_S)
                self.requests.put(parsed_request(data))
                for piece in answer.pieces:
                    connection.sendall(piece)
                match answer.then:
                    case "park":
                        assert connection.recv(1) == b""
                        self.requests.put(None)
                        return
                    case "reset":
                        # A socket that lingers for no time is reset instead of closed.
                        linger = struct.pack("ii", 1, 0)
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                        return
                    case "close":
                        return

    def _read(self, connection: socket.socket) -> Iterator[bytes]:
        """The requests of a connection, each one whole."""
        data = b""
        while received := connection.recv(65_536):
            data += received
            head, end, body = data.partition(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            if end and len(body) >= int(length or b"0"):
                yield data
                data = b""
