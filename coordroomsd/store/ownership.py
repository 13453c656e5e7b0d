"""Who owns a database: one daemon, proven by a lock of the session it writes with.

The lock and the right to write are lost together, because they are the same connection's. And a
session gives its lock up only after its last transaction has ended, so that whoever gets the lock
reads the final state of the owner before.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import asyncpg

from coordroomsd.store import places
from coordroomsd.store.errors import DatabaseOwnedError, OwnershipLostError

# The first 63 bits of SHA-256("coordroomsd"); locks are each database's own.
LOCK_KEY: Final = 0x609A201AF2474C6F

# A daemon that was killed lets go when the server notices, which takes moments.
TAKE_WITHIN_MS: Final = 3000

_HOLDER: Final = """
    SELECT a.pid, a.backend_start, a.application_name, a.client_addr, l.mode
    FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.classid::bigint << 32 | l.objid::bigint = $1
"""

# Of daemons that share a database each says every second that it is there (presence.py); one that
# has not for so long is gone or stands still.
GONE_AFTER_S: Final = 10

_SHARERS: Final = """
    SELECT string_agg(name, '; ' ORDER BY name) FROM daemons
    WHERE seen_at > clock_timestamp() - make_interval(secs => $1)
"""


@dataclass(frozen=True, slots=True)
class Session:
    """One session of the server; a process id alone comes round again."""

    pid: int
    started_at: datetime | None


@dataclass(frozen=True, slots=True)
class Tenure:
    """A daemon's time as the owner, or as one of those that share a database (sharing.py).

    `owner` is the owner's text in the table `journal`, with the time it began: no two are alike.
    `generation` is the database's, and `batch` the number of the daemon's last committed batch.
    """

    owner: str
    generation: str
    batch: int


async def current_session(connection: asyncpg.Connection) -> Session:
    row = await connection.fetchrow(
        "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    )
    return Session(row["pid"], row["backend_start"])


async def take(connection: asyncpg.Connection) -> None:
    """Become the owner, waiting for up to `TAKE_WITHIN_MS` for the one before to let go.

    :raises DatabaseOwnedError: it did not.
    """
    if await lock_within(connection, TAKE_WITHIN_MS):
        return
    raise DatabaseOwnedError(
        f"the database is in use by another coordroomsd ({await describe_owner(connection)}). "
        "Stop that one, or give this one a database or state directory of its own"
    )


async def take_back(connection: asyncpg.Connection, before: Session, tenure: Tenure) -> Tenure:
    """Become the owner again after `before`, this process's own session, was lost.

    `tenure` is as of the last batch that was committed. A database that does not have it any more
    gets a new generation: clients have numbers that it will give to other events.

    :raises OwnershipLostError: somebody else is the owner, or was in between; or the database is
        not the one that it was.
    """
    while not await try_lock(connection):
        holder = await connection.fetchrow(_HOLDER, LOCK_KEY)
        if holder is None:
            continue
        if Session(holder["pid"], holder["backend_start"]) != before:
            raise OwnershipLostError(
                "another coordroomsd took the database while the connection was lost "
                f"({await describe_owner(connection)}). This one ends; start it again when the "
                "other has stopped"
            )
        # The server has not noticed yet that the connection is gone.
        await connection.execute("SELECT pg_terminate_backend($1::integer, 1000)", before.pid)
    try:
        row = await connection.fetchrow("SELECT owner, generation, batch FROM journal")
    except asyncpg.UndefinedTableError:
        row = None
    if row is None or row["generation"] != tenure.generation:
        raise OwnershipLostError(
            "the database was replaced while the connection was lost. This daemon ends; start it "
            "again to read what is there now"
        )
    if row["batch"] < tenure.batch:
        generation = await places.begin_generation(connection, tenure.generation)
        raise OwnershipLostError(
            f"the database has lost what was committed: its last batch is {row['batch']}, and was "
            f"{tenure.batch} (was a standby promoted that was behind, or an older copy put back?). "
            f"It has a new generation, {generation}, from which clients learn that their numbers "
            "are void. This daemon ends; start it again to serve what is there now"
        )
    if row["owner"] != tenure.owner:
        raise OwnershipLostError(
            f"another coordroomsd had the database while the connection was lost ({row['owner']}). "
            "This one ends; start it again to read what the other wrote"
        )
    await places.move(connection)
    return tenure_of(row)


async def sign(connection: asyncpg.Connection, owner: str) -> Tenure:
    """Write into the database who owns it; the caller does, and has migrated it."""
    return tenure_of(
        await connection.fetchrow(
            """
            UPDATE journal SET owner = $1 || ', since '
                || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            RETURNING owner, generation, batch
            """,
            owner,
        )
    )


async def try_lock(connection: asyncpg.Connection) -> bool:
    locked: bool = await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_KEY)
    return locked


async def lock_within(
    connection: asyncpg.Connection, milliseconds: int, *, shared: bool = False
) -> bool:
    lock = "pg_advisory_lock_shared" if shared else "pg_advisory_lock"
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = {milliseconds}")
            await connection.execute(f"SELECT {lock}($1)", LOCK_KEY)
    except asyncpg.LockNotAvailableError:
        return False
    return True


async def describe_owner(connection: asyncpg.Connection) -> str:
    """Who has the database, for a message."""
    holder = await connection.fetchrow(_HOLDER, LOCK_KEY)
    if holder and holder["mode"] == "ShareLock":
        names = await sharers(connection) or "one that has just come"
        return f"shared by daemons with [cluster] bus: {names}"
    try:
        if await connection.fetchval("SELECT to_regclass('journal')") is not None:
            owner: str | None = await connection.fetchval("SELECT owner FROM journal")
            if owner:
                return owner
    except asyncpg.LockNotAvailableError:
        pass  # It is migrating that very table.
    if holder is None:
        return "which has just let go of it"
    return (
        f"server process {holder['pid']}, {holder['application_name'] or 'no application name'}, "
        f"from {holder['client_addr'] or 'this machine'}"
    )


async def sharers(connection: asyncpg.Connection) -> str:
    """The daemons that share the database now, for a message; empty when none has said so yet."""
    try:
        names: str | None = await connection.fetchval(_SHARERS, GONE_AFTER_S)
    except (asyncpg.UndefinedTableError, asyncpg.LockNotAvailableError):
        return ""  # It is just being migrated.
    return names or ""


def tenure_of(row: Any) -> Tenure:
    return Tenure(row["owner"], row["generation"], row["batch"])
