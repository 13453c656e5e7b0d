"""Removing what has been kept long enough, on a session of its own, so that no write waits for it."""

from __future__ import annotations

from datetime import datetime

from coordroomsd.store.database import Database
from coordroomsd.store.reads import SQL

# Rows removed in one transaction: few enough that its locks and its log are not felt.
CHUNK = 1000


async def forget_answers(database: Database, before: datetime) -> None:
    """Forget the answers that were kept for idempotency keys and are older than that."""
    async with database.side_session() as session:
        while await session.fetchval(SQL["forget_answers"], before, CHUNK) == CHUNK:
            pass
