"""Whole databases as files and back: on both kinds of server, of any schema, all or nothing."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from coordroomsd.archives import restores, tables
from coordroomsd.archives.backups import write_backup
from coordroomsd.archives.errors import ArchiveError, NotEmptyError
from coordroomsd.archives.restores import BackupReader, restore
from coordroomsd.store import ownership, sessions
from coordroomsd.store.database import Database
from coordroomsd.store.errors import (
    DatabaseNewerError,
    DatabaseOwnedError,
    MigrationChangedError,
    NoSpaceError,
)
from coordroomsd.store.migrate import migrate, pending, shipped
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.sessions import ConnectArguments
from tests.clocks import FakeClock
from tests.integration.archived import backed_up, contents, fill, lines, restored, session
from tests.integration.daemons import Party, running
from tests.integration.stored_logs import check_stored
from tests.postgres_servers import execute


@pytest.fixture(scope="module")
async def backup(server: PrivatePostgres) -> AsyncIterator[bytes]:
    """Of a database with something of everything."""
    keeper = server.connect_arguments("postgres")
    await execute(keeper, "CREATE DATABASE backed_up")
    address = server.connect_arguments("backed_up")
    async with running(address) as daemon:
        await fill(daemon)
    yield await backed_up(address)
    await execute(keeper, "DROP DATABASE backed_up WITH (FORCE)")


class TestTables:
    async def test_all_are_known(self, connect_arguments: dict[str, Any]) -> None:
        async with session(connect_arguments) as connection:
            found = await connection.fetch(
                """SELECT relname FROM pg_class
                   WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"""
            )
            assert {row["relname"] for row in found} == set(tables.ALL)

    async def test_dropping_leaves_nothing(self, connect_arguments: dict[str, Any]) -> None:
        async with session(connect_arguments) as connection:
            await tables.drop_all(connection)
            for catalog, name in (("class", "rel"), ("proc", "pro"), ("type", "typ")):
                left = f"""SELECT {name}name FROM pg_{catalog}
                           WHERE {name}namespace = current_schema()::regnamespace"""
                assert await connection.fetch(left) == []


class TestRoundTrip:
    async def test_everything_comes_back(self, backup: bytes, address: ConnectArguments) -> None:
        """On a server of the same version and on one of another."""
        assert all(contents(backup).values())
        done = await restored(backup, address)
        again = await backed_up(address)
        assert contents(again) == contents(backup)
        before, after = (json.loads(lines(one)[0]) for one in (backup, again))
        assert after["batch"] == before["batch"]
        assert after["generation"] == done.generation != before["generation"]
        assert (done.extent.rooms, done.extent.events) == (2, len(contents(backup)["events"]))
        database = await Database.open(address, owner="the test")
        await check_stored(database.reads)
        await database.close()

    async def test_from_another_version_too(
        self, configured_address: str, private_address: dict[str, Any]
    ) -> None:
        async with running(configured_address) as daemon:
            await fill(daemon)
        backup = await backed_up(configured_address)
        await restored(backup, private_address)
        assert contents(await backed_up(private_address)) == contents(backup)

    async def test_a_daemon_goes_on_from_it(
        self, backup: bytes, private_address: dict[str, Any]
    ) -> None:
        await restored(backup, private_address)
        async with running(private_address) as daemon:
            ada, bob = daemon.party("ada"), daemon.party("bob")
            [question, answer] = (await ada.ok("GET", "/rooms/plan/messages"))["messages"]
            sent = {"messages": [{key: answer[key] for key in ("kind", "body", "reply_to")}]}
            again = await bob.call("POST", "/rooms/plan/messages", sent, idempotency_key="one")
            assert again.replayed
            assert again.body["messages"][0]["seq"] == answer["seq"]
            revoked = await daemon.operator.ok("DELETE", "/participants/emil/tokens")
            assert revoked == {"revoked": 1}
            assert await ada.say("plan", "on") == [question["seq"] + 7]

    async def test_what_ran_out_meanwhile_ends_once(
        self, backup: bytes, private_address: dict[str, Any]
    ) -> None:
        await restored(backup, private_address)
        async with session(private_address) as connection:
            now = await connection.fetchval("SELECT clock_timestamp()")
        for _ in range(2):
            async with running(private_address, clock=FakeClock(now + timedelta(days=1))) as daemon:
                bob = daemon.party("bob")
                await bob.say("plan", "anybody?")
                log = await bob.log("plan")
                assert log.count(("status", "expired")) == log.count(("claim", "expired")) == 1

    async def test_of_an_older_schema_is_brought_up_to_date(
        self, private_address: dict[str, Any], configured_address: str
    ) -> None:
        async with session(configured_address) as connection:
            await migrate(connection, shipped()[:1])
            await connection.execute(
                """INSERT INTO participants VALUES
                   (1, 'default', 'ada', 'ada', 'agent', 'agent', NULL, NULL, now())"""
            )
        await restored(await backed_up(configured_address), private_address)
        async with session(private_address) as connection:
            assert await pending(connection) == []
            assert await connection.fetchval("SELECT name FROM participants") == "ada"


class WritesMeanwhile:
    """A session with the database, during whose copying of `rooms` somebody says something."""

    def __init__(self, connection: asyncpg.Connection, party: Party) -> None:
        self._connection = connection
        self._party = party

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def copy_from_table(self, table: str, **options: Any) -> str:
        copied: str = await self._connection.copy_from_table(table, **options)
        if table == "rooms":
            await self._party.say("plan", "meanwhile")
        return copied


async def test_it_is_of_one_moment_and_no_writer_waits_for_it(
    connect_arguments: dict[str, Any], private_address: dict[str, Any]
) -> None:
    output = io.BytesIO()
    async with running(connect_arguments) as daemon:
        [ada] = await daemon.room("plan", "ada")
        async with session(connect_arguments, sessions.BACKUP_SETTINGS) as connection:
            await write_backup(WritesMeanwhile(connection, ada), output)
        assert len(await ada.log("plan")) == 2
    await restored(output.getvalue(), private_address)
    async with running(private_address) as daemon:
        assert await daemon.party("ada").log("plan") == [("member", "joined")]


class TestRefusals:
    async def test_an_empty_database_gives_no_backup(self, private_address: dict[str, Any]) -> None:
        with pytest.raises(ArchiveError, match="nothing to back up"):
            await backed_up(private_address)

    async def test_what_is_there_is_not_overwritten(
        self, backup: bytes, private_address: dict[str, Any]
    ) -> None:
        await restored(backup, private_address)
        before = await backed_up(private_address)
        with pytest.raises(NotEmptyError, match="not empty \\(participants, rooms"):
            await restored(backup, private_address)
        assert contents(await backed_up(private_address)) == contents(before)

    async def test_a_database_that_only_ever_started_is_empty(
        self, backup: bytes, address: ConnectArguments
    ) -> None:
        async with running(address):
            pass
        await restored(backup, address)
        assert contents(await backed_up(address)) == contents(backup)

    async def test_not_while_a_daemon_has_it(
        self, opened: Database, address: ConnectArguments, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ownership, "TAKE_WITHIN_MS", 50)
        async with session(address) as connection:
            with pytest.raises(DatabaseOwnedError, match="host here, pid 1"):
                await ownership.take(connection)

    async def test_a_disk_that_fills_up_leaves_nothing(
        self,
        backup: bytes,
        private_address: dict[str, Any],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def full() -> None:
            raise NoSpaceError("full")

        monkeypatch.setattr(restores, "_CHUNK", 1)
        with pytest.raises(NoSpaceError):
            await restored(backup, private_address, full)
        await _is_empty(private_address)

    async def test_one_that_is_interrupted_at_its_end_leaves_nothing(
        self, backup: bytes, private_address: dict[str, Any]
    ) -> None:
        async with session(private_address) as connection:
            reader = BackupReader(io.BytesIO(backup))
            with pytest.raises(asyncio.CancelledError):
                await restore(reader, InterruptedLate(connection), lambda: None)
        await _is_empty(private_address)


class InterruptedLate:
    """A session with the database during whose last long statement somebody presses Ctrl-C."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def execute(self, sql: str, *arguments: Any) -> str:
        if sql.startswith("ANALYZE"):
            raise asyncio.CancelledError
        done: str = await self._connection.execute(sql, *arguments)
        return done


