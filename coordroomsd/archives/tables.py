"""What a database of ours is made of, beside `journal` and `migrations`, which each has anew."""

from __future__ import annotations

from typing import Final

import asyncpg

from coordroomsd.store.migrate import pending, shipped

# A backup has those that there are in its version of the schema.
TABLES: Final = (
    "participants",
    "rooms",
    "memberships",
    "attendances",
    "events",
    "statuses",
    "claims",
    "reactions",
    "idempotency",
    "enrollments",
    "enrolled",
)
# Made of the others, and again by whatever daemon finds it missing.
_DERIVED: Final = ("words", "indexed")
# Of the daemons that run on it now.
_PASSING: Final = ("identities", "daemons", "parked")
ALL: Final = ("journal", "migrations", *TABLES, *_DERIVED, *_PASSING)
_FUNCTIONS: Final = ("only_words(text)",)

_COLUMNS: Final = """
    SELECT relname AS table, array_agg(attname::text ORDER BY attnum) AS columns
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
      AND attnum > 0 AND NOT attisdropped AND relname = ANY($1::text[])
    GROUP BY relname
"""


async def has_schema(connection: asyncpg.Connection) -> bool:
    """Whether the database is one of ours.

    :raises MigrationError: it is, and not one that this program can read; see `pending`.
    """
    return len(await pending(connection)) < len(shipped())


async def columns(connection: asyncpg.Connection) -> dict[str, list[str]]:
    """The columns of each of `TABLES` that is there, in their order."""
    rows = await connection.fetch(_COLUMNS, list(TABLES))
    found = {row["table"]: row["columns"] for row in rows}
    return {table: found[table] for table in TABLES if table in found}


async def filled(connection: asyncpg.Connection) -> list[str]:
    """Which of `TABLES` have a row."""
    return [
        table
        for table in await columns(connection)
        if await connection.fetchval(f"SELECT EXISTS (SELECT FROM {table})")  # noqa: S608 - ours
    ]


async def drop_all(connection: asyncpg.Connection) -> None:
    """Take our tables away, with what is in them."""
    async with connection.transaction():
        await connection.execute(f"DROP TABLE IF EXISTS {', '.join(ALL)}")
        await connection.execute(f"DROP FUNCTION IF EXISTS {', '.join(_FUNCTIONS)}")
