"""The user at the other end of a Unix socket."""

from __future__ import annotations

import socket
import struct

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: struct ucred of unix(7)


def peer_uid(connection: socket.socket) -> int:
    """The uid of whoever connected, as the kernel saw it then. The pid is not to be trusted."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)
