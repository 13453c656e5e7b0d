"""Numbered SQL files, applied once each and in order.

A file is `NNNN_name.sql` in `migrations/` and runs in a transaction of its own. One whose first
line is `-- no-transaction` (for CREATE INDEX CONCURRENTLY and its like) holds a single statement,
written so that a second attempt is right, since nothing undoes half of it. An applied file is
never edited: what it should have said goes into the next one.

Whoever migrates holds the database's ownership (see `database.py`), so that two never do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

import asyncpg

from coordroomsd.store.errors import DatabaseNewerError, MigrationChangedError, MigrationError

NO_TRANSACTION: Final = "-- no-transaction"
_FILE_NAME: Final = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")

_CREATE_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS migrations (
        version    integer     PRIMARY KEY,
        name       text        NOT NULL,
        checksum   text        NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file; `name` is the file's name, `checksum` the SHA-256 of its text in hexadecimal."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def in_transaction(self) -> bool:
        return self.sql.split("\n", 1)[0].strip() != NO_TRANSACTION


def shipped() -> list[Migration]:
    """The files that came with this program, in order."""
    directory = resources.files("coordroomsd.store") / "migrations"
    found = [
        Migration(int(match[1]), file.name, file.read_text("utf-8"))
        for file in directory.iterdir()
        if (match := _FILE_NAME.fullmatch(file.name))
    ]
    return sorted(found, key=lambda migration: migration.version)


async def pending(
    connection: asyncpg.Connection, migrations: Sequence[Migration] | None = None
) -> list[Migration]:
    """What `migrate` would apply; changes nothing.

    :raises DatabaseNewerError: the database has a migration that this program does not know.
    :raises MigrationChangedError: an applied file is not what it was.
    :raises MigrationError: a file comes before one that is applied already, or shares its number.
    """
    known = shipped() if migrations is None else migrations
    by_version = {migration.version: migration for migration in known}
    if len(by_version) < len(known):
        raise MigrationError(
            f"two migrations share a number: {', '.join(m.name for m in known)}; renumber one"
        )
    applied = await _applied(connection)
    for version, (name, checksum) in applied.items():
        migration = by_version.get(version)
        if migration is None:
            raise DatabaseNewerError(
                f"the database has migration {name}, which this version of coordroomsd does not "
                "know: a newer one has used it. Install that version again, or restore a backup "
                "from before the upgrade"
            )
        if migration.checksum != checksum:
            raise MigrationChangedError(
                f"migration {migration.name} differs from what was applied to this database "
                f"(as {name}). Put the file back as it was, and make the change in a new one"
            )
    latest = max(applied, default=0)
    waiting = [by_version[version] for version in sorted(by_version.keys() - applied.keys())]
    if waiting and waiting[0].version < latest:
        raise MigrationError(
            f"migration {waiting[0].name} has a lower number than one that this database already "
            f"has ({applied[latest][0]}): give it the next free number"
        )
    return waiting


async def migrate(
    connection: asyncpg.Connection, migrations: Sequence[Migration] | None = None
) -> list[str]:
    """Apply what is pending and return the names of the files, in order.

    :raises MigrationError: see `pending`; also when a file's SQL fails. The files before it stay
        applied, and nothing of it is kept unless it says `-- no-transaction`.
    """
    waiting = await pending(connection, migrations)
    await connection.execute(_CREATE_TABLE)
    for migration in waiting:
        try:
            await _apply(connection, migration)
        except asyncpg.PostgresError as error:
            kept = "nothing of it was kept" if migration.in_transaction else "run it again"
            raise MigrationError(f"migration {migration.name} failed: {error}; {kept}") from error
    return [migration.name for migration in waiting]


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    if migration.in_transaction:
        async with connection.transaction():
            await connection.execute(migration.sql)
            await _record(connection, migration)
    else:
        await connection.execute(migration.sql)
        await _record(connection, migration)


async def _record(connection: asyncpg.Connection, migration: Migration) -> None:
    await connection.execute(
        "INSERT INTO migrations (version, name, checksum) VALUES ($1, $2, $3)",
        migration.version,
        migration.name,
        migration.checksum,
    )


async def _applied(connection: asyncpg.Connection) -> dict[int, tuple[str, str]]:
    if await connection.fetchval("SELECT to_regclass('migrations')") is None:
        return {}
    rows = await connection.fetch("SELECT version, name, checksum FROM migrations ORDER BY version")
    return {row["version"]: (row["name"], row["checksum"]) for row in rows}
