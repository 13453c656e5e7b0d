"""Writing one room as JSON lines; `room_lines.py` says what is in them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import asyncpg
import orjson

from coordroomsd import __version__
from coordroomsd.archives import tables
from coordroomsd.archives.backups import Extent
from coordroomsd.archives.errors import ArchiveError
from coordroomsd.archives.room_lines import FORMAT, VERSION
from coordroomsd.domain import ids
from coordroomsd.domain.events import author_wire, event_wire
from coordroomsd.domain.rooms import Member, Room
from coordroomsd.domain.text import instant, slug
from coordroomsd.store import history, reads
from coordroomsd.store.errors import MigrationError
from coordroomsd.store.migrate import pending
from coordroomsd.store.reads import LoadedRoom

Json = dict[str, Any]

_PAGE = 1000


async def write_room(
    connection: asyncpg.Connection, project: str, name: str, output: BinaryIO
) -> Extent:
    """Write the room of that slug, id or name as it is at one moment.

    :raises ArchiveError: there is no such room, or it is a conversation.
    :raises MigrationError: the database's schema is not this program's.
    """
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        if not await tables.has_schema(connection) or await pending(connection):
            raise MigrationError(
                "the database is of an older version. Start its daemon, or run coordroomsd "
                "migrate, and then export"
            )
        loaded = await _find(connection, project, name)
        counts = {"members": 0, "claims": 0, "reactions": 0, "events": 0}
        output.write(_line(await _header(connection, loaded.room)))
        async for kind, line in _lines(connection, loaded):
            output.write(_line(line))
            counts[kind] += 1
        output.write(_line({"end": counts}))
    return Extent(1, counts["events"])


async def _find(connection: asyncpg.Connection, project: str, name: str) -> LoadedRoom:
    number = ids.room_number(name)
    if number is None:
        number = await reads.room_of_slug(connection, project, slug(name))
    loaded = await reads.loaded_room(connection, number) if number is not None else None
    if loaded is None or loaded.room.project != project:
        raise ArchiveError(
            f"there is no room {name!r} in the project {project!r}. `coordrooms rooms --all` lists "
            "the rooms; --project names another project"
        )
    if loaded.room.kind != "room":
        raise ArchiveError(
            f"{name} is a conversation of two, which stays where it is; a backup has it"
        )
    return loaded


async def _header(connection: asyncpg.Connection, room: Room) -> Json:
    generation, now = await connection.fetchrow(
        "SELECT generation, transaction_timestamp() FROM journal"
    )
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "at": instant(now),
        "room": {
            "id": ids.room_id(room.id),
            "name": room.name,
            "slug": room.slug,
            "kind": room.kind,
            "project": room.project,
            "created_at": instant(room.created_at),
            "latest_seq": room.head,
            "first_seq": room.first_seq,
            "generation": generation,
        },
        "retention": {"max_age_s": room.max_age_s, "max_events": room.max_events},
    }


async def _lines(
    connection: asyncpg.Connection, loaded: LoadedRoom
) -> AsyncIterator[tuple[str, Json]]:
    room = loaded.room
    attendances: dict[int, list[Json]] = {}
    for row in await connection.fetch(
        """SELECT membership_id, joined_seq, left_seq FROM attendances WHERE room_id = $1
           ORDER BY joined_seq""",
        room.id,
    ):
        there = {"joined_seq": row["joined_seq"], "left_seq": row["left_seq"]}
        attendances.setdefault(row["membership_id"], []).append(there)
    for member in room.memberships.values():
        yield (
            "members",
            {"member": _member(member, loaded) | {"attendances": attendances[member.id]}},
        )
    for claim in sorted(room.claims.values(), key=lambda claim: claim.fence):
        yield (
            "claims",
            {
                "claim": {
                    "key": claim.key,
                    "holder": author_wire(claim.holder),
                    "since": instant(claim.since),
                    "expires_at": instant(claim.expires_at),
                    "fence": claim.fence,
                    "proposed_by_seq": claim.proposed_by_seq,
                }
            },
        )
    async for row in connection.cursor(
        """SELECT message_id, reaction, membership_id, at FROM reactions WHERE room_id = $1
           ORDER BY message_id, membership_id, reaction""",
        room.id,
    ):
        yield (
            "reactions",
            {
                "reaction": {
                    "message_id": row["message_id"],
                    "reaction": row["reaction"],
                    "author": author_wire(room.memberships[row["membership_id"]].author),
                    "at": instant(row["at"]),
                }
            },
        )
    after_seq, has_more = 0, True
    while has_more:
        page = await history.events(connection, room, after_seq, _PAGE)
        for event in page.events:
            yield "events", event_wire(event)
            after_seq = event.seq
        has_more = page.has_more


def _member(member: Member, loaded: LoadedRoom) -> Json:
    position = loaded.positions[member.id]
    status = loaded.room.statuses.get(member.id)
    return {
        **author_wire(member.author),
        "state": "active" if member.active else "inactive",
        "cursor": position.cursor,
        "last_seen_seq": position.last_seen_seq,
        "last_seen_at": instant(position.last_seen_at),
        "created_at": instant(member.created_at),
        "status": status
        and {
            "status": status.status,
            "since": instant(status.since),
            "expires_at": instant(status.expires_at),
        },
    }


def _line(value: Json) -> bytes:
    return orjson.dumps(value) + b"\n"
