"""That a daemon is there, and who waits at it, for those that it shares the database with."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

import asyncpg

from coordroomsd.store.errors import OwnershipLostError
from coordroomsd.store.ownership import GONE_AFTER_S, LOCK_KEY
from coordroomsd.store.reads import Reader
from coordroomsd.store.sharing import Member

# Beside the one by which the database is shared.
LEAD_KEY: Final = LOCK_KEY + 2

# A room and a membership in it.
Place = tuple[int, int]

_HERE: Final = """
    UPDATE daemons SET seen_at = clock_timestamp() WHERE id = $1
    RETURNING (SELECT generation FROM journal), (SELECT version FROM identities),
              (SELECT count(*) FROM daemons
               WHERE id <> $1 AND seen_at > clock_timestamp() - make_interval(secs => $2)),
              seen_at
"""

_COME: Final = """
    INSERT INTO parked (daemon_id, room_id, membership_id)
    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING
"""

_GONE: Final = """
    DELETE FROM parked USING unnest($2::bigint[], $3::bigint[]) AS gone (room_id, membership_id)
    WHERE parked.daemon_id = $1 AND parked.room_id = gone.room_id
      AND parked.membership_id = gone.membership_id
"""

_WAITING: Final = """
    SELECT membership_id FROM parked JOIN daemons ON daemons.id = daemon_id
    WHERE room_id = $1 AND daemon_id <> $2
      AND seen_at > clock_timestamp() - make_interval(secs => $3)
"""


class Seen(NamedTuple):
    """The database's generation, the version of who is enrolled, how many others are there."""

    generation: str
    identities: int
    others: int
    # The database's time.
    at: datetime


async def here(session: asyncpg.Connection, member: Member) -> Seen:
    """Say that the daemon is there.

    :raises OwnershipLostError: those that share the database do not know it any more.
    """
    row = await session.fetchrow(_HERE, member.id, GONE_AFTER_S)
    if row is None:
        raise OwnershipLostError(
            f"{member.name} was not heard of for so long that it was forgotten, or the database "
            "was replaced. This daemon ends; start it again to serve what is there now"
        )
    return Seen(*row)


async def lead(session: asyncpg.Connection) -> bool:
    """Whether this daemon is the one that does what is to be done once; until its session ends."""
    leads: bool = await session.fetchval("SELECT pg_try_advisory_lock($1)", LEAD_KEY)
    return leads


async def leave(session: asyncpg.Connection, daemon_id: int) -> None:
    """Say that the daemon is no more. What it has committed needs it no longer."""
    await nobody_waits(session, daemon_id)
    await session.execute("DELETE FROM daemons WHERE id = $1", daemon_id)


async def nobody_waits(session: asyncpg.Connection, daemon_id: int) -> None:
    await session.execute("DELETE FROM parked WHERE daemon_id = $1", daemon_id)


async def wait(session: asyncpg.Connection, daemon_id: int, places: Collection[Place]) -> None:
    """Say that calls are parked there."""
    if places:
        await session.execute(_COME, daemon_id, *map(list, zip(*places, strict=True)))


async def wait_no_more(
    session: asyncpg.Connection, daemon_id: int, places: Collection[Place]
) -> None:
    if places:
        await session.execute(_GONE, daemon_id, *map(list, zip(*places, strict=True)))


async def waiting_elsewhere(reader: Reader, room_id: int, daemon_id: int) -> frozenset[int]:
    """The memberships in a room that calls are parked for at other daemons."""
    rows = await reader.fetch(_WAITING, room_id, daemon_id, GONE_AFTER_S)
    return frozenset(row["membership_id"] for row in rows)
