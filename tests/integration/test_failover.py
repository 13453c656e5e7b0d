"""A primary that is lost under a running daemon, and the standby that takes over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from coordroomsd.journal import patience
from coordroomsd.store import sessions
from coordroomsd.store.errors import DatabaseUnsuitableError, OwnershipLostError
from coordroomsd.store.read_pools import ReadPool
from tests.integration.daemons import Party, bodies, message, running
from tests.polling import until
from tests.postgres_servers import ConfiguredServer, connect, debian_binaries, execute

STREAMS = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')"
IS_IN_SYNC = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')"
RECEIVES_NOTHING = "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)"
WRITER = "SELECT max(pid) FROM pg_stat_activity WHERE application_name = 'coordroomsd writer'"
WAITS_FOR_STANDBY = f"SELECT ({WRITER} AND wait_event = 'SyncRep') IS NOT NULL"
CAUGHT_UP = "SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication"


@dataclass
class Pair:
    primary: ConfiguredServer
    standby: ConfiguredServer

    @property
    def url(self) -> str:
        """Of both, the primary first."""
        host = f"127.0.0.1:{self.standby.port}"
        return self.primary.url("postgres").replace("/postgres", f",{host}/postgres")

    async def wait_for_standby(self) -> None:
        """From now on, what is committed is on both."""
        await _set(self.primary, "synchronous_standby_names = '*'")
        await _until(self.primary, IS_IN_SYNC)

    async def part(self) -> None:
        """From now on, the standby hears nothing of what is committed."""
        await _set(self.standby, "primary_conninfo = ''")
        await _until(self.standby, RECEIVES_NOTHING)

    async def take_over(self) -> None:
        await execute(self.standby.url("postgres"), "SELECT pg_promote()")


async def _set(server: ConfiguredServer, setting: str) -> None:
    await execute(server.url("postgres"), f"ALTER SYSTEM SET {setting}")
    await execute(server.url("postgres"), "SELECT pg_reload_conf()")


async def _until(server: ConfiguredServer, condition: str) -> None:
    connection = await connect(server.url("postgres"))
    try:
        await until(lambda: connection.fetchval(condition))
    finally:
        await connection.close()


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    found = debian_binaries()
    if not found:
        pytest.skip("needs a PostgreSQL below /usr/lib/postgresql (apt-get install postgresql)")
    primary, standby = ConfiguredServer(found[0]), ConfiguredServer(found[0])
    try:
        await primary.start()
        await standby.start_standby_of(primary)
        await _until(primary, STREAMS)
        yield Pair(primary, standby)
    finally:
        await standby.stop()
        await primary.stop()


async def post(party: Party, body: str) -> Any:
    return await party.call("POST", "/rooms/plan/messages", message(body), idempotency_key=body)


async def test_one_that_has_everything_goes_on_without_anybody_noticing(pair: Pair) -> None:
    await pair.wait_for_standby()
    async with running(pair.url) as daemon:
        ann, bob = await daemon.room("plan", "ann", "bob")
        before = daemon.services.generation
        await ann.say("plan", "kept")
        parked = asyncio.create_task(bob.wait("plan", 3))
        await pair.primary.crash()
        during = asyncio.create_task(post(ann, "during"))
        history = asyncio.create_task(bob.events("plan"))
        await pair.take_over()
        await during
        # Sent again under its key, whatever became of it in between.
        again = await post(ann, "during")
        assert again.body["messages"][0]["seq"] == 4
        assert (await parked)["woken_by"] == [4]
        assert bodies(await history)[0] == "kept"
        assert bodies(await bob.events("plan")) == ["kept", "during"]
        assert daemon.database.generation == before
    async with running(pair.standby.url("postgres")) as daemon:
        assert daemon.services.generation == before


async def test_a_read_waits_for_it(pair: Pair) -> None:
    pool = await ReadPool.open(pair.url, 1)
    await pair.primary.crash()
    read = asyncio.create_task(pool.fetchval("SELECT pg_is_in_recovery()"))
    with pytest.raises(DatabaseUnsuitableError, match="is a standby"):
        await sessions.connect(pair.url, sessions.READ_SETTINGS)
    await pair.take_over()
    assert await read is False
    await pool.close(5)


async def test_one_that_was_behind_is_another_generation(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
    async with running(pair.url, may_fail=True) as daemon:
        ann, bob = await daemon.room("plan", "ann", "bob")
        before = daemon.services.generation
        await ann.say("plan", "kept")
        await _until(pair.primary, CAUGHT_UP)
        await pair.part()
        await ann.say("plan", "lost")
        await pair.primary.crash()
        await pair.take_over()
        assert (await post(ann, "refused")).status == 503
        with pytest.raises(OwnershipLostError, match="has lost what was committed"):
            await daemon.daemon.failed
    async with running(pair.url) as daemon:
        ann, bob = daemon.party("ann"), daemon.party("bob")
        after = daemon.services.generation
        told = await bob.refused(
            "generation_changed", "GET", "/rooms/plan/wait", after_seq=4, generation=before
        )
        assert told["generation"] == after != before
        assert bodies(await bob.events("plan")) == ["kept"]
        assert await ann.say("plan", "anew") == [4]
    async with running(pair.url) as daemon:
        assert daemon.services.generation == after


async def test_what_only_the_primary_has_is_not_acknowledged(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when the session that waited for the standby was cut, and another one sees it."""
    await pair.wait_for_standby()
    async with running(pair.url, may_fail=True) as daemon:
        ann, _ = await daemon.room("plan", "ann", "bob")
        await pair.part()
        monkeypatch.setattr(patience, "PATIENCE_S", 0.2)
        posted = asyncio.create_task(post(ann, "both"))
        await _until(pair.primary, WAITS_FOR_STANDBY)
        first = await _writer(pair)
        await execute(pair.primary.url("postgres"), f"SELECT pg_terminate_backend({first})")
        await _until(pair.primary, WAITS_FOR_STANDBY)
        assert await _writer(pair) != first
        assert (await posted).status == 503
        await pair.primary.crash()
        await pair.take_over()
        while (reply := await post(ann, "both")).status == 503:
            pass
        assert reply.body["messages"][0]["seq"] == 3
        assert not reply.replayed


async def _writer(pair: Pair) -> int:
    connection = await connect(pair.primary.url("postgres"))
    try:
        found: int = await connection.fetchval(WRITER)
        return found
    finally:
        await connection.close()
