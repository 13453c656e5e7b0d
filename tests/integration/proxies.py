"""A byte proxy before the database server, which can cut a session at a chosen moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Any

from tests.postgres_servers import make_state_dir

# How a server's answer ends when it is ready for the next query, outside a transaction.
_READY = b"Z\x00\x00\x00\x05I"
_CHUNK = 64 * 1024


class Cut(Enum):
    # The statement never reaches the server.
    BEFORE_THE_COMMIT = auto()
    # The server has the statement, and is still at it when the client comes back.
    DURING_THE_COMMIT = auto()
    # The server has committed, and the client never hears of it.
    AFTER_THE_COMMIT = auto()


class Proxy:
    """Made by `proxied`. `arguments` lead through it."""

    def __init__(self, arguments: dict[str, Any], directory: Path) -> None:
        self._host, self._port = arguments["host"], arguments["port"]
        self._directory = directory
        self.arguments = arguments | {"host": str(directory)}
        self.cuts = 0
        self._needle = b""
        self._cut: Cut | None = None
        self._refuses = False
        self._sessions: set[asyncio.StreamWriter] = set()

    def cut_at(self, needle: str, cut: Cut) -> None:
        """Cut the next session in which the client sends these bytes, once."""
        self._needle, self._cut = needle.encode(), cut

    def refuse(self) -> None:
        """Cut all sessions and let nobody in."""
        self._refuses = True
        for writer in self._sessions:
            writer.transport.abort()

    def admit(self) -> None:
        self._refuses = False

    async def serve(self) -> asyncio.Server:
        path = self._directory / f".s.PGSQL.{self._port}"
        return await asyncio.start_unix_server(self._session, path)

    async def _session(
        self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        if self._refuses:
            to_client.transport.abort()
            return
        path = f"{self._host}/.s.PGSQL.{self._port}"
        from_server, to_server = await asyncio.open_unix_connection(path)
        self._sessions |= {to_client, to_server}
        replies = asyncio.create_task(_copy(from_server, to_client))
        try:
            while chunk := await from_client.read(_CHUNK):
                if self._cut is not None and self._needle in chunk:
                    cut, self._cut = self._cut, None
                    if cut is not Cut.BEFORE_THE_COMMIT:
                        replies.cancel()
                        await asyncio.wait([replies])
                        # It has the bytes at once: its buffer is larger than a chunk.
                        to_server.write(chunk)
                    if cut is Cut.AFTER_THE_COMMIT:
                        await _until_ready(from_server, from_client, to_server)
                    self.cuts += 1
                    break
                to_server.write(chunk)
                await to_server.drain()
        except OSError:
            pass
        finally:
            replies.cancel()
            for writer in (to_client, to_server):
                writer.transport.abort()
                self._sessions.discard(writer)


async def _until_ready(
    from_server: asyncio.StreamReader,
    from_client: asyncio.StreamReader,
    to_server: asyncio.StreamWriter,
) -> None:
    """Let the client say the rest of it, and the server answer."""
    ready = asyncio.create_task(from_server.readuntil(_READY))
    rest = asyncio.create_task(_copy(from_client, to_server))
    await asyncio.wait([ready])
    rest.cancel()
    await asyncio.wait([rest])
    ready.result()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    except OSError:
        pass
    finally:
        if not asyncio.current_task().cancelling():  # type: ignore[union-attr]
            writer.transport.abort()


@asynccontextmanager
async def proxied(arguments: dict[str, Any]) -> AsyncIterator[Proxy]:
    """A proxy before the server that these arguments lead to."""
    directory = make_state_dir()
    proxy = Proxy(arguments, directory)
    server = await proxy.serve()
    try:
        yield proxy
    finally:
        server.close()
        proxy.refuse()
        for file in directory.iterdir():
            file.unlink()
        directory.rmdir()
