"""A socket in front of the daemon's on which one call hangs, so that its caller can be killed."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tests.polling import GIVE_UP_AFTER_S


class Hold(NamedTuple):
    """The n-th call hangs: `before` the daemon has it, or `after` it did what was asked."""

    call: int
    when: Literal["before", "after"]


class HeldCalls:
    """Relays calls from `path` to the daemon's socket, one on each connection.

    `calls` has the method and path of each that came.
    """

    def __init__(self, path: Path, daemon: Path) -> None:
        self.url = f"unix:{path}"
        self.hold: Hold | None = None
        self.calls: list[str] = []
        self._held = threading.Event()
        self._daemon = daemon
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def wait_until_held(self) -> None:
        assert self._held.wait(GIVE_UP_AFTER_S), f"only {self.calls}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(GIVE_UP_AFTER_S)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # Who is killed leaves its connections to be reset.
        with connection, contextlib.suppress(OSError):
            request = b"".join(_request(connection))
            if not request:
                return
            first, rest = request.split(b"\r\n", 1)
            self.calls.append(first.decode().rpartition(" ")[0].partition("?")[0])
            number = len(self.calls)
            if self.hold == (number, "before"):
                self._hang(connection)
                return
            answer = self._forward(first + b"\r\nConnection: close\r\n" + rest)
            if self.hold == (number, "after"):
                self._hang(connection)
                return
            connection.sendall(answer)

    def _forward(self, request: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.connect(str(self._daemon))
            daemon.sendall(request)
            return b"".join(iter(lambda: daemon.recv(65_536), b""))

    def _hang(self, connection: socket.socket) -> None:
        self._held.set()
        while connection.recv(1):
            pass


def _request(connection: socket.socket) -> Iterator[bytes]:
    """The pieces of one whole request; none when the other side says nothing."""
    data = b""
    while received := connection.recv(65_536):
        yield received
        data += received
        head, end, body = data.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if end and len(body) >= int(length or b"0"):
            return
