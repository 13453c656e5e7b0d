"""Rooms and participants as Postgres holds them. Each function takes the pool or one connection."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from coordroomsd.domain.identities import Enrolled, Enrollment
from coordroomsd.domain.participants import Actor, Author, Participant, display_name
from coordroomsd.domain.rooms import Claim, Member, Room, Status
from coordroomsd.store import queries
from coordroomsd.store.read_pools import ReadPool
from coordroomsd.store.rows import KeptAnswer, Key, Position

SQL = queries.load("queries.sql")

# A connection, or the pool, which lends one for each call.
Reader = Any


class LoadedRoom(NamedTuple):
    room: Room
    # By membership.
    positions: dict[int, Position]
    # How often it was written.
    version: int = 0


class ListedRoom(NamedTuple):
    room: Room
    active_members: int


class ListedParticipant(NamedTuple):
    participant: Participant
    active_slug: str | None


async def load_room(pool: ReadPool, room_id: int) -> LoadedRoom | None:
    """A room's state and its members' positions from one snapshot; None when there is none."""
    return await pool.read(lambda connection: loaded_room(connection, room_id))


async def loaded_room(connection: asyncpg.Connection, room_id: int) -> LoadedRoom | None:
    """The same over one session, which may be in the midst of such a snapshot."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        row = await connection.fetchrow(SQL["room"], room_id)
        if row is None:
            return None
        members = await connection.fetch(SQL["room_members"], room_id)
        statuses = await connection.fetch(SQL["room_statuses"], room_id)
        claims = await connection.fetch(SQL["room_claims"], room_id)
    by_membership = {member["id"]: _member(member) for member in members}
    *columns, version = row
    room = Room(*columns).with_everything(
        by_membership,
        {row["membership_id"]: Status(*list(row)[1:]) for row in statuses},
        {row["key"]: _claim(row, by_membership) for row in claims},
    )
    return LoadedRoom(room, {member["id"]: _position(member) for member in members}, version)


async def room_versions(reader: Reader, room_ids: Collection[int]) -> dict[int, int]:
    """How often each of these rooms was written."""
    rows = await reader.fetch(SQL["room_versions"], list(room_ids))
    return {row["id"]: row["version"] for row in rows}


async def room_as_one_sees_it(
    reader: Reader, room_id: int, participant_id: int | None
) -> tuple[int, dict[int, Position]]:
    """A room's version, and the position of a participant by its membership, if it has one."""
    row = await reader.fetchrow(SQL["room_as_one_sees_it"], room_id, participant_id)
    return row["version"], {} if row["id"] is None else {row["id"]: _position(row)}


async def caller(reader: Reader, actor: Actor | None) -> tuple[int, Participant | None]:
    """The version of who is enrolled, and the actor's participant, if there is one."""
    name = (actor.project, actor.conversation_id) if actor else (None, None)
    version, number, *columns = await reader.fetchrow(SQL["caller"], *name)
    return version, None if number is None else Participant(number, *columns)


async def room_positions(reader: Reader, room_id: int) -> dict[int, Position]:
    """How far each member has come, by membership."""
    rows = await reader.fetch(SQL["room_positions"], room_id)
    return {row["id"]: _position(row) for row in rows}


async def room_of_slug(reader: Reader, project: str, slug: str) -> int | None:
    found: int | None = await reader.fetchval(SQL["room_of_slug"], project, slug)
    return found


async def room_of_pair(reader: Reader, pair: tuple[int, int]) -> int | None:
    found: int | None = await reader.fetchval(SQL["room_of_pair"], list(pair))
    return found


async def near_slugs(reader: Reader, project: str, slug: str) -> list[str]:
    return [row["slug"] for row in await reader.fetch(SQL["near_slugs"], project, slug)]


async def near_participants(reader: Reader, project: str, conversation_id: str) -> list[str]:
    rows = await reader.fetch(SQL["near_participants"], project, conversation_id)
    return [row["conversation_id"] for row in rows]


async def list_rooms(
    reader: Reader, project: str, after: int, *, active_only: bool, limit: int
) -> list[ListedRoom]:
    """Rooms of kind `room` by age, the oldest first; their members are left out."""
    rows = await reader.fetch(SQL["rooms"], project, after, active_only, limit)
    return [ListedRoom(Room(*list(row)[:-1]), row["active_members"]) for row in rows]


