"""The sockets that the daemon serves: handed over by the service manager, or its own."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import NamedTuple

from coordroomsd import systemd
from coordroomsd.config import Config
from coordroomsd.sockets import SocketError, tcp_listener, unix_listener

BACKLOG = 4096


class Listeners(NamedTuple):
    http: list[socket.socket]
    mcp: socket.socket


def open_listeners(config: Config, undo: contextlib.ExitStack) -> Listeners:
    """Raises SocketError. What is our own is taken away by `undo`; what was handed over stays."""
    given = systemd.handed_over()
    for listener in given:
        listener.setblocking(False)
        undo.callback(listener.close)
    http = [_at(config.server.socket, given, undo)]
    if config.server.listen:
        over_tcp = [listener for listener in given if listener.family != socket.AF_UNIX]
        http += over_tcp or [undo.enter_context(tcp_listener(config.server.listen, BACKLOG))]
    listeners = Listeners(http, _at(config.server.mcp_socket, given, undo))
    for listener in given:
        if listener not in (*listeners.http, listeners.mcp):
            raise SocketError(
                f"the service manager handed over {listener.getsockname()}, which the "
                "configuration does not name under [server]"
            )
    return listeners


def _at(path: Path, given: list[socket.socket], undo: contextlib.ExitStack) -> socket.socket:
    for listener in given:
        if systemd.is_at(listener, path):
            return listener
    return undo.enter_context(unix_listener(path, BACKLOG))
