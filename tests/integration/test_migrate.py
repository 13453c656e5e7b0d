"""Migrations from empty, again, and where the files and the database's history disagree."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from coordroomsd.store.errors import DatabaseNewerError, MigrationChangedError, MigrationError
from coordroomsd.store.migrate import Migration, migrate, pending, shipped
from coordroomsd.store.sessions import ConnectArguments
from tests.postgres_servers import connect

FIRST = Migration(1, "0001_first.sql", "CREATE TABLE first (id int); INSERT INTO first VALUES (1);")
SECOND = Migration(2, "0002_second.sql", "ALTER TABLE first ADD COLUMN name text;")
THIRD = Migration(
    3, "0003_third.sql", "-- no-transaction\nCREATE INDEX CONCURRENTLY by_id ON first (id);"
)


@pytest.fixture
async def connection(address: ConnectArguments) -> AsyncIterator[asyncpg.Connection]:
    connection = await connect(address)
    yield connection
    await connection.close()


async def test_shipped_files_apply_to_an_empty_database(connection: asyncpg.Connection) -> None:
    names = [migration.name for migration in shipped()]
    assert names[0] == "0001_rooms.sql"
    assert await migrate(connection) == names
    assert await connection.fetchval("SELECT batch FROM journal") == 0


def test_shipped_files_are_numbered_without_a_gap() -> None:
    versions = [migration.version for migration in shipped()]
    assert versions == list(range(1, len(versions) + 1))


async def test_second_run_does_nothing(connection: asyncpg.Connection) -> None:
    assert await migrate(connection, [FIRST]) == [FIRST.name]
    assert await migrate(connection, [FIRST]) == []
    assert await connection.fetchval("SELECT count(*) FROM first") == 1


async def test_later_files_are_added_in_order(connection: asyncpg.Connection) -> None:
    await migrate(connection, [FIRST])
    assert await migrate(connection, [THIRD, SECOND, FIRST]) == [SECOND.name, THIRD.name]
    rows = await connection.fetch("SELECT version, name, checksum, applied_at FROM migrations")
    assert [(row["version"], row["name"]) for row in rows] == [
        (1, FIRST.name),
        (2, SECOND.name),
        (3, THIRD.name),
    ]
    assert all(len(row["checksum"]) == 64 and row["applied_at"].tzinfo for row in rows)


async def test_looking_at_what_is_pending_changes_nothing(connection: asyncpg.Connection) -> None:
    assert await pending(connection, [FIRST, SECOND]) == [FIRST, SECOND]
    assert await connection.fetchval("SELECT to_regclass('migrations')") is None


async def test_changed_file_is_named_and_refused(connection: asyncpg.Connection) -> None:
    await migrate(connection, [FIRST])
    edited = replace(FIRST, sql=FIRST.sql + " -- afterwards")
    with pytest.raises(MigrationChangedError, match=r"0001_first\.sql differs"):
        await migrate(connection, [edited, SECOND])
    assert await pending(connection, [FIRST, SECOND]) == [SECOND]


async def test_newer_database_is_refused(connection: asyncpg.Connection) -> None:
    await migrate(connection, [FIRST, SECOND])
    with pytest.raises(DatabaseNewerError, match=r"0002_second\.sql"):
        await migrate(connection, [FIRST])


async def test_number_below_an_applied_one_is_refused(connection: asyncpg.Connection) -> None:
    later = replace(FIRST, version=2, name="0002_first.sql")
    await migrate(connection, [later])
    with pytest.raises(MigrationError, match=r"0001_first\.sql has a lower number"):
        await migrate(connection, [FIRST, later])


async def test_shared_number_is_refused(connection: asyncpg.Connection) -> None:
    with pytest.raises(MigrationError, match="share a number"):
        await migrate(connection, [FIRST, replace(SECOND, version=1)])


async def test_failing_file_leaves_nothing_of_itself(connection: asyncpg.Connection) -> None:
    broken = replace(SECOND, sql="INSERT INTO first VALUES (2); SELECT 1 / 0;")
    with pytest.raises(MigrationError, match=r"0002_second\.sql failed: division by zero"):
        await migrate(connection, [FIRST, broken])
    assert await connection.fetchval("SELECT count(*) FROM first") == 1
    assert await migrate(connection, [FIRST, SECOND]) == [SECOND.name]


async def test_failing_file_without_transaction_is_not_recorded(
    connection: asyncpg.Connection,
) -> None:
    broken = replace(THIRD, sql="-- no-transaction\nCREATE INDEX CONCURRENTLY ON nowhere (id);")
    with pytest.raises(MigrationError, match=r"0003_third\.sql failed"):
        await migrate(connection, [FIRST, broken])
    assert await pending(connection, [FIRST, THIRD]) == [THIRD]
