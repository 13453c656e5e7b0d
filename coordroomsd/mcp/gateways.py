"""The way in for MCP: what `app.py` starts, asks and stops.

The SDK takes more than a second to import, which must not keep the daemon from being ready. So the
socket listens at once, `load` imports it in a thread, and who connects before that waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from errno import EMFILE, ENFILE
from types import ModuleType
from typing import TYPE_CHECKING, Any

from coordroomsd.api.callers import Caller, identify_peer
from coordroomsd.domain.errors import Refusal
from coordroomsd.live.connections import Connections
from coordroomsd.live.refusals import Refusals
from coordroomsd.live.tracing import Tracing
from coordroomsd.mcp.agents import Agent, Api
from coordroomsd.mcp.transports import CALLER, MESSAGE_MAX_BYTES, SERVER_ERROR
from coordroomsd.peers import peer_uid

if TYPE_CHECKING:
    from coordroomsd.mcp.servers import Servers

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

logger = logging.getLogger(__name__)

RETRY_IMPORT_AFTER_S = 0.5


class Gateway:
    """Serves the tools from `start` to `stop`; `run` is a task in between. For one event loop."""

    def __init__(
        self,
        api: Api,
        connections: Connections | None = None,
        refusals: Refusals | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._api = api
        self._connections = Connections() if connections is None else connections
        self._refusals = refusals
        self._tracing = tracing or Tracing()
        # How long a peer may take no byte of an answer; may change.
        self.answer_within_s = 30.0
        self._servers: asyncio.Future[Servers] = asyncio.get_running_loop().create_future()
        self._listeners: list[asyncio.Server] = []
        self._sessions: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    @property
    def sessions(self) -> int:
        """Open connections to the socket."""
        return len(self._sessions)

    async def start(self, listening: socket.socket) -> None:
        """Accept sessions on a Unix socket that is bound and listens."""
        self._listeners.append(
            await asyncio.start_unix_server(
                self._session, sock=listening, limit=MESSAGE_MAX_BYTES, start_serving=True
            )
        )

    async def run(self) -> None:
        """Import the SDK, serve those who wait for it, and return after `stop`."""
        stopping = asyncio.create_task(self._stopping.wait())
        imported = _imported(f"{__package__}.servers")
        first: list[asyncio.Future[Any]] = [stopping, imported]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if self._stopping.is_set():
            return
        servers: Servers = imported.result().Servers(self._api, self._tracing)
        async with servers.running():
            if not self._servers.done():  # `stop` may have turned everybody away meanwhile
                self._servers.set_result(servers)
            await stopping

    async def http(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """One request to `/mcp`. Raises Refusal while the daemon stops."""
        servers = await asyncio.shield(self._servers)
        if self._stopping.is_set():
            raise _stopping()
        await servers.http({**scope, CALLER: caller}, receive, send)

    async def stop(self, within_s: float = 1.0) -> None:
        """Let calls end that are about to, then every session: parked waits were woken before."""
        if self._stopping.is_set():
            return
        for listener in self._listeners:
            listener.close()
        if self._servers.done():
            servers = self._servers.result()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(servers.quiet(), within_s)
            servers.mute()
        else:
            self._servers.set_exception(_stopping())
            self._servers.exception()  # nobody may be waiting for it
        for session in self._sessions:
            session.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions)
        self._stopping.set()

    async def _session(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.current_task()
        if session is None:
            raise RuntimeError("a session is a task")
        uid = peer_uid(writer.get_extra_info("socket"))
        try:
            self._connections.enter(uid)
        except Refusal as refusal:
            self._turn_away(writer, uid, refusal)
            return
        self._sessions.add(session)
        try:
            agent = Agent(self._api, identify_peer(uid))
            servers = await asyncio.shield(self._servers)
            is_slow = await servers.session(reader, writer, agent, self.answer_within_s)
            if is_slow and self._refusals:
                self._refusals.dropped("slow_reader", f"uid {uid}")
        except asyncio.CancelledError:
            return  # by `stop`; asyncio's streams would report it
        except Refusal:
            return
        except Exception:
            logger.exception("a session of the MCP socket has failed")
        finally:
            self._connections.leave(uid)
            self._sessions.discard(session)
            writer.close()

    def _turn_away(self, writer: asyncio.StreamWriter, uid: int, refusal: Refusal) -> None:
        if self._refusals:
            self._refusals.turned_away(refusal, f"uid {uid}")
        error = {"code": SERVER_ERROR, "message": refusal.detail, "data": refusal.problem()}
        answer = {"jsonrpc": "2.0", "id": None, "error": error}
        writer.write(json.dumps(answer).encode() + b"\n")
        writer.close()


def _imported(module: str) -> asyncio.Future[ModuleType]:
    """Its import, in a thread that nobody has to wait for: it cannot be broken off."""
    loop = asyncio.get_running_loop()
    imported: asyncio.Future[ModuleType] = loop.create_future()

    def settle(found: ModuleType | None, error: BaseException | None) -> None:
        if imported.done():
            return
        if error is not None:
            imported.set_exception(error)
        elif found is not None:
            imported.set_result(found)

    def run() -> None:
        found, error = None, None
        try:
            found = _import_patiently(module)
        except BaseException as fault:
            error = fault
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(settle, found, error)

    threading.Thread(target=run, name=f"imports {module}", daemon=True).start()
    return imported


def _import_patiently(module: str) -> ModuleType:
    """Right after a start callers that come back may hold every descriptor: it begins anew then."""
    told = False
    while True:
        try:
            return importlib.import_module(module)
        except (OSError, ImportError) as error:
            # A library that cannot be opened is an ImportError, which has only a text.
            if not any(os.strerror(number) in str(error) for number in (EMFILE, ENFILE)):
                raise
            if not told:
                logger.warning("no file is left to be opened for the tools; they wait: %s", error)
            told = True
        time.sleep(RETRY_IMPORT_AFTER_S)


def _stopping() -> Refusal:
    return Refusal("store_unavailable", "The daemon is stopping.")
