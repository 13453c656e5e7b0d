"""Lines in and bytes out, without blocking: what the relay's loop moves between its two sides."""

from __future__ import annotations

import os
import select
import socket
from typing import Protocol

READ_SIZE = 65536
# POSIX promises that a pipe which polls as writable takes this many bytes without blocking.
# The standard streams stay in blocking mode, because that mode belongs to everyone who shares them.
PIPE_BUF = 4096
# A side that does not read makes the other one wait, lest a session's memory grow without bound.
BACKLOG = 1 << 20
FAREWELL_MS = 500


class Lines:
    """Bytes as they come, handed on as whole lines without their line ends."""

    def __init__(self) -> None:
        self._partial = bytearray()

    def fed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes."""
        if b"\n" not in data:
            self._partial += data
            return []
        first, *others = data.split(b"\n")
        lines = [bytes(self._partial) + first, *others]
        self._partial = bytearray(lines.pop())
        return lines


class Host:
    """The standard streams: the host that started this process."""

    def __init__(self, stdin: int = 0, stdout: int = 1) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.unsent = bytearray()
        self._lines = Lines()

    def read(self) -> list[bytes] | None:
        """The lines that have come; None at the end of the stream."""
        data = os.read(self.stdin, READ_SIZE)
        return self._lines.fed(data) if data else None

    def flush(self) -> None:
        """Write as much as cannot block. Raises BrokenPipeError when the host has gone."""
        del self.unsent[: os.write(self.stdout, self.unsent[:PIPE_BUF])]

    def finish(self) -> None:
        """Write what is left, to a host that still reads."""
        poller = select.poll()
        poller.register(self.stdout, select.POLLOUT)
        while self.unsent and poller.poll(FAREWELL_MS):
            self.flush()


class Connection(Protocol):
    """A connection to a daemon. Every method raises OSError when it is lost."""

    unsent: bytearray

    def fileno(self) -> int: ...

    def read(self) -> list[bytes]:
        """The lines that have come."""

    def flush(self) -> None:
        """Send as much of `unsent` as cannot block."""

    def close(self) -> None: ...


class Daemon:
    """A connection to the daemon's MCP socket."""

    def __init__(self, path: str) -> None:
        self.unsent = bytearray()
        self._lines = Lines()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Without blocking: with a full backlog, connecting would wait and stop the loop.
            self._socket.setblocking(False)
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    def read(self) -> list[bytes]:
        """The lines that have come. Raises ConnectionResetError at the end of the stream."""
        try:
            data = self._socket.recv(READ_SIZE)
        except BlockingIOError:
            return []
        if not data:
            raise ConnectionResetError("the daemon closed the connection")
        return self._lines.fed(data)

    def flush(self) -> None:
        try:
            del self.unsent[: self._socket.send(self.unsent)]
        except BlockingIOError:
            return

    def close(self) -> None:
        self._socket.close()
