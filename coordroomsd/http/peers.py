"""uvicorn, told who is at the other end of a Unix socket."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from coordroomsd.peers import peer_uid

PEER_UID = "coordrooms.peer_uid"


class PeerProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which here tells the application who the peer of a Unix socket is.

    `scope["extensions"]` has the uid under PEER_UID; over TCP it has not.
    """

    _extensions: dict[str, Any]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        connection = transport.get_extra_info("socket")
        self._extensions = {}
        if connection is not None and connection.family == socket.AF_UNIX:
            self._extensions[PEER_UID] = peer_uid(connection)
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = self._extensions
