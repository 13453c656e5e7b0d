"""A room's log as Postgres holds it: pages of it, and what is known about one message."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg
import orjson

from coordroomsd.domain.events import Event, Message, Payload, payload_from
from coordroomsd.domain.rooms import Room
from coordroomsd.domain.wake import Interest
from coordroomsd.store.reads import SQL, Reader

# Bodies on one page, at most: a thousand of the largest would be 64 MiB for one call.
PAGE_BYTES = 1024 * 1024


def _page_of(wanted: str) -> str:
    """The statement for a page of the events that meet a condition, which may use $5."""
    return SQL["page"].replace("{wanted}", wanted)


_ALL = _page_of("true")
_BY_OTHERS = _page_of("(by_daemon OR membership_id <> $5)")
_MESSAGES = _page_of("type = 'message'")
_MESSAGES_OF_KIND = _page_of("type = 'message' AND kind = $5")
_MESSAGES_BY_OTHERS = _page_of("type = 'message' AND membership_id <> $5")


class StoredReaction(NamedTuple):
    message_id: int
    membership_id: int
    reaction: str
    at: datetime


class Page(NamedTuple):
    """Events of a room, the oldest first, and whether there are more of them."""

    events: list[Event]
    has_more: bool


async def events(reader: Reader, room: Room, after_seq: int, limit: int) -> Page:
    return await _page(reader, room, _ALL, after_seq, limit)


async def events_by_others(
    reader: Reader, room: Room, after_seq: int, limit: int, membership_id: int
) -> Page:
    return await _page(reader, room, _BY_OTHERS, after_seq, limit, membership_id)


async def messages(
    reader: Reader, room: Room, after_seq: int, limit: int, kind: str | None = None
) -> Page:
    if kind is None:
        return await _page(reader, room, _MESSAGES, after_seq, limit)
    return await _page(reader, room, _MESSAGES_OF_KIND, after_seq, limit, kind)


async def messages_by_others(
    reader: Reader, room: Room, after_seq: int, limit: int, membership_id: int
) -> Page:
    return await _page(reader, room, _MESSAGES_BY_OTHERS, after_seq, limit, membership_id)


async def _page(
    reader: Reader, room: Room, statement: str, after_seq: int, limit: int, *further: object
) -> Page:
    """What is committed but not yet published is left for a later page, as if it were not there."""
    rows = await reader.fetch(statement, room.id, after_seq, limit, PAGE_BYTES, *further)
    published = [event_of(row, room) for row in rows if row["seq"] <= room.head]
    has_more = bool(published) and len(published) == len(rows) < rows[0]["found"]
    return Page(published, has_more)


async def messages_at(reader: Reader, room: Room, seqs: Collection[int]) -> dict[int, Event]:
    """Messages by number; what is no message, or no more, is left out."""
    if not seqs:
        return {}
    rows = await reader.fetch(SQL["messages_at"], room.id, list(seqs))
    return {row["seq"]: event_of(row, room) for row in rows}


async def count_messages_by_others(
    reader: Reader, room_id: int, after_seq: int, through_seq: int, membership_id: int
) -> int:
    counted: int = await reader.fetchval(
        SQL["count_messages_by_others"], room_id, after_seq, through_seq, membership_id
    )
    return counted


async def wakers(
    reader: Reader, room_id: int, after_seq: int, membership_id: int, interest: Interest
) -> list[int]:
    """The first ten numbers after `after_seq` that end a wait."""
    rows = await reader.fetch(
        SQL["wakers"],
        room_id,
        after_seq,
        membership_id,
        list(interest.types),
        interest.expiry,
        list(interest.answers),
    )
    return [row["seq"] for row in rows]


async def search(
    reader: Reader,
    project: str,
    room_ids: list[int],
    words: str,
    limit: int,
    *,
    everywhere: bool,
    unindexed: Collection[int],
) -> list[asyncpg.Record]:
    """The newest messages that have all the words, in these rooms or in all rooms of the project.

    `unindexed` are the rooms that the search index may be behind in. Rows for `event_of`, with the
    `room_id` of each.
    """
    if not everywhere:
        unindexed = set(unindexed).intersection(room_ids)
    rows: list[asyncpg.Record] = await reader.fetch(
        SQL["search"], project, room_ids, everywhere, words, limit, list(unindexed)
    )
    return rows


async def reactions(
    reader: Reader, room: Room, message_ids: Collection[int]
) -> list[StoredReaction]:
    """Who of the room's members holds which reaction, by message, then by time."""
    if not message_ids:
        return []
    rows = await reader.fetch(SQL["reactions"], room.id, list(message_ids))
    # Somebody who has just come may have one that is committed and not yet published.
    return [StoredReaction(*row) for row in rows if row["membership_id"] in room.memberships]


async def attending(reader: Reader, room_id: int, seq: int) -> list[int]:
    """The memberships that were active when event `seq` was stored."""
    rows = await reader.fetch(SQL["attending"], room_id, seq)
    return [row["membership_id"] for row in rows]


async def acknowledgements(reader: Reader, room_id: int, seq: int) -> Mapping[int, datetime]:
    """When each membership acknowledged a message; only those that hold an `ack`."""
    rows = await reader.fetch(SQL["acknowledgements"], room_id, seq)
    return {row["membership_id"]: row["at"] for row in rows}


async def first_replies(reader: Reader, room_id: int, seq: int) -> Mapping[int, int]:
    """Each membership's first reply to a message."""
    rows = await reader.fetch(SQL["first_replies"], room_id, seq)
    return {row["membership_id"]: row["seq"] for row in rows}


def event_of(row: Mapping[str, Any], room: Room) -> Event:
    """A row of the table `events` as the event it is."""
    detail = row["detail"]
    payload: Payload
    if row["type"] == "message":
        payload = Message(row["kind"], row["body"], row["reply_to"])
    else:
        payload = payload_from(row["type"], orjson.loads(detail) if detail else {})
    return Event(
        row["seq"],
        row["type"],
        row["reason"],
        row["at"],
        room.memberships[row["membership_id"]].author,
        row["by_daemon"],
        payload,
    )