Damage = Callable[[list[bytes]], list[bytes]]


def _with_header(**changes: Any) -> Damage:
    def damage(found: list[bytes]) -> list[bytes]:
        return [json.dumps(json.loads(found[0]) | changes).encode() + b"\n", *found[1:]]

    return damage


def _without_a_row(found: list[bytes]) -> list[bytes]:
    return [*found[:2], *found[3:]]


def _without_the_last_table(found: list[bytes]) -> list[bytes]:
    last = max(number for number, line in enumerate(found) if line.startswith(b'{"table"'))
    return _summed([*found[:last], found[-1]])


def _with_another_column(found: list[bytes]) -> list[bytes]:
    return _summed([found[0], found[1].replace(b'"name"', b'"nome"'), *found[2:]])


def _with_a_row_twice(found: list[bytes]) -> list[bytes]:
    return _summed([*found[:3], *found[2:]])


def _with_a_wrong_value(found: list[bytes]) -> list[bytes]:
    return _summed([*found[:2], b"x" + found[2], *found[3:]])


def _with_a_foreign_table(found: list[bytes]) -> list[bytes]:
    return _summed([found[0], b'{"table": "pg_authid", "columns": ["oid"]}\n', *found[1:]])


def _summed(found: list[bytes]) -> list[bytes]:
    """With the right checksum: not by accident."""
    end = json.loads(found[-1])
    end["sha256"] = hashlib.sha256(b"".join(found[:-1])).hexdigest()
    return [*found[:-1], json.dumps(end).encode() + b"\n"]


