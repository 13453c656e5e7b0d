"""Owning a database, losing it and getting it back, on both kinds of server."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from coordroomsd.store import ownership, sessions
from coordroomsd.store.database import Database
from coordroomsd.store.errors import (
    DatabaseOwnedError,
    DatabaseUnreachableError,
    OwnershipLostError,
)
from coordroomsd.store.sessions import ConnectArguments
from tests.polling import until
from tests.postgres_servers import connect, execute


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner that is there stays, so that waiting for it only costs time."""
    monkeypatch.setattr(ownership, "TAKE_WITHIN_MS", 50)


async def sessions_are(number: int, database: Database) -> bool:
    count = """
        SELECT count(*) FROM pg_stat_activity
        WHERE application_name LIKE 'coordroomsd%' AND datname = current_database()
    """
    return bool(await database.reads.fetchval(count) == number)


async def end_session(address: ConnectArguments, database: Database) -> None:
    """Cut the write session, as a crash of its server process would."""
    pid = database.writer.get_server_pid()
    await execute(address, f"SELECT pg_terminate_backend({pid}, 10000)")


class TestOwnership:
    async def test_second_daemon_is_told_who_has_it(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        assert opened.owner.startswith("host here, pid 1, since 20")
        with pytest.raises(DatabaseOwnedError) as refused:
            await Database.open(address, owner="host there, pid 2")
        assert opened.owner in str(refused.value)
        await opened.writer.execute("UPDATE journal SET batch = batch + 1")

    async def test_owner_is_described_before_there_is_a_table(
        self, address: ConnectArguments
    ) -> None:
        migrating = await sessions.connect(address, sessions.WRITE_SETTINGS)
        await ownership.take(migrating)
        with pytest.raises(DatabaseOwnedError, match=f"process {migrating.get_server_pid()}"):
            await Database.open(address, owner="second")
        await migrating.close()

    async def test_refused_daemon_leaves_no_session(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        with pytest.raises(DatabaseOwnedError):
            await Database.open(address, owner="second")
        await until(lambda: sessions_are(2, opened))

    async def test_owner_of_another_database_is_no_owner_of_this(
        self, connect_arguments: dict[str, Any], private_address: dict[str, Any]
    ) -> None:
        first = await Database.open(connect_arguments, owner="first")
        second = await Database.open(private_address, owner="second")
        await first.close()
        await second.close()

    async def test_killed_daemon_is_waited_for(
        self, address: ConnectArguments, opened: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ownership, "TAKE_WITHIN_MS", 60_000)
        opening = asyncio.create_task(Database.open(address, owner="second"))
        waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"
        await until(lambda: opened.reads.fetchval(waits))
        opened.writer.terminate()
        second = await opening
        assert second.owner.startswith("second")
        await second.close()


class TestReopening:
    async def test_a_cut_connection_comes_back_with_its_settings(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        await opened.writer.execute("UPDATE journal SET batch = 41")
        before = opened.owner
        await end_session(address, opened)
        await opened.reopen_writer()
        assert (opened.batch, opened.owner) == (41, before)
        assert await opened.writer.fetchval("SHOW plan_cache_mode") == "force_generic_plan"
        with pytest.raises(DatabaseOwnedError):
            await Database.open(address, owner="second")

    async def test_a_session_that_the_server_keeps_is_ended(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        """A cut network leaves the old session with its lock and its open transaction."""
        abandoned = opened.writer
        await abandoned.execute("BEGIN")
        await abandoned.execute("UPDATE journal SET batch = 99")
        opened.writer = await connect(address)
        await opened.reopen_writer()
        assert opened.batch == 0
        assert await opened.writer.fetchval("SELECT batch FROM journal") == 0
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await abandoned.execute("COMMIT")

    async def test_it_waits_for_a_server_that_is_away(
        self, opened: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        attempts = 0
        real = sessions.connect

        async def away(*arguments: Any) -> asyncpg.Connection:
            nonlocal attempts
            attempts += 1
            if attempts < 4:
                raise DatabaseUnreachableError("away")
            return await real(*arguments)

        monkeypatch.setattr(sessions, "connect", away)
        await opened.reopen_writer()
        assert attempts == 4
        assert await opened.writer.fetchval("SELECT 1") == 1

    async def test_another_owner_ends_it(self, address: ConnectArguments, opened: Database) -> None:
        await end_session(address, opened)
        other = await Database.open(address, owner="host there, pid 2")
        with pytest.raises(OwnershipLostError, match="host there, pid 2"):
            await opened.reopen_writer()
        await other.writer.execute("UPDATE journal SET batch = batch + 1")
        await other.close()

    async def test_an_owner_in_between_ends_it(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        await end_session(address, opened)
        other = await Database.open(address, owner="host there, pid 2")
        await other.close()
        with pytest.raises(OwnershipLostError, match="had the database while"):
            await opened.reopen_writer()

    async def test_a_replaced_database_ends_it(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        await execute(address, "UPDATE journal SET generation = 'another'")
        await end_session(address, opened)
        with pytest.raises(OwnershipLostError, match="was replaced"):
            await opened.reopen_writer()

    async def test_a_database_that_has_lost_batches_gets_a_new_generation(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        """As after the promotion of a standby that was behind."""
        before = opened.generation
        opened.committed(5)
        await execute(address, "UPDATE journal SET batch = 4")
        await end_session(address, opened)
        with pytest.raises(OwnershipLostError, match="last batch is 4, and was 5"):
            await opened.reopen_writer()
        opened.writer.terminate()
        after = await Database.open(address, owner="host here, pid 1, again")
        assert after.generation not in ("", before)
        await after.close()

    async def test_one_that_has_moved_and_lost_nothing_keeps_its_generation(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        before = opened.generation
        await execute(address, "UPDATE journal SET place = 'elsewhere'")
        await end_session(address, opened)
        await opened.reopen_writer()
        assert opened.generation == before
        assert await opened.writer.fetchval("SELECT place FROM journal") != "elsewhere"

    async def test_reads_come_back_by_themselves(
        self, address: ConnectArguments, opened: Database
    ) -> None:
        readers = "application_name = 'coordroomsd reader' AND datname = current_database()"
        end = f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {readers}"
        async with opened.reads.pool.acquire() as reader:
            lost = asyncio.Event()
            reader.add_termination_listener(lambda _: lost.set())
            await execute(address, end)
            await lost.wait()
        assert await opened.reads.fetchval("SELECT 1") == 1
