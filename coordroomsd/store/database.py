"""The database while this daemon owns or shares it: one session that writes, a few that read."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import asyncpg

from coordroomsd.store import disk_space, ownership, places, sessions, sharing
from coordroomsd.store.errors import DatabaseUnsuitableError, OwnershipLostError, StoreError
from coordroomsd.store.migrate import migrate
from coordroomsd.store.ownership import Session, Tenure
from coordroomsd.store.read_pools import ReadPool
from coordroomsd.store.sessions import ConnectArguments

log = logging.getLogger(__name__)

LONGEST_PAUSE_S: Final = 1.0
CLOSE_WITHIN_S: Final = 5.0

# What a connection that is cut raises, also in the midst of its being made.
CONNECTION_FAULTS: Final = (
    StoreError,
    OSError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)


class Database:
    """Made by `open`; nobody else writes to it until `close`, but for those it is shared with.

    `writer` is the one session that writes, and belongs to one task. `reads` is a pool of
    read-only ones. `batch` is the last committed batch, as of the last (re)opening or as
    `committed` was told since. `applied` names the migrations that `open` ran.
    """

    def __init__(
        self,
        arguments: ConnectArguments,
        *,
        writer: asyncpg.Connection,
        session: Session,
        reads: ReadPool,
        tenure: Tenure,
        applied: list[str],
        data: Path | None,
        member: sharing.Member | None = None,
    ) -> None:
        self.member = member
        self.writer = writer
        self.reads = reads
        self.applied = applied
        self._arguments = arguments
        self._data = data
        self._session = session
        self._tenure = tenure

    @property
    def generation(self) -> str:
        return self._tenure.generation

    @property
    def batch(self) -> int:
        return self._tenure.batch

    def committed(self, batch: int) -> None:
        """Remember the last batch that was: a database without it is another one."""
        self._tenure = replace(self._tenure, batch=batch)

    @property
    def owner(self) -> str:
        """What another daemon is told that finds the database taken."""
        return self.member.name if self.member else self._tenure.owner

    async def connect(self, settings: Mapping[str, str]) -> asyncpg.Connection:
        """A session of the caller's own.

        :raises DatabaseUnreachableError, DatabaseUnsuitableError: see `sessions.connect`.
        """
        return await sessions.connect(self._arguments, settings)

    @classmethod
    async def open(
        cls,
        arguments: ConnectArguments,
        *,
        owner: str,
        data: Path | None = None,
        read_pool_size: int = 4,
        member: sharing.Member | None = None,
    ) -> Database:
        """Connect, take ownership, migrate.

        `owner` says who we are, like "db.example.org, pid 4711"; the time is added. `data` is
        where a server of our own keeps everything. As a `member` the daemon shares the database
        with others instead of owning it.

        :raises DatabaseUnreachableError: nobody answers there, or refuses us.
        :raises DatabaseUnsuitableError: too old, a standby, or behind a transaction pooler.
        :raises DatabaseOwnedError: another daemon has it; the message names that one.
        :raises MigrationError: see `migrate`.
        """
        async with contextlib.AsyncExitStack() as undo:
            writer = await sessions.connect(arguments, sessions.WRITE_SETTINGS)
            undo.callback(writer.terminate)
            reads = await ReadPool.open(arguments, read_pool_size)
            undo.callback(reads.terminate)
            await _refuse_pooler(writer, reads, sessions.describe(arguments))
            await _warn_when_not_durable(writer, sessions.describe(arguments))
            if member is None:
                await ownership.take(writer)
                applied = await migrate(writer)
                await places.recognise(writer)
                tenure = await ownership.sign(writer, owner)
            else:
                applied = await sharing.enter(writer)
                tenure = await sharing.sign(writer, member)
            session = await ownership.current_session(writer)
            undo.pop_all()
        return cls(
            arguments,
            writer=writer,
            session=session,
            reads=reads,
            tenure=tenure,
            applied=applied,
            data=data,
            member=member,
        )

    @property
    def is_connected(self) -> bool:
        """Whether there is a session to write with, as far as is known without using it."""
        return not self.writer.is_closed()

    @property
    def free_bytes(self) -> int | None:
        """What is left on the disk of a server of our own; None of one elsewhere."""
        return None if self._data is None else disk_space.free_bytes(self._data)

    def check_space(self) -> None:
        """:raises NoSpaceError: the next write could take the server down."""
        if self._data is not None:
            disk_space.check_space(self._data)

    async def reopen_writer(self) -> None:
        """Replace a lost write session; returns when there is one, however long it takes.

        Whatever the old session had begun has ended by then, so `batch` tells what became of it.

        :raises OwnershipLostError: somebody else owned the database in between.
        """
        self.writer.terminate()
        pause = 0.0
        while True:
            try:
                await self._connect_writer()
            except OwnershipLostError:
                raise
            except CONNECTION_FAULTS as error:
                if not pause:
                    log.warning("the write connection is lost, trying again: %s", error)
            else:
                log.info("the write connection is back")
                return
            pause = min(LONGEST_PAUSE_S, pause * 2 or 0.01)
            await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def side_session(self) -> AsyncIterator[asyncpg.Connection]:
        """A session for upkeep: it may write, and no write of the journal waits for it.

        :raises NoSpaceError: as for any other write.
        """
        self.check_space()
        session = await sessions.connect(self._arguments, sessions.UPKEEP_SETTINGS)
        try:
            yield session
        finally:
            await session.close(timeout=CLOSE_WITHIN_S)

    async def close(self) -> None:
        """Give the database up; waits for reads that are under way, but not for long."""
        await self.reads.close(CLOSE_WITHIN_S)
        await sessions.close(self.writer, CLOSE_WITHIN_S)

    async def _connect_writer(self) -> None:
        async with contextlib.AsyncExitStack() as undo:
            writer = await sessions.connect(self._arguments, sessions.WRITE_SETTINGS)
            undo.callback(writer.terminate)
            if self.member is None:
                tenure = await ownership.take_back(writer, self._session, self._tenure)
            else:
                tenure = await sharing.enter_again(writer, self.member, self._session, self._tenure)
            session = await ownership.current_session(writer)
            # They may be with another server, which was the primary.
            await self.reads.renew()
            undo.pop_all()
        self.writer, self._session, self._tenure = writer, session, tenure


async def _refuse_pooler(writer: asyncpg.Connection, reads: ReadPool, where: str) -> None:
    if not await _sessions_are_ours(writer, reads):
        raise DatabaseUnsuitableError(
            f"{where} is behind a connection pooler in transaction mode, where locks and "
            "settings do not last; configure the address of PostgreSQL itself"
        )
    kept = await writer.fetchval("SELECT current_setting('plan_cache_mode')")
    if kept != sessions.WRITE_SETTINGS["plan_cache_mode"]:
        raise DatabaseUnsuitableError(
            f"{where} is behind a connection pooler that drops session settings, the durability "
            "of commits among them; configure the address of PostgreSQL itself"
        )


async def _sessions_are_ours(writer: asyncpg.Connection, reads: ReadPool) -> bool:
    """Whether each session keeps its server process and shares it with no other.

    A pooler in transaction mode hands the same idle process to both, or changes it under load.
    """
    own_process = "SELECT pg_backend_pid()"
    try:
        own = await writer.fetchval(own_process)
        for _ in range(3):
            shared = await reads.fetchval(own_process)
            again = await writer.fetchval(own_process)
            if shared == own or again != own:
                return False
    except (asyncpg.DuplicatePreparedStatementError, asyncpg.InvalidSQLStatementNameError):
        return False  # The statement of one session was found in another, or was not found.
    return True


async def _warn_when_not_durable(writer: asyncpg.Connection, where: str) -> None:
    for setting in ("fsync", "full_page_writes"):
        if await writer.fetchval("SELECT current_setting($1)", setting) != "on":
            log.warning(
                "%s has %s switched off: a crash of its machine can lose or corrupt what was "
                "acknowledged. Switch it on in postgresql.conf",
                where,
                setting,
            )
