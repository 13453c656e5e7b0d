"""A gateway with a fake API behind it, and the SDK's own client in front."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, types
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import Implementation

from coordroomsd.mcp.connections import Outgoing
from coordroomsd.mcp.gateways import Gateway
from tests.polling import GIVE_UP_AFTER_S
from tests.unit.mcp.fakes import FakeApi, Json

DEADLINE_S = 20
ERAS = ("legacy", "2026-07-28")


@contextlib.asynccontextmanager
async def serving(api: FakeApi, path: Path, *, loaded: bool = True) -> AsyncIterator[Gateway]:
    """A gateway on a socket at `path`; not `loaded`, it is stopped before it could serve."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(100)
        listening.setblocking(False)
        gateway = Gateway(api)
        await gateway.start(listening)
        running = asyncio.create_task(gateway.run()) if loaded else None
        try:
            yield gateway
        finally:
            await gateway.stop()
            if running:
                await running


class Raw:
    """A peer that speaks lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    def send(self, *messages: Json | bytes) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.writer.write(line + b"\n")

    async def receive(self) -> Json:
        """The next line. Raises EOFError when there is none."""
        async with asyncio.timeout(DEADLINE_S):
            line = await self._reader.readline()
        if not line:
            raise EOFError
        message: Json = json.loads(line)
        return message

    async def call(self, request_id: object, tool: str, **arguments: Any) -> None:
        self.send(request(request_id, "tools/call", name=tool, arguments=arguments))
        await self.writer.drain()


def request(request_id: object, method: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def handshake(client: str = "test") -> list[Json]:
    """What a host sends first."""
    info = {"name": client, "version": "1"}
    initialize = request(0, "initialize", protocolVersion="2025-06-18", capabilities={})
    initialize["params"]["clientInfo"] = info
    return [initialize, {"jsonrpc": "2.0", "method": "notifications/initialized"}]


@contextlib.asynccontextmanager
async def raw(path: Path) -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 24)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def greeted(path: Path, *first: Json, client: str = "test") -> AsyncIterator[Raw]:
    """A peer that has shaken hands, after the lines of `first`."""
    async with raw(path) as peer:
        peer.send(*first, *handshake(client))
        assert (await peer.receive())["result"]["serverInfo"]["name"] == "coordrooms"
        yield peer


@contextlib.asynccontextmanager
async def _transport(path: Path) -> AsyncIterator[TransportStreams]:
    """The MCP socket as the SDK's client wants it."""
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 24)
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](100)

    async def receive() -> None:
        async with received:
            while line := await reader.readline():
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                await received.send(SessionMessage(message))

    receiving = asyncio.create_task(receive())
    try:
        yield incoming, Outgoing(writer, GIVE_UP_AFTER_S)
    finally:
        receiving.cancel()
        await asyncio.wait([receiving])
        incoming.close()
        writer.close()


def client(path: Path, mode: str, name: str = "test") -> Client:
    info = Implementation(name=name, version="1")
    return Client(_transport(path), mode=mode, client_info=info)
