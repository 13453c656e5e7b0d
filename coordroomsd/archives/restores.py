"""Putting a backup into an empty database, which begins a new generation with it."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import asyncpg

from coordroomsd.archives import tables
from coordroomsd.archives.backups import END_OF_TABLE, FORMAT, VERSION, Extent
from coordroomsd.archives.errors import ArchiveError, NotEmptyError
from coordroomsd.store.errors import DatabaseNewerError, MigrationChangedError
from coordroomsd.store.migrate import Migration, migrate, shipped

# The longest row is an answer kept under a key: what a request of 1 MiB led to, in hexadecimal.
_LONGEST_LINE: Final = 64 * 1024 * 1024
_CHUNK: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Header:
    """What a backup says of itself. `migrations` are those that its tables had."""

    at: str
    batch: int
    migrations: list[Migration]


@dataclass(frozen=True, slots=True)
class Restored:
    at: str
    extent: Extent
    generation: str


class BackupReader:
    """Reads what `write_backup` wrote, once and in order."""

    def __init__(self, file: BinaryIO) -> None:
        """Read the header.

        :raises ArchiveError: it is no backup, or of a later format.
        :raises DatabaseNewerError, MigrationChangedError: its tables are not known here.
        """
        self._file = gzip.GzipFile(fileobj=file, mode="rb")
        self._digest = hashlib.sha256()
        self._lines = 0
        self.header = self._read_header()

    def next_table(self) -> tuple[str, list[str]] | None:
        """The next table and its columns; None once the end has been read and is right."""
        digest = self._digest.hexdigest()
        match self._json():
            case {"table": str(table), "columns": [*columns]}:
                return table, columns
            case {"end": str(end), "sha256": str(sha256)} if end == FORMAT:
                if sha256 != digest:
                    raise ArchiveError(
                        "the backup is damaged: its checksum is another. Use another copy of it"
                    )
                if self._read(1):
                    raise self._fault("goes on behind its end")
                return None
        raise self._fault("is neither a table nor the end")

    async def rows(self, check: Callable[[], None]) -> AsyncIterator[bytes]:
        """The rows of the table; `check` is called now and then, and may raise."""
        chunk = bytearray()
        while (line := self._line()) != END_OF_TABLE:
            chunk += line
            if len(chunk) >= _CHUNK:
                check()
                yield bytes(chunk)
                chunk.clear()
        yield bytes(chunk)

    def _read_header(self) -> Header:
        try:
            found = self._json()
        except ArchiveError:
            found = None
        match found:
            case {"format": str(name), "version": int(version)} if name == FORMAT:
                if version > VERSION:
                    raise ArchiveError(
                        f"the backup is of format {version}, and this coordroomsd reads up to "
                        f"{VERSION}. Restore it with the version that made it, or a newer one"
                    )
            case _:
                raise ArchiveError("the file is no backup that `coordroomsd backup` has made")
        match found:
            case {"at": str(at), "batch": int(batch), "migrations": [*applied]}:
                return Header(at, batch, _known(applied))
        raise self._fault("is no complete header")

    def _json(self) -> Any:
        try:
            return json.loads(self._line())
        except ValueError:  # also what is no UTF-8
            raise self._fault("is not readable") from None

    def _line(self) -> bytes:
        line = self._read(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise self._fault("is cut short" if len(line) < _LONGEST_LINE else "is too long")
        self._digest.update(line)
        return line

    def _read(self, limit: int) -> bytes:
        self._lines += 1
        try:
            return self._file.readline(limit)
        except (EOFError, OSError, zlib.error) as error:
            raise self._fault(f"cannot be read ({error})") from error

    def _fault(self, problem: str) -> ArchiveError:
        return ArchiveError(
            f"the backup is damaged: line {self._lines} {problem}. Use another copy of it"
        )


async def restore(
    reader: BackupReader, connection: asyncpg.Connection, check: Callable[[], None]
) -> Restored:
    """Fill an empty database, which the caller owns, and bring its schema up to date.

    All of the backup is there afterwards or, when this raises, no row of it. `check` is called now
    and then, and may raise.

    :raises NotEmptyError: there is something in the database.
    :raises ArchiveError: the backup is damaged.
    :raises MigrationError: the database's schema is not known here, or cannot be made.
    """
    if await tables.has_schema(connection) and (filled := await tables.filled(connection)):
        raise NotEmptyError(
            f"the database is not empty ({', '.join(filled)}), and restoring overwrites nothing. "
            "Restore into another --state-dir or --database-url, or move the data away first"
        )
    # Empty tables are of no use to anybody, and may be newer than the backup's.
    await tables.drop_all(connection)
    await migrate(connection, reader.header.migrations)
    async with connection.transaction():
        await _fill(reader, connection, check)
        await connection.execute("UPDATE journal SET batch = $1", reader.header.batch)
        # Here, because it takes long enough to be interrupted.
        await connection.execute(f"ANALYZE {', '.join(await tables.columns(connection))}")
    await migrate(connection)
    rooms, events, generation = await connection.fetchrow(
        """SELECT (SELECT count(*) FROM rooms), (SELECT count(*) FROM events),
                  (SELECT generation FROM journal)"""
    )
    return Restored(reader.header.at, Extent(rooms, events), generation)


async def _fill(
    reader: BackupReader, connection: asyncpg.Connection, check: Callable[[], None]
) -> None:
    missing = await tables.columns(connection)
    while (found := reader.next_table()) is not None:
        table, columns = found
        if missing.pop(table, None) != columns:
            raise ArchiveError(f"the backup is damaged: {table!r} has columns that it never had")
        try:
            await connection.copy_to_table(
                table,
                columns=columns,
                source=reader.rows(check),
                format="text",
                encoding="utf-8",
            )
        except (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError) as error:
            raise ArchiveError(f"the backup is damaged, in table {table}: {error}") from error
    if missing:
        raise ArchiveError(f"the backup is damaged: it lacks {', '.join(missing)}")


def _known(applied: list[Any]) -> list[Migration]:
    """The migrations that the backup names.

    :raises DatabaseNewerError: this program does not have one of them.
    :raises MigrationChangedError: it has another one by that name.
    """
    files = {migration.name: migration for migration in shipped()}
    known = []
    for entry in applied:
        match entry:
            case [str(name), str(checksum)]:
                pass
            case _:
                raise ArchiveError("the backup is damaged: its list of migrations is not readable")
        if name not in files:
            raise DatabaseNewerError(
                f"the backup has migration {name}, which this version of coordroomsd does not "
                "know: a newer one has made it. Restore it with that version"
            )
        if files[name].checksum != checksum:
            raise MigrationChangedError(
                f"migration {name} is another one here than where the backup was made. Restore it "
                "with the version of coordroomsd that made it"
            )
        known.append(files[name])
    return known
