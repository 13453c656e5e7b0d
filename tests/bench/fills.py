"""Rows put straight into the tables, for sizes that calls would take hours to reach.

Numbers and names follow from each other: room 1 has slug `room-1`, its members are `agent-1`,
`agent-2` and so on.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

import asyncpg

ROOM = "room-1"


def agent(number: int) -> str:
    return f"agent-{number}"


async def rooms(connection: asyncpg.Connection, number: int, *, first: int = 1) -> None:
    """Rooms that nobody is in and nothing was said in."""
    await connection.execute(
        """
        INSERT INTO rooms (id, project, kind, name, slug, created_at, latest_seq)
        SELECT n, 'default', 'room', 'room-' || n, 'room-' || n, now(), 0
        FROM generate_series($1::bigint, $2) AS n
        """,
        first,
        first + number - 1,
    )


async def members(connection: asyncpg.Connection, number: int, *, room: int = 1) -> None:
    """Active members of a room that is empty, each with its `joined` event."""
    await connection.execute(
        """
        INSERT INTO participants
            (id, project, conversation_id, name, kind, role, active_room_id, created_at)
        SELECT n, 'default', 'agent-' || n, 'agent-' || n, 'agent', 'agent', $2, now()
        FROM generate_series(1, $1::bigint) AS n
        """,
        number,
        room,
    )
    await connection.execute(
        """
        INSERT INTO memberships (room_id, id, participant_id, active, cursor, last_seen_seq,
                                 last_seen_at, created_at)
        SELECT $2, n, n, true, n, n, now(), now() FROM generate_series(1, $1::bigint) AS n
        """,
        number,
        room,
    )
    await connection.execute(
        """
        INSERT INTO events (room_id, seq, type, reason, at, membership_id, by_daemon)
        SELECT $2, n, 'member', 'joined', now(), n, false FROM generate_series(1, $1::bigint) AS n
        """,
        number,
        room,
    )
    await connection.execute("UPDATE rooms SET latest_seq = $1 WHERE id = $2", number, room)


async def alone(connection: asyncpg.Connection, number: int) -> None:
    """In each of so many rooms one active member: `agent-n` in room n."""
    await groups(connection, number, 1)


async def groups(connection: asyncpg.Connection, rooms: int, each: int) -> None:
    """In each of so many rooms `each` active members: the first `each` agents in room 1, and on."""
    members = rooms * each
    await connection.execute(
        """
        INSERT INTO participants
            (id, project, conversation_id, name, kind, role, active_room_id, created_at)
        SELECT n, 'default', 'agent-' || n, 'agent-' || n, 'agent', 'agent', (n - 1) / $2 + 1, now()
        FROM generate_series(1, $1::bigint) AS n
        """,
        members,
        each,
    )
    await connection.execute(
        """
        INSERT INTO memberships (room_id, id, participant_id, active, cursor, last_seen_seq,
                                 last_seen_at, created_at)
        SELECT (n - 1) / $2 + 1, n, n, true, (n - 1) % $2 + 1, (n - 1) % $2 + 1, now(), now()
        FROM generate_series(1, $1::bigint) AS n
        """,
        members,
        each,
    )
    await connection.execute(
        """
        INSERT INTO events (room_id, seq, type, reason, at, membership_id, by_daemon)
        SELECT (n - 1) / $2 + 1, (n - 1) % $2 + 1, 'member', 'joined', now(), n, false
        FROM generate_series(1, $1::bigint) AS n
        """,
        members,
        each,
    )
    await connection.execute("UPDATE rooms SET latest_seq = $2 WHERE id <= $1", rooms, each)


async def messages(connection: asyncpg.Connection, number: int, *, rooms: int = 1) -> None:
    """In each of the first rooms so many messages of 200 bytes by its first member, at the end."""
    await connection.execute(
        """
        INSERT INTO words (room_id, seq, words)
        SELECT id, latest_seq + n, to_tsvector('simple', repeat('x', 200))
        FROM rooms, generate_series(1, $1::bigint) AS n WHERE id <= $2
        """,
        number,
        rooms,
    )
    await connection.execute(
        """
        INSERT INTO events (room_id, seq, type, at, membership_id, by_daemon, kind, body)
        WITH logs AS MATERIALIZED (
            SELECT room_id, latest_seq, min(m.id) AS author
            FROM rooms AS r JOIN memberships AS m ON m.room_id = r.id
            WHERE r.id <= $2 GROUP BY room_id, latest_seq
            -- In another order each room would be at a place of its own in the index.
            ORDER BY room_id
        )
        SELECT room_id, latest_seq + n, 'message', now(), author, false, 'status', repeat('x', 200)
        FROM logs, generate_series(1, $1::bigint) AS n
        """,
        number,
        rooms,
    )
    await connection.execute(
        "UPDATE rooms SET latest_seq = latest_seq + $1 WHERE id <= $2", number, rooms
    )


@contextlib.asynccontextmanager
async def in_bulk(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """Around the whole fill of a new database that gets very many messages."""
    by_word = await connection.fetchval("SELECT pg_get_indexdef('words_by_word'::regclass)")
    async with connection.transaction():
        # Of a table that is emptied and filled in one transaction, nothing goes through the WAL.
        await connection.execute("TRUNCATE events, words")
        # Row by row, this index would take longer than all the rest.
        await connection.execute("DROP INDEX words_by_word")
        # It would go through all that was filled in while the daemon is measured.
        await connection.execute("ALTER TABLE events SET (autovacuum_enabled = off)")
        await connection.execute("ALTER TABLE words SET (autovacuum_enabled = off)")
        yield
        await connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
        await connection.execute(by_word)


async def deadlines(
    connection: asyncpg.Connection, rooms: Sequence[int], statuses: int, claims: int, in_s: float
) -> None:
    """In each room so many statuses, and claims of one member, that all end `in_s` from now.

    The members are those of `members`, or the one of `alone`.
    """
    await connection.execute(
        """
        INSERT INTO statuses (room_id, membership_id, status, since, expires_at)
        SELECT room_id, id, 'reading', now(), now() + make_interval(secs => $3)
        FROM unnest($1::bigint[]) AS rooms (room_id),
             LATERAL (SELECT id FROM memberships AS m WHERE m.room_id = rooms.room_id
                      ORDER BY id LIMIT $2) AS members
        """,
        rooms,
        statuses,
        in_s,
    )
    await connection.execute(
        """
        INSERT INTO claims (room_id, key, membership_id, since, expires_at, fence)
        SELECT room_id, 'part-' || n,
               (SELECT min(id) FROM memberships AS m WHERE m.room_id = rooms.room_id),
               now(), now() + make_interval(secs => $3), 1
        FROM unnest($1::bigint[]) AS rooms (room_id), generate_series(1, $2::bigint) AS n
        """,
        rooms,
        claims,
        in_s,
    )


async def all_indexed(connection: asyncpg.Connection) -> None:
    """Whatever was filled in needs not be read into the search index."""
    await connection.execute("INSERT INTO indexed SELECT id, latest_seq FROM rooms")