async def participant(reader: Reader, actor: Actor) -> Participant | None:
    row = await reader.fetchrow(SQL["participant"], actor.project, actor.conversation_id)
    return Participant(*row) if row else None


async def participant_id(reader: Reader, project: str, conversation_id: str) -> int | None:
    found: int | None = await reader.fetchval(SQL["participant_id"], project, conversation_id)
    return found


async def list_participants(
    reader: Reader, project: str, after: int, limit: int
) -> list[ListedParticipant]:
    """The participants of a project by age, the oldest first."""
    rows = await reader.fetch(SQL["participants"], project, after, limit)
    return [ListedParticipant(Participant(*list(row)[:-1]), row["slug"]) for row in rows]


async def conversations_of(
    reader: Reader, participant_id: int, after: int = 0, limit: int = 1000
) -> list[int]:
    """The rooms of two that a participant is in, the oldest first."""
    rows = await reader.fetch(SQL["conversations"], participant_id, after, limit)
    return [row["id"] for row in rows]


async def kept_answers(reader: Reader, keys: list[Key]) -> dict[Key, KeptAnswer]:
    """The answers that were given under these idempotency keys."""
    rows = await reader.fetch(SQL["kept_answers"], *map(list, zip(*keys, strict=True)))
    return {
        Key(*list(row)[:4]): KeptAnswer(row["fingerprint"], row["status"], row["answer"])
        for row in rows
    }


async def conversations_of_project(
    reader: Reader, project: str, after: int, limit: int
) -> list[int]:
    """All rooms of two of a project, the oldest first."""
    rows = await reader.fetch(SQL["conversations_of_project"], project, after, limit)
    return [row["id"] for row in rows]


async def enrollments(reader: Reader, codes: list[bytes]) -> dict[bytes, Enrollment]:
    """The offers with these hashes of codes, in time or not."""
    rows = await reader.fetch(SQL["enrollments"], codes)
    return {row["code_hash"]: Enrollment(*row) for row in rows}


async def enrolled(reader: Reader) -> list[Enrolled]:
    """Everybody who was ever enrolled."""
    return [Enrolled(*row) for row in await reader.fetch(SQL["enrolled"])]


async def enrolled_now(pool: ReadPool) -> tuple[int, list[Enrolled]]:
    """The same, and how often they were written, from one snapshot."""

    async def read(connection: asyncpg.Connection) -> tuple[int, list[Enrolled]]:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            version: int = await connection.fetchval("SELECT version FROM identities")
            return version, await enrolled(connection)

    return await pool.read(read)


async def is_used(reader: Reader, project: str, name: str) -> bool:
    """Whether a participant has acted under the name or below it."""
    escaped = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    used: bool = await reader.fetchval(SQL["is_used"], project, name, escaped)
    return used


async def over_policy(
    reader: Reader, max_age_s: int, max_events: int, now: datetime
) -> list[tuple[int, int]]:
    """Rooms that keep more than they may, with the number that their log should begin at."""
    rows = await reader.fetch(SQL["over_policy"], max_age_s, max_events, now)
    return [(row["id"], row["first_seq"]) for row in rows]


async def deadlines(reader: Reader, until: datetime) -> list[tuple[int, datetime]]:
    """Rooms, loaded or not, with the times up to `until` at which something there runs out."""
    rows = await reader.fetch(SQL["deadlines"], until)
    return [(row["room_id"], row["expires_at"]) for row in rows]


async def unindexed(reader: Reader) -> list[int]:
    """The rooms in which the search index has not come to the end."""
    return [row["id"] for row in await reader.fetch(SQL["unindexed"])]


def _member(row: asyncpg.Record) -> Member:
    conversation_id = row["conversation_id"]
    author = Author(row["id"], conversation_id, display_name(conversation_id), row["kind"])
    return Member(author, row["participant_id"], row["active"], row["created_at"])


def _position(row: asyncpg.Record) -> Position:
    return Position(row["cursor"], row["last_seen_seq"], row["last_seen_at"])


def _claim(row: asyncpg.Record, members: dict[int, Member]) -> Claim:
    return Claim(
        row["key"],
        members[row["membership_id"]].author,
        row["since"],
        row["expires_at"],
        row["fence"],
        row["proposed_by_seq"],
    )
