"""uvicorn as this daemon has it: listeners, connections, and their end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from coordroomsd.http.calls import Calls
from coordroomsd.http.protocols import CallProtocol
from coordroomsd.listeners import BACKLOG
from coordroomsd.live.waiters import Hub
from coordroomsd.mcp.gateways import Gateway

KEEP_IDLE_CONNECTIONS_S = 75
# Parked calls answer at once when the daemon stops; this bounds readers that do not read.
ANSWER_WITHIN_S = 1


class Server(uvicorn.Server):
    """uvicorn, told to end by `has_to_end`, that wakes parked calls before it waits for them.

    uvicorn waits for open requests first: parked calls would hold it up for their whole time, and
    be cut off then.
    """

    def __init__(
        self, calls: Calls, site: ASGIApp, hub: Hub, gateway: Gateway, has_to_end: asyncio.Event
    ) -> None:
        super().__init__(_configured(calls, site))
        self._hub = hub
        self._gateway = gateway
        self._has_to_end = has_to_end
        self._begin: list[Callable[[], Awaitable[None]]] = []

    def when_serving(self, begin: Callable[[], Awaitable[None]]) -> None:
        """Have `begin` awaited once the listeners are served."""
        self._begin.append(begin)

    async def serve_also(self, listener: socket.socket, calls: Calls, site: ASGIApp) -> None:
        """Another listener, with what is served there, until the shutdown of all."""
        config = _configured(calls, site)
        config.load()
        protocol: Any = config.http_protocol_class
        state = self.server_state
        self.servers.append(
            await asyncio.get_running_loop().create_server(
                lambda: protocol(config=config, server_state=state, app_state={}),
                sock=listener,
                backlog=BACKLOG,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the process's (server.py)."""
        yield

    async def main_loop(self) -> None:
        """uvicorn looks ten times a second; here nothing stirs until there is a reason."""
        await self.on_tick(0)
        for begin in self._begin:
            await begin()
        await self._has_to_end.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.close()
        async with asyncio.TaskGroup() as ends:
            ends.create_task(self._gateway.stop(ANSWER_WITHIN_S))
            ends.create_task(super().shutdown(sockets))


def _configured(calls: Calls, site: ASGIApp) -> uvicorn.Config:
    # A factory does as well as a class: uvicorn does nothing but call it.
    protocol: Any = functools.partial(CallProtocol, calls.answer, calls.bounds)
    return uvicorn.Config(
        site,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_IDLE_CONNECTIONS_S,
        timeout_graceful_shutdown=ANSWER_WITHIN_S,
    )
