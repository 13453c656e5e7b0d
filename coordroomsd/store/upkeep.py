"""Removing what has been kept long enough, on a session for which no write waits."""

from __future__ import annotations

from datetime import datetime

import asyncpg

from coordroomsd.store import ownership
from coordroomsd.store.database import Database
from coordroomsd.store.reads import SQL

# Rows removed in one transaction: few enough that its locks and its log are not felt.
CHUNK = 1000
# Beside the one by which the database is owned.
TURN_KEY = ownership.LOCK_KEY + 1


async def forget_answers(database: Database, before: datetime) -> None:
    """Forget the answers that were kept for idempotency keys and are older than that."""
    await _forget(database, SQL["forget_answers"], before)


async def forget_offers(database: Database, before: datetime) -> None:
    """Forget the enrolment codes that ran out before that."""
    await _forget(database, SQL["forget_offers"], before)


async def take_turn(session: asyncpg.Connection) -> None:
    """Keep every other session from upkeep until this one ends; waits for it to be so."""
    await session.execute("SELECT pg_advisory_lock($1)", TURN_KEY)


async def index_words(session: asyncpg.Connection, room_id: int) -> bool:
    """Read words of a room's next messages into the search index; whether it may have more."""
    return bool(await session.fetchval(SQL["index_words"], room_id, CHUNK) == CHUNK)


async def _forget(database: Database, sql: str, before: datetime) -> None:
    async with database.side_session() as session:
        while await session.fetchval(sql, before, CHUNK) == CHUNK:
            pass
