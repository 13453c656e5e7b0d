"""Who shares a database: several daemons, each with a shared lock of the session it writes with.

It is the lock by which one daemon owns a database (ownership.py), so whoever owns it keeps out who
would share it, and the other way round. Each has a row in `daemons` with the number of its last
batch: by that it learns, after a lost connection, whether the batch is stored.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import asyncpg

from coordroomsd.store import ownership, places
from coordroomsd.store.errors import DatabaseOwnedError, DatabaseUnsuitableError, OwnershipLostError
from coordroomsd.store.migrate import migrate, pending
from coordroomsd.store.ownership import (
    GONE_AFTER_S,
    LOCK_KEY,
    TAKE_WITHIN_MS,
    Session,
    Tenure,
    lock_within,
    tenure_of,
    try_lock,
)

# The rows of daemons that are gone tell nobody anything.
FORGET_AFTER_S: Final = 86_400

_OTHERS: Final = """
    SELECT name, bus FROM daemons
    WHERE id <> $1 AND seen_at > clock_timestamp() - make_interval(secs => $2) ORDER BY name
"""


class Member(NamedTuple):
    """A daemon as those that it shares the database with know it."""

    id: int
    name: str
    bus: str


async def enter(connection: asyncpg.Connection) -> list[str]:
    """Become one of those that share the database, migrated by whoever comes first.

    The names of the migrations that were applied.

    :raises DatabaseOwnedError: a daemon without a bus has it.
    :raises MigrationError: see `migrate`; also when others run on it that would have to stop first.
    """
    applied: list[str] = []
    if await try_lock(connection):
        try:
            applied = await migrate(connection)
            await places.recognise(connection)
            await connection.execute("SELECT pg_advisory_lock_shared($1)", LOCK_KEY)
        finally:
            await connection.execute("SELECT pg_advisory_unlock($1)", LOCK_KEY)
        return applied
    if not await lock_within(connection, TAKE_WITHIN_MS, shared=True):
        raise DatabaseOwnedError(
            "the database is in use by a coordroomsd that has no bus and shares it with nobody "
            f"({await ownership.describe_owner(connection)}). Give that one [cluster] bus too, "
            "or stop it"
        )
    if waiting := await pending(connection):
        others = await ownership.sharers(connection) or "which has just come"
        raise DatabaseUnsuitableError(
            f"the database needs {waiting[0].name}, and other daemons run on it "
            f"({others}). Stop them all, start one of this version, then the "
            "others"
        )
    return applied


async def sign(connection: asyncpg.Connection, member: Member) -> Tenure:
    """Write into the database that `member` is one of those that share it.

    :raises DatabaseUnsuitableError: another one is on another bus, and would never be heard.
    """
    for other in await connection.fetch(_OTHERS, member.id, GONE_AFTER_S):
        if other["bus"] != member.bus:
            raise DatabaseUnsuitableError(
                f"{other['name']} shares the database over the bus {other['bus']!r}, this daemon "
                f"has {member.bus!r}: give both the same [cluster] bus"
            )
    await connection.execute(
        "DELETE FROM daemons WHERE seen_at < clock_timestamp() - make_interval(secs => $1)",
        FORGET_AFTER_S,
    )
    await connection.execute(
        "INSERT INTO daemons (id, name, bus, seen_at) VALUES ($1, $2, $3, clock_timestamp())",
        *member,
    )
    return await _tenure(connection, member.id)


async def enter_again(
    connection: asyncpg.Connection, member: Member, before: Session, tenure: Tenure
) -> Tenure:
    """Share the database again after `before`, this daemon's own session, was lost.

    `tenure` is as of the last batch that was committed. A database that does not have it any more
    gets a new generation: clients have numbers that it will give to other events.

    :raises OwnershipLostError: it is not the database that it was, or a daemon without a bus had
        it in between.
    """
    # Whatever the lost session had begun has to have ended before its batch is looked for.
    await connection.execute(
        """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
           WHERE pid = $1 AND backend_start = $2""",
        before.pid,
        before.started_at,
    )
    if not await lock_within(connection, TAKE_WITHIN_MS, shared=True):
        raise OwnershipLostError(
            "a coordroomsd without a bus took the database while the connection was lost "
            f"({await ownership.describe_owner(connection)}). This daemon ends"
        )
    try:
        now = await _tenure(connection, member.id)
    except (asyncpg.UndefinedTableError, LookupError):
        now = None
    if now is None or now.generation != tenure.generation:
        raise OwnershipLostError(
            "the database was replaced, or has lost what another daemon had committed, while the "
            "connection was lost. This daemon ends; start it again to read what is there now"
        )
    if now.batch < tenure.batch:
        await places.begin_generation(connection, tenure.generation)
        raise OwnershipLostError(
            f"the database has lost what was committed: this daemon's last batch is {now.batch} "
            f"there, and was {tenure.batch}. It has a new generation, from which clients learn "
            "that their numbers are void. Every daemon on it ends; start them again to serve what "
            "is there now"
        )
    if now.owner != tenure.owner:
        raise OwnershipLostError(
            "a daemon without a bus had the database while the connection was lost "
            f"({now.owner}). This one ends; start it again to read what the other wrote"
        )
    await places.move(connection)
    return now


async def _tenure(connection: asyncpg.Connection, daemon_id: int) -> Tenure:
    row: Any = await connection.fetchrow(
        "SELECT owner, generation, d.batch FROM journal, daemons d WHERE d.id = $1", daemon_id
    )
    if row is None:
        raise LookupError(f"no daemon {daemon_id}")
    return tenure_of(row)
