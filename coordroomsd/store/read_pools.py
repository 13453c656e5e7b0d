"""Reading: a few sessions, each made when it is needed, that outlast the database's crashes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, TypeVar

import asyncpg

from coordroomsd.store import faults, sessions
from coordroomsd.store.sessions import ConnectArguments

# A crashed server is back within a second; a caller who waits longer should hear that it is away.
PATIENCE_S: Final = 5.0
_LOOK_EVERY_S: Final = 0.02

# While a standby takes over there are only standbys.
_AWAY: Final = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TargetServerAttributeNotMatched,
)

T = TypeVar("T")


class Statistics(NamedTuple):
    """Sessions that there are, those of them that are lent, and reads that wait for one."""

    open: int
    in_use: int
    asking: int


class ReadPool:
    """Read-only sessions, each lent for one read, by any task.

    A database that is away is waited for, up to `PATIENCE_S`. What was lost with its session is
    read once more, which does no harm; not twice, for it may be what made the server crash.
    """

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self._asking = 0
        self._looking: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, arguments: ConnectArguments, size: int) -> ReadPool:
        """With one session open.

        :raises DatabaseUnreachableError, DatabaseUnsuitableError: see `sessions.connect`.
        """
        return cls(await sessions.open_read_pool(arguments, size))

    def statistics(self) -> Statistics:
        size = self.pool.get_size()
        in_use = size - self.pool.get_idle_size()
        return Statistics(size, in_use, self._asking)

    async def fetch(self, sql: str, *arguments: Any) -> list[asyncpg.Record]:
        return await self.read(lambda session: session.fetch(sql, *arguments))

    async def fetchrow(self, sql: str, *arguments: Any) -> asyncpg.Record | None:
        return await self.read(lambda session: session.fetchrow(sql, *arguments))

    async def fetchval(self, sql: str, *arguments: Any) -> Any:
        return await self.read(lambda session: session.fetchval(sql, *arguments))

    async def read(self, read: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """What `read` gives, which runs again from its beginning when its session is lost."""
        async with self._session() as session:
            try:
                return await read(session)
            except Exception as error:
                if not _went_with_its_session(error):
                    raise
        async with self._session() as session:
            return await read(session)

    async def renew(self) -> None:
        """Make new sessions from now on; what is being read is read to its end."""
        await self.pool.expire_connections()

    async def close(self, within_s: float) -> None:
        """Waits for reads that are under way, but not for long."""
        if self._looking:
            self._looking.cancel()
        try:
            await asyncio.wait_for(self.pool.close(), within_s)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.pool.terminate()

    def terminate(self) -> None:
        self.pool.terminate()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[asyncpg.Connection]:
        self._asking += 1
        try:
            session = await self._acquire()
        finally:
            self._asking -= 1
        try:
            yield session
        finally:
            await self.pool.release(session)

    async def _acquire(self) -> asyncpg.Connection:
        deadline = asyncio.get_running_loop().time() + PATIENCE_S
        while True:
            try:
                return await self.pool.acquire()
            except _AWAY:
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0:
                    raise
            await self._until_there(left)

    async def _until_there(self, within_s: float) -> None:
        """Return when there is a session to be had; one looks for all that wait."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="looks for the database")
        await asyncio.wait([self._looking], timeout=within_s)

    async def _look(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    await asyncio.sleep(_LOOK_EVERY_S)
                    try:
                        async with self.pool.acquire():
                            return
                    except (*_AWAY, asyncpg.PostgresError):
                        continue
        except TimeoutError:
            pass


def _went_with_its_session(error: Exception) -> bool:
    """Whether another session may do; one that took too long would take too long again."""
    lost = faults.fault_of(error) is faults.Fault.OUTCOME_UNKNOWN
    return lost and not isinstance(error, TimeoutError)
