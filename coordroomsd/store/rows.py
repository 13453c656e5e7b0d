"""What a batch writes: events, and the rows that they amount to in the tables beside the log."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from coordroomsd.domain.events import Event, Message, payload_wire
from coordroomsd.domain.identities import Enrolled, Enrollment
from coordroomsd.domain.participants import Participant
from coordroomsd.domain.rooms import Claim, Member, Room, Status


class Position(NamedTuple):
    """How far a member has come; see live/positions.py."""

    cursor: int
    last_seen_seq: int
    last_seen_at: datetime


class Key(NamedTuple):
    """The scope of an idempotency key; `room_id` is 0 where the call has no room."""

    room_id: int
    participant_id: int
    route: str
    key: str


class KeptAnswer(NamedTuple):
    fingerprint: bytes
    status: int
    body: bytes


class Expected(NamedTuple):
    """What a batch was decided on, for other daemons may have changed it meanwhile."""

    # By room, its version; by participant, the room it is active in.
    rooms: dict[int, int]
    participants: dict[int, int | None]
    # The version of who is enrolled, if the batch changes that.
    identities: int | None


@dataclass(slots=True)
class Rows:
    """The net change of one batch, a row a key: no row may be written twice in one statement."""

    at: datetime
    new_rooms: dict[int, tuple[Room, tuple[int, int] | None]] = field(default_factory=dict)
    # By room: the head that the batch found, and the room as it leaves it.
    heads: dict[int, tuple[int, Room]] = field(default_factory=dict)
    # By room: the number before which events go.
    removals: dict[int, int] = field(default_factory=dict)
    participants: dict[int, Participant] = field(default_factory=dict)
    memberships: dict[tuple[int, int], tuple[Member, Position]] = field(default_factory=dict)
    positions: dict[tuple[int, int], Position] = field(default_factory=dict)
    # By room, membership and number of the arrival; the value is the number of the departure.
    arrivals: dict[tuple[int, int, int], int | None] = field(default_factory=dict)
    departures: dict[tuple[int, int], int] = field(default_factory=dict)
    events: list[tuple[int, Event]] = field(default_factory=list)
    # What stands after the batch; None: the row goes.
    statuses: dict[tuple[int, int], Status | None] = field(default_factory=dict)
    claims: dict[tuple[int, str], Claim | None] = field(default_factory=dict)
    reactions: dict[tuple[int, int, int, str], datetime | None] = field(default_factory=dict)
    answers: dict[Key, KeptAnswer] = field(default_factory=dict)
    # By the hash of the code; None: it was used.
    enrollments: dict[bytes, Enrollment | None] = field(default_factory=dict)
    enrolled: dict[tuple[str, str], Enrolled] = field(default_factory=dict)
    # None where the database is one daemon's alone.
    expected: Expected | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _CHANGES)


_CHANGES = [change.name for change in fields(Rows) if change.name not in ("at", "expected")]


def message_row(room_id: int, event: Event) -> tuple[Any, ...]:
    """In the order of the part `messages` of write.sql, which takes the time from the batch."""
    message = event.payload
    assert isinstance(message, Message)
    return (
        room_id,
        event.seq,
        event.who.membership_id,
        message.kind,
        message.body,
        message.reply_to,
    )


def event_row(room_id: int, event: Event) -> tuple[Any, ...]:
    """In the order of the part `other_events` of write.sql."""
    return (
        room_id,
        event.seq,
        event.type,
        event.reason,
        event.at,
        event.who.membership_id,
        event.by_daemon,
        orjson.dumps(payload_wire(event.payload)).decode() if event.payload else None,
    )
