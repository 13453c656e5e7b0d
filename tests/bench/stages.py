"""What cases measure on: a PostgreSQL set as the daemon's own is, for floors and daemons alike."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg

from coordroomsd.store.database import Database
from coordroomsd.store.private_postgres import PrivatePostgres
from tests.bench import fills
from tests.bench.processes import Process, started
from tests.daemon_processes import WITHOUT_LIMITS

ALL_INDEXED = """
    SELECT NOT EXISTS (SELECT FROM rooms LEFT JOIN indexed ON room_id = id
                       WHERE latest_seq > coalesce(seq, 0))
"""
LOOK_EACH_S = 0.5
RESTS_WITHIN_S = 60.0
# Of a core.
REST = 0.05
CONFIGURATION = f"{WITHOUT_LIMITS}max_waiters = 50000\n"

# Puts rows into a new database before a daemon serves it.
Fill = Callable[[asyncpg.Connection], Awaitable[None]]


class Daemon:
    """A daemon that serves `socket`, and how long its start took, until it took calls."""

    def __init__(
        self, socket: Path, process: Process, started_s: float, database: str | None
    ) -> None:
        self.socket = str(socket)
        self.mcp_socket = str(socket.with_name("daemon-mcp.sock"))
        self.process = process
        self.started_s = started_s
        self._database = database

    async def at_rest(self) -> None:
        """Return when it is done with what it has left for later.

        After its start that is to load the MCP SDK, after posts to index their words, which can be
        waited for when the database is the stage's.
        """
        used = self.process.cpu_s()
        for _ in range(int(RESTS_WITHIN_S / LOOK_EACH_S)):
            await asyncio.sleep(LOOK_EACH_S)
            before, used = used, self.process.cpu_s()
            if used - before <= REST * LOOK_EACH_S and await self._has_all_indexed():
                return
        print(f"the daemon has not come to rest in {RESTS_WITHIN_S:.0f} s", file=sys.stderr)

    async def _has_all_indexed(self) -> bool:
        if self._database is None:
            return True
        connection = await asyncpg.connect(self._database)
        try:
            return bool(await connection.fetchval(ALL_INDEXED))
        finally:
            await connection.close()


class Stage:
    """Made by `raised`. `directory` is for sockets and files, and goes at the end."""

    def __init__(self, directory: Path, server: PrivatePostgres) -> None:
        self.directory = directory
        self._server = server
        self._numbers = count(1)
        self._configuration = directory / "config.toml"
        self._configuration.write_text(CONFIGURATION)

    def new_directory(self) -> Path:
        path = self.directory / str(next(self._numbers))
        path.mkdir(mode=0o711)
        return path

    @contextlib.asynccontextmanager
    async def database(self, fill: Fill | None = None) -> AsyncIterator[str]:
        """The URL of a migrated database of its own."""
        name = f"bench_{next(self._numbers)}"
        await self._execute(f"CREATE DATABASE {name}")
        await _make(self._server.connect_arguments(name), fill)
        try:
            yield _url(self._server, name)
        finally:
            await self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextlib.asynccontextmanager
    async def daemon(self, fill: Fill | None = None) -> AsyncIterator[Daemon]:
        async with self.database(fill) as url, self.daemon_on(url) as daemon:
            yield daemon

    @contextlib.asynccontextmanager
    async def daemon_on(self, url: str) -> AsyncIterator[Daemon]:
        async with self._serving(self.new_directory(), url) as daemon:
            yield daemon

    @contextlib.asynccontextmanager
    async def home(self, fill: Fill) -> AsyncIterator[Path]:
        """A state directory: a private PostgreSQL is in it, filled, and does not run."""
        directory = self.new_directory()
        server = PrivatePostgres(directory)
        try:
            await server.start()
            await _make(server.connect_arguments(), fill)
        finally:
            await server.stop()
        try:
            yield directory
        finally:
            # The largest fills a few GiB, and the next case wants room as well.
            shutil.rmtree(directory)

    @contextlib.asynccontextmanager
    async def daemon_at(self, home: Path) -> AsyncIterator[Daemon]:
        """A daemon with the private PostgreSQL of such a directory."""
        async with self._serving(home) as daemon:
            yield daemon

    @contextlib.asynccontextmanager
    async def _serving(self, directory: Path, database: str | None = None) -> AsyncIterator[Daemon]:
        socket = directory / "daemon.sock"
        options = ("--database-url", database) if database else ()
        async with started(
            "the daemon",
            *(sys.executable, "-m", "coordroomsd", "serve", "--config", self._configuration),
            *("--state-dir", directory, "--socket", socket),
            *options,
            errors=directory / "log",
        ) as process:
            try:
                started_s = await process.until(b"coordroomsd is ready")
            except ChildProcessError:
                print((directory / "log").read_text()[-2000:], file=sys.stderr)
                raise
            yield Daemon(socket, process, started_s, database)

    @contextlib.asynccontextmanager
    async def another_server(self) -> AsyncIterator[str]:
        """The URL of an empty database on another PostgreSQL, set the same.

        The first has few connections to spare.
        """
        server = PrivatePostgres(self.new_directory())
        try:
            await server.start()
            yield _url(server, "postgres")
        finally:
            await server.stop()

    async def _execute(self, sql: str) -> None:
        connection = await asyncpg.connect(**self._server.connect_arguments("postgres"))
        try:
            await connection.execute(sql)
        finally:
            await connection.close()


async def _make(arguments: dict[str, Any], fill: Fill | None) -> None:
    """Migrate a database, and fill it."""
    database = await Database.open(arguments, owner="the bench")
    await database.close()
    if fill is None:
        return
    connection = await asyncpg.connect(**arguments)
    try:
        await fill(connection)
        await fills.all_indexed(connection)
        await connection.execute("ANALYZE")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


def _url(server: PrivatePostgres, database: str) -> str:
    arguments = server.connect_arguments(database)
    host = quote(arguments["host"], safe="")
    return f"postgresql://{arguments['user']}@/{database}?host={host}&port={arguments['port']}"


@contextlib.asynccontextmanager
async def raised() -> AsyncIterator[Stage]:
    # A socket's path has to be short, and the server's user has to get through to its data.
    directory = Path(tempfile.mkdtemp(prefix="coordrooms-bench-", dir="/tmp"))
    os.chmod(directory, 0o711)
    server = PrivatePostgres(directory / "pg")
    try:
        await server.start()
        yield Stage(directory, server)
    finally:
        await server.stop()
        shutil.rmtree(directory)
