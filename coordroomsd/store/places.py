"""Where a database is: on which server and timeline, and as which copy there.

A dump that was loaded, a copy put in its place, a recovery to a point in time and the promotion of
a standby all bring it to another place, and may lose what was acknowledged before. Clients have
numbers of that. A restart, a crash and a move of the server with its files do not.
"""

from __future__ import annotations

import logging
from typing import Final

import asyncpg

log = logging.getLogger(__name__)

_SERVER: Final = "SELECT system_identifier::text FROM pg_control_system()"
# Not the control file's, which a promoted server brings up to date only with its next checkpoint.
_TIMELINE: Final = "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"
# Loading a dump makes the table anew, copying a database within its server makes that anew.
_COPY: Final = """
    SELECT oid || '/' || 'journal'::regclass::oid FROM pg_database
    WHERE datname = current_database()
"""
_UNTOLD: Final = "-"
# What a hosted server says that keeps its files, or its log, from those who use it.
_NOT_TOLD: Final = (
    asyncpg.InsufficientPrivilegeError,
    asyncpg.FeatureNotSupportedError,
    asyncpg.ObjectNotInPrerequisiteStateError,
    asyncpg.UndefinedFunctionError,
)

_MOVE: Final = "UPDATE journal SET place = $1"
_MOVE_AND_BEGIN: Final = """
    UPDATE journal SET place = $1, generation = replace(gen_random_uuid()::text, '-', '')
    WHERE generation = $2
    RETURNING generation
"""


async def recognise(connection: asyncpg.Connection) -> None:
    """Begin a new generation if the database has come to another place since it was last opened."""
    before, generation = await connection.fetchrow("SELECT place, generation FROM journal")
    here = await _place(connection)
    if before in ("", here):
        await connection.execute(_MOVE, here)
        return
    generation = await connection.fetchval(_MOVE_AND_BEGIN, here, generation)
    log.warning(
        "the database has come to another place (%s, before %s): it was loaded, copied or "
        "recovered, or a standby was promoted. It may have lost what was acknowledged, so it has "
        "a new generation, %s; clients go on from what is there now",
        here,
        before,
        generation,
    )


async def move(connection: asyncpg.Connection) -> None:
    """Note where the database is, from which nothing is missing.

    It writes in any case: where commits wait for a standby this one does too, and with it whatever
    the session before had committed and not yet sent there.
    """
    await connection.execute(_MOVE, await _place(connection))


async def begin_generation(connection: asyncpg.Connection, before: str) -> str | None:
    """Say of the database, wherever it is, that something is missing from it.

    The new generation; None when `before` has ended already: of daemons that share the database
    all find out.
    """
    here = await _place(connection)
    generation: str | None = await connection.fetchval(_MOVE_AND_BEGIN, here, before)
    return generation


async def _place(connection: asyncpg.Connection) -> str:
    server = await _told(connection, _SERVER)
    timeline = await _told(connection, _TIMELINE)
    return f"{server}/{timeline}/{await connection.fetchval(_COPY)}"


async def _told(connection: asyncpg.Connection, sql: str) -> str:
    try:
        told: str = await connection.fetchval(sql)
    except _NOT_TOLD:
        return _UNTOLD
    return told
