"""Connections of the MCP socket: newline-delimited JSON-RPC, and the line that names a session.

The relay's first line says which session of a host it serves. It is optional, so that any client
that speaks MCP over a Unix socket may connect; without it each call names its `conversationId`.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from coordroomsd.mcp.agents import Agent
from coordroomsd.mcp.lines import next_line
from coordroomsd.mcp.transports import SERVER_ERROR

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
CANCELLED: Final = "notifications/cancelled"
# At once, on one connection: a host's agents share one, and each waits and asks.
MAX_CALLS: Final = 100
_Received = SessionMessage | Exception


class Outgoing:
    """Messages to the peer, as the SDK writes them.

    A peer that takes nothing for `within_s` is left. `calls` are those that have no answer yet.
    """

    def __init__(self, writer: asyncio.StreamWriter, within_s: float) -> None:
        self._writer = writer
        self._within_s = within_s
        self._muted = False
        self.is_dropped = False
        self.calls: set[str | int] = set()

    def mute(self) -> None:
        """Send nothing more: what ends with this connection stays without an answer."""
        self._muted = True

    async def send(self, item: SessionMessage, /) -> None:
        if isinstance(item.message, (types.JSONRPCResponse, types.JSONRPCError)):
            self.calls.discard(item.message.id or 0)
        await self.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def write(self, line: bytes) -> None:
        """Raises what the SDK takes for a peer that has gone."""
        if self._muted or self._writer.is_closing():
            raise anyio.ClosedResourceError
        self._writer.write(line + b"\n")
        await self.drained()

    async def drained(self) -> None:
        """Return when the peer has taken most of what was written; raises as `write`."""
        try:
            async with asyncio.timeout(self._within_s):
                await self._writer.drain()
        except TimeoutError:
            self.is_dropped = True
            self._writer.transport.abort()
            raise anyio.BrokenResourceError from None
        except ConnectionError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        self._writer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class Incoming:
    """Messages from the peer, as the SDK reads them, each with the agent that it comes from.

    What is no message is answered here: the SDK would drop it, and its sender wait for ever.
    """

    def __init__(self, reader: asyncio.StreamReader, outgoing: Outgoing, agent: Agent) -> None:
        self._reader = reader
        self._outgoing = outgoing
        self._agent = agent
        self._first: list[bytes | None] = []

    async def greet(self) -> None:
        """Take the line that names the session, if the peer begins with one. Raises EOFError."""
        line = await next_line(self._reader)
        greeted = None if line is None else _greeted(self._agent, line)
        if greeted is None:
            self._first.append(line)
        else:
            self._agent = greeted

    async def receive(self) -> _Received:
        """Raises anyio.EndOfStream."""
        while True:
            try:
                # Who does not read is not asked what else he wants.
                await self._outgoing.drained()
                line = self._first.pop() if self._first else await next_line(self._reader)
            except (EOFError, anyio.BrokenResourceError):
                raise anyio.EndOfStream from None
            if line is None:
                await self._refuse(_error(None, _INVALID_REQUEST, "The line is too long."))
            elif line.strip():
                message = _parsed(line)
                if not isinstance(message, bytes):
                    message = self._counted(message)
                if not isinstance(message, bytes):
                    sender = ServerMessageMetadata(request_context=self._agent)
                    return SessionMessage(message, sender)
                await self._refuse(message)

    def _counted(self, message: types.JSONRPCMessage) -> types.JSONRPCMessage | bytes:
        """The message, or the line that refuses it: answers wait in memory until they are read."""
        calls = self._outgoing.calls
        if isinstance(message, types.JSONRPCRequest):
            if len(calls) >= MAX_CALLS:
                text = f"{MAX_CALLS} calls of this connection have no answer yet."
                return _error(message.id, SERVER_ERROR, text)
            calls.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED:
            # What is cancelled has no answer.
            request_id = (message.params or {}).get("requestId")
            if isinstance(request_id, (str, int)):
                calls.discard(request_id)
        return message

    async def _refuse(self, answer: bytes) -> None:
        try:
            await self._outgoing.write(answer)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """The connection is closed with its other direction."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _Received:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


async def serve(
    server: Server[Any], reader: asyncio.StreamReader, outgoing: Outgoing, agent: Agent
) -> None:
    """Serve one session until its peer closes its end."""
    incoming = Incoming(reader, outgoing, agent)
    try:
        await incoming.greet()
        await server.run(incoming, outgoing, server.create_initialization_options())
    except EOFError:
        return  # it never said anything
    finally:
        await outgoing.aclose()


def _greeted(agent: Agent, line: bytes) -> Agent | None:
    """The agent that a hello names; None when the line is none."""
    try:
        hello = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(hello, dict) or "coordrooms" not in hello:
        return None
    conversation, max_wait_s = hello.get("conversation"), hello.get("max_wait_s")
    return replace(
        agent,
        conversation=conversation if isinstance(conversation, str) and conversation else None,
        max_wait_s=max_wait_s if isinstance(max_wait_s, (int, float)) and max_wait_s > 0 else None,
    )


def _parsed(line: bytes) -> types.JSONRPCMessage | bytes:
    """The message in a line, or the line that refuses it."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        message = None
    # A request with a bad id would pass for a notification.
    if message is not None and not isinstance(message, types.JSONRPCNotification):
        return message
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, _PARSE_ERROR, "The line is not JSON in UTF-8.")
    if message is not None and "id" not in raw:
        return message
    request_id = raw.get("id") if isinstance(raw, dict) else None
    known = isinstance(request_id, (str, int)) and not isinstance(request_id, bool)
    problem = "The line is no JSON-RPC 2.0 message, or holds half of a surrogate pair."
    return _error(request_id if known else None, _INVALID_REQUEST, problem)


def _error(request_id: str | int | None, code: int, message: str) -> bytes:
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return json.dumps(error).encode()