class TestDamage:
    @pytest.mark.parametrize(
        ("damage", "error", "message"),
        [
            (_without_a_row, ArchiveError, "checksum"),
            (lambda found: found[:-1], ArchiveError, "cut short"),
            (lambda found: [*found[:-1], found[-1][:-1]], ArchiveError, "cut short"),
            (lambda found: [*found, b"more\n"], ArchiveError, "behind its end"),
            (_without_the_last_table, ArchiveError, "lacks enrolled"),
            (_with_another_column, ArchiveError, "columns that it never had"),
            (_with_a_foreign_table, ArchiveError, "columns that it never had"),
            (_with_a_row_twice, ArchiveError, "in table participants: duplicate key"),
            (_with_a_wrong_value, ArchiveError, "in table participants: invalid input"),
            (_with_header(version=2), ArchiveError, "of format 2"),
            (_with_header(format="another"), ArchiveError, "no backup"),
            (_with_header(migrations="none"), ArchiveError, "no complete header"),
            (_with_header(migrations=[["9000_later.sql", "0"]]), DatabaseNewerError, "9000_later"),
            (
                _with_header(migrations=[[shipped()[0].name, "0"]]),
                MigrationChangedError,
                "another one here",
            ),
        ],
    )
    async def test_it_is_named_and_leaves_nothing(
        self,
        damage: Damage,
        error: type[Exception],
        message: str,
        backup: bytes,
        private_address: dict[str, Any],
    ) -> None:
        damaged = gzip.compress(b"".join(damage(lines(backup))))
        with pytest.raises(error, match=message):
            await restored(damaged, private_address)
        await _is_empty(private_address)

    async def test_a_file_that_ends_early_leaves_nothing(
        self, backup: bytes, private_address: dict[str, Any]
    ) -> None:
        for length in (0, 1, 9, 100, len(backup) // 2, len(backup) - 9, len(backup) - 1):
            with pytest.raises(ArchiveError):
                await restored(backup[:length], private_address)
            await _is_empty(private_address)

    async def test_nor_does_one_with_a_wrong_byte(
        self, backup: bytes, private_address: dict[str, Any]
    ) -> None:
        for place in (200, len(backup) // 2, len(backup) - 5):
            damaged = bytearray(backup)
            damaged[place] ^= 0x40
            with pytest.raises((ArchiveError, MigrationChangedError, DatabaseNewerError)):
                await restored(bytes(damaged), private_address)
            await _is_empty(private_address)


async def _is_empty(address: ConnectArguments) -> None:
    async with session(address) as connection:
        assert await tables.filled(connection) == []
