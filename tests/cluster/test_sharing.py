"""Sharing a database: who may, and what becomes of it when connections, batches or daemons go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from coordroomsd.store import migrate as migrate_module
from coordroomsd.store import ownership, presence, sharing
from coordroomsd.store.database import Database
from coordroomsd.store.errors import (
    DatabaseOwnedError,
    DatabaseUnsuitableError,
    OwnershipLostError,
)
from coordroomsd.store.migrate import Migration, shipped
from coordroomsd.store.sharing import Member
from tests.cluster.daemons import together
from tests.integration.daemons import message
from tests.polling import until
from tests.postgres_servers import connect

POSTING = ("POST", "/rooms/plan/messages", message("x"))
ONE = Member(1, "host here, pid 1", "postgres")
TWO = Member(2, "host there, pid 2", "postgres")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is there stays, so that waiting for it only costs time."""
    for module in (ownership, sharing):
        monkeypatch.setattr(module, "TAKE_WITHIN_MS", 50)


@pytest.fixture
async def shared(connect_arguments: dict[str, Any]) -> AsyncIterator[Database]:
    database = await opened(connect_arguments, ONE)
    yield database
    await database.close()


async def opened(arguments: dict[str, Any], member: Member) -> Database:
    return await Database.open(arguments, owner=member.name, member=member)


class TestWhoMay:
    async def test_one_without_a_bus_is_told_who_shares(
        self, connect_arguments: dict[str, Any], shared: Database
    ) -> None:
        with pytest.raises(DatabaseOwnedError, match="host here, pid 1"):
            await Database.open(connect_arguments, owner="alone")

    async def test_one_with_a_bus_is_told_who_owns(
        self, connect_arguments: dict[str, Any], database: Database
    ) -> None:
        with pytest.raises(DatabaseOwnedError, match=r"the test, since .*cluster. bus"):
            await opened(connect_arguments, ONE)

    async def test_all_are_on_one_bus(
        self, connect_arguments: dict[str, Any], shared: Database
    ) -> None:
        with pytest.raises(DatabaseUnsuitableError, match=r"host here, pid 1 .* 'postgres'"):
            await opened(connect_arguments, TWO._replace(bus="nats://elsewhere"))
        other = await opened(connect_arguments, TWO)
        assert (await presence.here(shared.writer, ONE)).others == 1
        await other.close()

    async def test_nobody_migrates_under_another(
        self,
        connect_arguments: dict[str, Any],
        shared: Database,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        newer = [*shipped(), Migration(9999, "9999_newer.sql", "SELECT 1")]
        monkeypatch.setattr(migrate_module, "shipped", lambda: newer)
        with pytest.raises(DatabaseUnsuitableError, match=r"9999_newer.*host here, pid 1"):
            await opened(connect_arguments, TWO)


class TestLostSessions:
    async def test_it_learns_what_became_of_its_batch(
        self, connect_arguments: dict[str, Any], shared: Database
    ) -> None:
        await shared.writer.execute("UPDATE daemons SET batch = 7 WHERE id = 1")
        other = await opened(connect_arguments, TWO)
        await other.writer.execute("UPDATE daemons SET batch = 9 WHERE id = 2")
        await _cut(shared)
        await shared.reopen_writer()
        assert shared.batch == 7
        await other.close()

    async def test_what_its_session_had_begun_has_ended_by_then(
        self, connect_arguments: dict[str, Any], shared: Database
    ) -> None:
        """The network is gone, and the server goes on with what it was sent."""
        lost = shared.writer
        await lost.execute("BEGIN")
        await lost.execute("UPDATE daemons SET batch = 7 WHERE id = 1")
        shared.writer = _Gone()
        await shared.reopen_writer()
        assert shared.batch == 0
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await lost.execute("COMMIT")

    async def test_one_that_was_forgotten_ends(self, shared: Database) -> None:
        await shared.writer.execute("DELETE FROM daemons")
        with pytest.raises(OwnershipLostError, match="forgotten"):
            await presence.here(shared.writer, ONE)

    async def test_what_one_finds_missing_is_a_new_generation_for_all(
        self, connect_arguments: dict[str, Any]
    ) -> None:
        """As after the promotion of a standby that was behind."""
        async with together(connect_arguments, may_fail=True) as (one, other):
            await one.party("ada").create("plan")
            keeper = await connect(connect_arguments)
            await keeper.execute("UPDATE daemons SET batch = 0")
            await keeper.close()
            before = one.services.generation
            await _cut(one.database)
            writing = asyncio.create_task(one.party("ada").call(*POSTING))
            with pytest.raises(OwnershipLostError, match="has lost what was committed"):
                await one.daemon.failed
            with pytest.raises(OwnershipLostError, match="another generation"):
                await other.daemon.failed
            now = await other.database.reads.fetchval("SELECT generation FROM journal")
            assert now != before
            writing.cancel()

    async def test_a_room_that_went_back_is_noticed(
        self, connect_arguments: dict[str, Any]
    ) -> None:
        async with together(connect_arguments, may_fail=True) as (one, _):
            await one.party("ada").create("plan")
            await one.party("ada").say("plan")
            keeper = await connect(connect_arguments)
            await keeper.execute("UPDATE rooms SET version = 0")
            await keeper.close()
            await one.party("ada").refused("store_unavailable", "GET", "/rooms/plan")
            with pytest.raises(OwnershipLostError, match="has lost what was committed"):
                await one.daemon.failed


async def test_a_daemon_that_ends_leaves_nothing(connect_arguments: dict[str, Any]) -> None:
    async with together(connect_arguments, 1) as [one]:
        await one.party("ada").create("plan")
        waiting = asyncio.create_task(one.party("ada").wait("plan", 1, timeout_s=60))

        async def is_written() -> bool:
            return bool(await one.database.reads.fetchval("SELECT count(*) FROM parked"))

        await until(is_written)
        one.services.hub.close()
        await waiting
    keeper = await connect(connect_arguments)
    for table in ("parked", "daemons"):
        assert await keeper.fetchval(f"SELECT count(*) FROM {table}") == 0
    await keeper.close()


class _Gone:
    """A session that nothing comes back from."""

    def terminate(self) -> None:
        pass

    def is_closed(self) -> bool:
        return True


async def _cut(database: Database) -> None:
    await database.reads.fetchval(
        "SELECT pg_terminate_backend($1, 10000)", database.writer.get_server_pid()
    )
