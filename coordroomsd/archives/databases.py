"""Reaching the database that the configuration names: beside its daemon, or in its place."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import asyncpg

from coordroomsd.archives.errors import ArchiveError
from coordroomsd.config import Config
from coordroomsd.store import disk_space, ownership, sessions
from coordroomsd.store.errors import (
    DatabaseUnreachableError,
    StateDirectoryError,
    StateDirectoryInUseError,
)
from coordroomsd.store.private_postgres import PrivatePostgres

# A daemon that is just starting has its directory before its server takes connections.
_STARTING_WITHIN_S: Final = 30.0
_CLOSE_WITHIN_S: Final = 5.0


@asynccontextmanager
async def reading(config: Config) -> AsyncIterator[asyncpg.Connection]:
    """A session that reads, whether or not a daemon runs; a private server runs for it if needed.

    :raises StoreError: the database cannot be had, or was never made.
    """
    if config.database.url is not None:
        connection = await sessions.connect(config.database.url, sessions.BACKUP_SETTINGS)
    else:
        server = PrivatePostgres(config.state_dir, config.database.run_as)
        if not server.is_made():
            raise ArchiveError(
                f"there is no database in {config.state_dir}. Name the state directory of the "
                "daemon with --state-dir, or its configuration with --config"
            )
        async with _beside_the_daemon(config.state_dir, server) as connection:
            yield connection
        return
    try:
        yield connection
    finally:
        await sessions.close(connection, _CLOSE_WITHIN_S)


@asynccontextmanager
async def owning(config: Config) -> AsyncIterator[tuple[asyncpg.Connection, Callable[[], None]]]:
    """A session that writes, while no daemon may, and what raises when the disk is nearly full.

    :raises StateDirectoryInUseError, DatabaseOwnedError: a daemon has it; names that one.
    :raises StoreError: the database cannot be had.
    """
    if config.database.url is not None:
        connection = await sessions.connect(config.database.url, sessions.RESTORE_SETTINGS)
        try:
            await _take(connection)
            yield connection, lambda: None
        finally:
            await sessions.close(connection, _CLOSE_WITHIN_S)
        return
    _refuse_for_another(config.state_dir)
    server = PrivatePostgres(config.state_dir, config.database.run_as)
    await server.start()
    try:
        connection = await sessions.connect(server.connect_arguments(), sessions.RESTORE_SETTINGS)
        try:
            await _take(connection)
            yield connection, lambda: disk_space.check_space(server.data)
        finally:
            await sessions.close(connection, _CLOSE_WITHIN_S)
    finally:
        await server.stop()


async def _take(connection: asyncpg.Connection) -> None:
    await ownership.take(connection)
    if await connection.fetchval("SELECT to_regclass('journal')") is not None:
        # What a daemon is told that is started meanwhile.
        await ownership.sign(
            connection, f"{socket.gethostname()}, pid {os.getpid()}, which reads an archive"
        )


@asynccontextmanager
async def _beside_the_daemon(
    state_dir: Path, server: PrivatePostgres
) -> AsyncIterator[asyncpg.Connection]:
    try:
        connection = await _running(state_dir, server)
        try:
            yield connection
        finally:
            await sessions.close(connection, _CLOSE_WITHIN_S)
    finally:
        await server.stop()


async def _running(state_dir: Path, server: PrivatePostgres) -> asyncpg.Connection:
    """A session with the server of the daemon that runs, or with one that is started for it."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _STARTING_WITHIN_S
    while True:
        if server.is_in_use():
            try:
                return await _session(server)
            except DatabaseUnreachableError:
                if loop.time() > deadline:
                    raise
        else:
            _refuse_for_another(state_dir)
            with contextlib.suppress(StateDirectoryInUseError):  # just now
                await server.start()
                return await _session(server)
        await asyncio.sleep(0.1)


async def _session(server: PrivatePostgres) -> asyncpg.Connection:
    return await sessions.connect(server.connect_arguments(), sessions.BACKUP_SETTINGS)


def _refuse_for_another(state_dir: Path) -> None:
    """:raises StateDirectoryError: as root we would leave files that its owner may not open."""
    try:
        owner = state_dir.stat().st_uid
    except OSError:
        return  # who starts the server there says what is wrong
    if os.geteuid() == 0 and owner != 0:
        name = _user_name(owner)
        raise StateDirectoryError(
            f"no daemon runs on {state_dir}, which belongs to the user {name}. Run this as that "
            f"user: runuser -u {name} -- coordroomsd … --state-dir {state_dir}; - in place of a "
            "file is a standard stream"
        )


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
