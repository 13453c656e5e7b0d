"""An address for the page where no TCP listener serves it: on loopback, opened when asked for.

Nothing is served there but the page and, to its sessions, the calls: no tokens, no codes, no
metrics.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable

from coordroomsd.addresses import Listen
from coordroomsd.page.keeping import Keeper
from coordroomsd.sockets import SocketError, tcp_listener

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
_ANY_PORT = 0


class PageListener:
    """`serve` takes a listening socket and its port; `undo` closes it at the end."""

    def __init__(
        self,
        keeper: Keeper,
        serve: Callable[[socket.socket, int], Awaitable[None]],
        backlog: int,
        undo: contextlib.ExitStack,
    ) -> None:
        self._keeper = keeper
        self._serve = serve
        self._backlog = backlog
        self._undo = undo
        self._port: int | None = None
        self._opening = asyncio.Lock()

    async def resume(self) -> None:
        """After a restart: be where open pages look for us."""
        if self._keeper.port is not None and self._keeper.sessions:
            try:
                await self.origin()
            except SocketError as error:
                logger.warning("the page is not served: %s", error)

    async def origin(self) -> str:
        """Where a browser of this host finds the page. Raises SocketError."""
        async with self._opening:
            if self._port is None:
                listener, self._port = self._listen()
                await self._serve(listener, self._port)
        return f"http://{HOST}:{self._port}"

    def _listen(self) -> tuple[socket.socket, int]:
        """At the port of last time, so that bookmarks and signed-in pages stay good."""
        if self._keeper.port is not None:
            try:
                return self._listen_at(self._keeper.port), self._keeper.port
            except SocketError as error:
                # Whoever is there now may pass for us: what browsers keep for it is void.
                logger.warning("the page moves to another port, and signs out: %s", error)
        listener = self._listen_at(_ANY_PORT)
        port: int = listener.getsockname()[1]
        self._keeper.move(port)
        return listener, port

    def _listen_at(self, port: int) -> socket.socket:
        return self._undo.enter_context(tcp_listener(Listen(HOST, port), self._backlog))
