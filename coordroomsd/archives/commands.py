"""What `coordroomsd backup` and its kin do; each returns what to tell whoever runs it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncpg

from coordroomsd.archives import databases
from coordroomsd.archives.backups import write_backup
from coordroomsd.archives.errors import ArchiveError
from coordroomsd.archives.exports import write_room
from coordroomsd.archives.files import existing_file, new_file
from coordroomsd.archives.imports import RoomImport
from coordroomsd.archives.restores import BackupReader, restore
from coordroomsd.archives.room_readers import RoomReader
from coordroomsd.clock import SteadyClock
from coordroomsd.config import Config
from coordroomsd.endings import ending_signals, is_told_of_hang_ups
from coordroomsd.store.errors import NoSpaceError
from coordroomsd.store.migrate import migrate

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end. A signal to end undoes what was begun and raises KeyboardInterrupt."""

    async def interruptible() -> T:
        task = asyncio.current_task()
        assert task is not None
        hang_up = [signal.SIGHUP] if is_told_of_hang_ups() else []
        for number in (*ending_signals(), *hang_up):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await work

    try:
        return asyncio.run(interruptible())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def back_up(config: Config, path: Path) -> str:
    """:raises StoreError: the database cannot be read, or the file not be written."""
    with new_file(path) as file, _losses_explained():
        async with databases.reading(config) as connection:
            extent = await write_backup(connection, file)
    return f"backed up {extent}"


async def bring_back(config: Config, path: Path) -> str:
    """:raises StoreError: the file cannot be read, or the database not be filled with it."""
    with existing_file(path) as file, _losses_explained():
        reader = BackupReader(file)
        async with databases.owning(config) as (connection, check):
            restored = await restore(reader, connection, check)
    return (
        f"restored {restored.extent}, as of {restored.at}. The database's generation is "
        f"{restored.generation} now: clients learn from it that their numbers are of another one"
    )


async def export_room(config: Config, project: str, room: str, path: Path) -> str:
    """:raises StoreError: the room cannot be read, or the file not be written."""
    with new_file(path) as file, _losses_explained():
        async with databases.reading(config) as connection:
            extent = await write_room(connection, project, room, file)
    return f"exported {extent}"


async def import_room(config: Config, path: Path, project: str | None, name: str | None) -> str:
    """:raises StoreError: the file cannot be read, or does not become a room here."""
    with existing_file(path) as file, _losses_explained():
        reader = RoomReader(file)
        async with databases.owning(config) as (connection, check):
            await migrate(connection)
            now = SteadyClock(await connection.fetchval("SELECT clock_timestamp()")).now()
            async with connection.transaction():
                found = RoomImport(connection, reader, project, name, now, check)
                imported = await found.run()
    left = (
        f". Active in other rooms, and so no longer in this one: {', '.join(imported.left)}"
        if imported.left
        else ""
    )
    return f"imported {imported.extent} as {imported.slug}{left}"


@contextmanager
def _losses_explained() -> Iterator[None]:
    try:
        yield
    except NoSpaceError as error:
        raise ArchiveError(f"{error}. Nothing was kept: free space and run this again") from error
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        reason = str(error).partition("\n")[0]
        raise ArchiveError(f"the database did not go along: {reason}. Nothing was kept") from error
