"""What is true of the tables whatever has happened: numbers without a gap, the rest their fold."""

from __future__ import annotations

from typing import Any

import asyncpg

from coordroomsd.domain.events import Event, Reaction
from coordroomsd.domain.rooms import Room, evolve
from coordroomsd.store import history, reads


async def check_stored(pool: asyncpg.Pool) -> None:
    """Check every room. Nothing may be writing."""
    for row in await pool.fetch("SELECT id, latest_seq, first_seq FROM rooms"):
        await _check_numbers(pool, row)
        if row["first_seq"] == 1:
            await _check_fold(pool, row["id"])


async def _check_numbers(pool: asyncpg.Pool, room: asyncpg.Record) -> None:
    count, least, most = await pool.fetchrow(
        """SELECT count(*), coalesce(min(seq), 1), coalesce(max(seq), 0)
           FROM events WHERE room_id = $1 AND seq >= $2""",
        room["id"],
        room["first_seq"],
    )
    expected = (room["latest_seq"] - room["first_seq"] + 1, room["first_seq"], room["latest_seq"])
    assert (count, least, most) == expected


async def _check_fold(pool: asyncpg.Pool, room_id: int) -> None:
    loaded = await reads.load_room(pool, room_id)
    assert loaded
    stored = loaded.room
    folded = _without_events(stored)
    held: set[tuple[int, int, str]] = set()
    for event in await _whole_log(pool, stored):
        folded = evolve(folded, event)
        if isinstance(event.payload, Reaction):
            reaction = (event.payload.message_id, event.who.membership_id, event.payload.reaction)
            (held.add if event.reason == "added" else held.discard)(reaction)
    assert folded.memberships == stored.memberships
    assert folded.claims == stored.claims
    # A status that is set again to its text moves its end without an event.
    assert _texts(folded) == _texts(stored)
    kept = await pool.fetch(
        "SELECT message_id, membership_id, reaction FROM reactions WHERE room_id = $1", room_id
    )
    assert {tuple(row) for row in kept} == held


async def _whole_log(pool: asyncpg.Pool, room: Room) -> list[Event]:
    log: list[Event] = []
    while len(log) < room.head:
        page = await history.events(pool, room, len(log), 1000)
        assert page.events
        log += page.events
    return log


def _without_events(room: Room) -> Room:
    """The room as it was made. A conversation's members are in it from then on."""
    made = room.before_any_event()
    for member in room.memberships.values():
        made = made.with_member(member)
    return made


def _texts(room: Room) -> dict[int, tuple[Any, Any]]:
    return {member: (held.status, held.since) for member, held in room.statuses.items()}
