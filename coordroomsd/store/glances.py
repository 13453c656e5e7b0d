"""What one sees of a room at a glance: open questions, the last words, how much is unread."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from coordroomsd.store.reads import SQL, Reader


class Excerpt(NamedTuple):
    """The beginning of a message; `kind` says what it is."""

    seq: int
    at: datetime
    membership_id: int
    kind: str
    body: str


class OpenQuestions(NamedTuple):
    """How many there are, and the newest of them, the newest first."""

    found: int
    newest: list[Excerpt]


async def recent_rooms(reader: Reader, project: str, active: int, further: int) -> list[int]:
    """Up to `active` rooms with somebody in them and the `further` newest of all, by age."""
    rows = await reader.fetch(SQL["recent_rooms"], project, active, further)
    return sorted(row["id"] for row in rows)


async def recent_conversations(reader: Reader, project: str, limit: int) -> list[int]:
    """The newest rooms of two, by age."""
    rows = await reader.fetch(SQL["recent_conversations"], project, limit)
    return sorted(row["id"] for row in rows)


async def open_questions(reader: Reader, room_id: int, limit: int) -> OpenQuestions:
    rows = await reader.fetch(SQL["open_questions"], room_id, limit)
    newest = [
        Excerpt(row["seq"], row["at"], row["membership_id"], "question", row["body"])
        for row in rows
    ]
    return OpenQuestions(rows[0]["found"] if rows else 0, newest)


async def last_message(reader: Reader, room_id: int) -> Excerpt | None:
    row = await reader.fetchrow(SQL["last_message"], room_id)
    return Excerpt(*row) if row else None


async def count_unread(
    reader: Reader, room_id: int, after_seq: int, own: Collection[int], most: int
) -> int:
    """Messages after a number that are not by the memberships `own`; no more than `most`."""
    counted: int = await reader.fetchval(SQL["count_unread"], room_id, after_seq, list(own), most)
    return counted
