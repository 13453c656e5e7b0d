"""Reading goes on over lost sessions and a server that is away for a moment."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from coordroomsd.store import read_pools
from coordroomsd.store.private_postgres import PrivatePostgres
from coordroomsd.store.read_pools import ReadPool
from tests.integration.private_servers import count_rows

END_YOURSELF = "SELECT pg_terminate_backend(pg_backend_pid(), 10000)"


class Crashing:
    """A read whose session ends in the middle, the first `times` times."""

    def __init__(self, times: int) -> None:
        self.calls = 0
        self._times = times

    async def __call__(self, session: asyncpg.Connection) -> Any:
        self.calls += 1
        return await session.fetchval(END_YOURSELF if self.calls <= self._times else "SELECT 1")


class TestLostSessions:
    @pytest.fixture
    async def pool(self, connect_arguments: dict[str, Any]) -> AsyncIterator[ReadPool]:
        pool = await ReadPool.open(connect_arguments, 2)
        yield pool
        await pool.close(5)

    async def test_what_was_lost_is_read_again(self, pool: ReadPool) -> None:
        read = Crashing(times=1)
        assert await pool.read(read) == 1
        assert read.calls == 2

    async def test_what_ends_every_session_is_not_tried_for_ever(self, pool: ReadPool) -> None:
        read = Crashing(times=3)
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await pool.read(read)
        assert read.calls == 2
        assert await pool.fetchval("SELECT 1") == 1

    async def test_what_the_server_refuses_is_not_read_again(self, pool: ReadPool) -> None:
        calls = 0

        async def read(session: asyncpg.Connection) -> None:
            nonlocal calls
            calls += 1
            await session.execute("SELECT FROM nowhere")

        with pytest.raises(asyncpg.UndefinedTableError):
            await pool.read(read)
        assert calls == 1

    async def test_closing_ends_what_waits_for_a_session(self, pool: ReadPool) -> None:
        stuck = asyncio.create_task(pool.fetchval("SELECT pg_sleep(60)"))
        await asyncio.sleep(0)
        await pool.close(0.01)
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await stuck


class TestServerAway:
    @pytest.fixture
    async def pool(self, used_server: PrivatePostgres) -> AsyncIterator[ReadPool]:
        pool = await ReadPool.open(used_server.connect_arguments(), 2)
        yield pool
        await pool.close(5)

    async def test_it_is_waited_for(self, used_server: PrivatePostgres, pool: ReadPool) -> None:
        assert used_server.pid is not None
        os.kill(used_server.pid, signal.SIGKILL)
        rows = await asyncio.gather(*(pool.fetchval("SELECT n FROM kept") for _ in range(20)))
        assert rows == [1] * 20
        assert await count_rows(used_server) == 1

    async def test_but_not_for_ever(
        self, used_server: PrivatePostgres, pool: ReadPool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_pools, "PATIENCE_S", 0.05)
        await used_server.stop()
        with pytest.raises(OSError, match=r"No such file|refused"):
            await pool.fetchval("SELECT 1")
