"""Opening, reading and closing a database, on both kinds of server."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import asyncpg
import pytest

from coordroomsd.store import database as database_module
from coordroomsd.store import sessions
from coordroomsd.store.database import Database
from coordroomsd.store.errors import (
    DatabaseUnreachableError,
    DatabaseUnsuitableError,
)
from coordroomsd.store.sessions import ConnectArguments
from tests.polling import until
from tests.postgres_servers import ConfiguredServer, debian_binaries, execute, free_port


async def setting(connection: asyncpg.Connection, name: str) -> str:
    value: str = await connection.fetchval("SELECT current_setting($1)", name)
    return value


class TestOpening:
    async def test_it_migrates_and_reads_where_the_journal_stands(
        self, address: ConnectArguments
    ) -> None:
        first = await Database.open(address, owner="first")
        assert first.applied[0] == "0001_rooms.sql"
        assert first.batch == 0
        await first.writer.execute("UPDATE journal SET batch = 7")
        await first.close()

        second = await Database.open(address, owner="second")
        assert second.applied == []
        assert (second.batch, second.generation) == (7, first.generation)
        await second.close()

    async def test_the_writer_commits_durably_whatever_the_defaults(
        self, address: ConnectArguments
    ) -> None:
        await execute(
            address,
            """
            DO $$ BEGIN
              EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
              EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable',
                current_database());
            END $$
            """,
        )
        database = await Database.open(address, owner="us")
        assert await setting(database.writer, "synchronous_commit") == "on"
        assert await setting(database.writer, "transaction_isolation") == "read committed"
        assert await setting(database.writer, "statement_timeout") == "0"
        await database.close()

    async def test_readers_cannot_write_nor_run_for_ever(self, opened: Database) -> None:
        async with opened.reads.pool.acquire() as reader:
            assert await setting(reader, "statement_timeout") == "30s"
            assert await setting(reader, "TimeZone") == "UTC"
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await reader.execute("UPDATE journal SET batch = 1")

    async def test_old_server_is_refused(
        self, address: ConnectArguments, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions, "MINIMUM_MAJOR", 99)
        with pytest.raises(DatabaseUnsuitableError, match="upgrade it to 99 or newer"):
            await Database.open(address, owner="us")

    async def test_settings_without_durability_are_warned_about(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        found = debian_binaries()
        if not found:
            pytest.skip("needs a PostgreSQL below /usr/lib/postgresql")
        careless = ConfiguredServer(found[0])
        try:
            await careless.start("--fsync=off", "--full_page_writes=off")
            with caplog.at_level(logging.WARNING, database_module.__name__):
                database = await Database.open(careless.url("postgres"), owner="us")
            await database.close()
        finally:
            await careless.stop()
        assert "has fsync switched off" in caplog.text
        assert "has full_page_writes switched off" in caplog.text

    async def test_standby_is_refused_and_passed_over(
        self, configured_server: ConfiguredServer, configured_address: str
    ) -> None:
        standby = ConfiguredServer(debian_binaries()[0])
        try:
            await standby.start_standby_of(configured_server)
            with pytest.raises(DatabaseUnsuitableError, match="is a standby"):
                await Database.open(standby.url("postgres"), owner="us")
            both = configured_address.replace("@", f"@127.0.0.1:{standby.port},")
            database = await Database.open(both, owner="us")
            await database.close()
        finally:
            await standby.stop()


class TestUnreachable:
    async def test_nobody_listens(self) -> None:
        port = free_port()
        url = f"postgresql://keeper:secret@127.0.0.1:{port}/rooms"
        with pytest.raises(DatabaseUnreachableError, match=f"rooms at 127.0.0.1:{port}") as raised:
            await Database.open(url, owner="us")
        assert "secret" not in str(raised.value)

    async def test_no_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sessions, "CONNECT_WITHIN_S", 0.05)

        async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)

        writers: list[asyncio.StreamWriter] = []
        silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(DatabaseUnreachableError, match="did not answer"):
            await Database.open(f"postgresql://keeper@127.0.0.1:{port}/rooms", owner="us")
        silent.close()
        for writer in writers:
            writer.close()

    @pytest.mark.parametrize(
        "refusal",
        [
            asyncpg.CannotConnectNowError("the database system is starting up"),
            asyncpg.TooManyConnectionsError("sorry, too many clients already"),
            BlockingIOError(11, "Resource temporarily unavailable"),
        ],
    )
    async def test_a_busy_server_is_waited_for(
        self,
        connect_arguments: dict[str, Any],
        monkeypatch: pytest.MonkeyPatch,
        refusal: Exception,
    ) -> None:
        refusals = [refusal] * 3
        real = asyncpg.connect

        async def busy(*arguments: Any, **options: Any) -> asyncpg.Connection:
            if refusals:
                raise refusals.pop()
            return await real(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(asyncpg, "connect", busy)
            database = await Database.open(connect_arguments, owner="us")
            await database.close()
            assert refusals == []

            refusals = [refusal] * 3
            patch.setattr(sessions, "CONNECT_WITHIN_S", 0)
            with pytest.raises(DatabaseUnreachableError, match=str(refusal.args[-1])):
                await Database.open(connect_arguments, owner="us")

    async def test_wrong_password(self, configured_address: str) -> None:
        wrong = configured_address.replace("keeper:", "keeper:no")
        with pytest.raises(DatabaseUnreachableError, match="password authentication failed"):
            await Database.open(wrong, owner="us")

    async def test_no_such_database(self, configured_server: ConfiguredServer) -> None:
        with pytest.raises(DatabaseUnreachableError, match='"elsewhere" does not exist'):
            await Database.open(configured_server.url("elsewhere"), owner="us")

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql://keeper:top/secret@localhost/rooms",
            "postgresql://keeper:top?secret@localhost/rooms",
            "postgresql://keeper:top#secret@localhost/rooms",
            "postgresql://keeper:top@secret@localhost:no/rooms",
            "postgresql://localhost:no/rooms?password=topsecret",
            "mysql://keeper:topsecret@localhost/rooms",
        ],
    )
    async def test_what_cannot_be_read_is_not_repeated(self, url: str) -> None:
        with pytest.raises(DatabaseUnreachableError) as raised:
            await Database.open(url, owner="us")
        assert "top" not in str(raised.value)
        assert "secret" not in str(raised.value)

    @pytest.mark.parametrize(
        ("arguments", "described"),
        [
            ("postgresql://me:pw@db.example.org:6432/rooms", "rooms at db.example.org:6432"),
            ("postgres://me@[::1]:5432/rooms?sslmode=require", "rooms at [::1]:5432"),
            ("postgresql://me@a:1,b:2/rooms", "rooms at a:1,b:2"),
            ("postgresql:///rooms?host=/run/postgresql&password=pw", "rooms at /run/postgresql"),
            ({"host": "/s", "port": 5432, "database": "rooms", "password": "pw"}, "rooms at /s"),
            ({"host": "db", "port": 5433, "database": "rooms"}, "rooms at db:5433"),
        ],
    )
    def test_a_database_is_described_without_its_password(
        self, arguments: ConnectArguments, described: str
    ) -> None:
        assert sessions.describe(arguments) == f"the database {described}"


async def test_cancelled_reads_leak_no_connection(database: Database) -> None:
    size = database.reads.pool.get_max_size()
    for _ in range(200):
        reads = [
            asyncio.create_task(database.reads.fetchval("SELECT pg_sleep(0.001)"))
            for _ in range(size * 2)
        ]
        await asyncio.sleep(0)
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)
    async with asyncio.timeout(30):
        held = [await database.reads.pool.acquire() for _ in range(size)]
    for connection in held:
        await database.reads.pool.release(connection)


async def test_closing_does_not_wait_for_a_stuck_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "CLOSE_WITHIN_S", 0.05)
    stuck = asyncio.create_task(database.reads.fetchval("SELECT pg_sleep(60)"))
    runs = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)')"
    await until(lambda: database.writer.fetchval(runs))
    await database.close()
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await stuck
