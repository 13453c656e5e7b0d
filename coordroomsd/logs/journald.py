"""systemd's journal, in its native protocol: a datagram of fields for each line.

https://systemd.io/JOURNAL_NATIVE_PROTOCOL/ and systemd.exec(5) on $JOURNAL_STREAM.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
from collections.abc import Mapping
from typing import Final

from coordroomsd.logs.lines import Line, line_of

JOURNAL: Final = "/run/systemd/journal/socket"
# A datagram may have as much as the socket's send buffer, 208 KiB unless told otherwise.
_MAX_BYTES: Final = 48 * 1024
_PRIORITIES: Final = ((50, 2), (40, 3), (30, 4), (20, 6), (0, 7))


def is_journal(descriptor: int, environment: Mapping[str, str]) -> bool:
    """Whether what is written to this descriptor goes to the journal anyway."""
    device, _, inode = environment.get("JOURNAL_STREAM", "").partition(":")
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    return (device, inode) == (str(status.st_dev), str(status.st_ino))


class JournalHandler(logging.Handler):
    """Never waits: while the journal takes no line, lines go to `otherwise`."""

    def __init__(self, path: str, otherwise: logging.Handler) -> None:
        super().__init__()
        self._path = path
        self._otherwise = otherwise
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._socket.sendto(datagram(record, line_of(record)), self._path)
        except OSError:
            self._otherwise.handle(record)

    def close(self) -> None:
        self._socket.close()
        super().close()


def datagram(record: logging.LogRecord, line: Line) -> bytes:
    fields = {
        "MESSAGE": "\n".join([line.message, *line.traceback]),
        "PRIORITY": str(next(to for level, to in _PRIORITIES if record.levelno >= level)),
        "SYSLOG_IDENTIFIER": "coordroomsd",
        "LOGGER": record.name,
        "CODE_FILE": record.pathname,
        "CODE_LINE": str(record.lineno),
        "CODE_FUNC": record.funcName or "",
    }
    fields |= {f"COORDROOMS_{name.upper()}": str(value) for name, value in line.fields.items()}
    return b"".join(_field(name, value) for name, value in fields.items())


def _field(name: str, value: str) -> bytes:
    data = value.encode(errors="backslashreplace")[:_MAX_BYTES]
    if b"\n" in data:
        return name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"
    return name.encode() + b"=" + data + b"\n"
