"""The SDK's two transports around the one server: sessions of the MCP socket, and `/mcp`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from coordroomsd.api.callers import CONVERSATION_HEADER, conversation_id
from coordroomsd.live.tracing import Tracing
from coordroomsd.mcp.agents import Agent, Api
from coordroomsd.mcp.connections import Outgoing, serve
from coordroomsd.mcp.tool_servers import tool_server
from coordroomsd.mcp.transports import CALLER, MESSAGE_MAX_BYTES

# At INFO it names every session over HTTP by the id that is the key to it.
logging.getLogger("mcp").setLevel(logging.WARNING)


class Servers:
    """`http` answers requests while `running` is entered, which must be once."""

    def __init__(self, api: Api, tracing: Tracing) -> None:
        self._api = api
        self._sessions: set[Outgoing] = set()
        self._calls = 0
        self._none = asyncio.Event()
        self._none.set()
        self._server = tool_server(self._agent, self._in_flight, tracing)
        self._http = StreamableHTTPSessionManager(
            self._server,
            max_request_body_size=MESSAGE_MAX_BYTES,
            # The daemon's own guard has looked at Host and Origin before.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._http.run()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request to `/mcp`, whose scope has the caller under CALLER."""
        # Its answer is still to be written when the tool is done. A GET is a stream without an end.
        with self._in_flight() if scope["method"] == "POST" else contextlib.nullcontext():
            await self._http.handle_request(scope, receive, send)

    async def session(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        agent: Agent,
        answer_within_s: float,
    ) -> bool:
        """One connection of the MCP socket, until its peer closes it.

        Whether it was ended here, because the peer took no byte for so long.
        """
        outgoing = Outgoing(writer, answer_within_s)
        self._sessions.add(outgoing)
        try:
            await serve(self._server, reader, outgoing, agent)
        finally:
            self._sessions.discard(outgoing)
        return outgoing.is_dropped

    def mute(self) -> None:
        """Answer nothing more on the socket: the relay repeats elsewhere what has no answer."""
        for outgoing in self._sessions:
            outgoing.mute()

    async def quiet(self) -> None:
        """Return when no call is in flight."""
        await self._none.wait()

    @contextlib.contextmanager
    def _in_flight(self) -> Iterator[None]:
        self._calls += 1
        self._none.clear()
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._none.set()

    def _agent(self, request: Any) -> Agent:
        """Whose call it is: the socket's connections attach the agent, `/mcp` its HTTP request."""
        match request:
            case Agent():
                return request
            case Request(headers=headers, scope=scope):
                named = headers.get(CONVERSATION_HEADER)
                conversation = None if named is None else conversation_id(named)
                return Agent(self._api, scope[CALLER], conversation)
        raise TypeError(f"no transport of ours attaches a {type(request).__name__}")
