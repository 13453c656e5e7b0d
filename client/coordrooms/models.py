"""Who and what there is: participants, rooms, memberships, statuses, claims.

Built from the daemon's JSON. Members that this version does not know are ignored, so that it
works with newer daemons. Times are aware, in UTC; durations and ages are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .records import Record

Json = Mapping[str, Any]


def moment(text: str) -> datetime:
    """The time that an RFC 3339 text stands for."""
    return datetime.fromisoformat(text)


def optional_moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


class Author(Record):
    """A participant as a room knows it: of an event, a claim, a reaction, a receipt."""

    membership_id: str
    conversation_id: str
    name: str
    kind: str

    @classmethod
    def from_json(cls, data: Json) -> Author:
        return cls(
            membership_id=data["membership_id"],
            conversation_id=data["conversation_id"],
            name=data["name"],
            kind=data["kind"],
        )


def optional_author(data: Json | None) -> Author | None:
    return None if data is None else Author.from_json(data)


class Participant(Record):
    """One party of a project. `kind` is `agent` or `human`, `active_room` a slug.

    `active_room` is filled by `participants()` only; `me()` has the room itself.
    """

    conversation_id: str
    name: str
    kind: str
    role: str | None
    active_room: str | None

    @classmethod
    def from_json(cls, data: Json) -> Participant:
        return cls(
            conversation_id=data["conversation_id"],
            name=data["name"],
            kind=data["kind"],
            role=data.get("role"),
            active_room=data.get("active_room"),
        )


class RoomInfo(Record):
    """A room as it was when the daemon answered.

    `kind` is `room`, `peer` or `admin`; the latter two are conversations, which have no name and
    no slug but two `members`. Events are numbered from `first_seq`, the oldest that is kept, to
    `latest_seq`. `active_members` is filled in lists of rooms.
    """

    id: str
    name: str | None
    slug: str | None
    kind: str
    project: str
    created_at: datetime
    latest_seq: int
    first_seq: int
    generation: str
    members: tuple[Participant, ...]
    active_members: int | None

    @property
    def ref(self) -> str:
        """What to call it in later calls: its slug, or the id of a conversation."""
        return self.slug or self.id

    @classmethod
    def from_json(cls, data: Json) -> RoomInfo:
        return cls(
            id=data["id"],
            name=data["name"],
            slug=data["slug"],
            kind=data["kind"],
            project=data["project"],
            created_at=moment(data["created_at"]),
            latest_seq=data["latest_seq"],
            first_seq=data["first_seq"],
            generation=data["generation"],
            members=tuple(map(Participant.from_json, data.get("members") or ())),
            active_members=data.get("active_members"),
        )


class Membership(Record):
    """The acting participant's place in a room; `state` is `active` or `inactive`."""

    id: str
    room_id: str
    conversation_id: str
    state: str
    cursor: int
    created_at: datetime

    @classmethod
    def from_json(cls, data: Json) -> Membership:
        return cls(
            id=data["id"],
            room_id=data["room_id"],
            conversation_id=data["conversation_id"],
            state=data["state"],
            cursor=data["cursor"],
            created_at=moment(data["created_at"]),
        )


class Status(Record):
    """What somebody said to be doing: since when, and until when it stands unless renewed."""

    status: str
    since: datetime
    expires_at: datetime

    @classmethod
    def from_json(cls, data: Json) -> Status:
        return cls(
            status=data["status"],
            since=moment(data["since"]),
            expires_at=moment(data["expires_at"]),
        )


def optional_status(data: Json | None) -> Status | None:
    return None if data is None else Status.from_json(data)


class Member(Record):
    """A row of the members list.

    `last_seen_seq` is the number up to which everything was shown to this member, `last_seen_at`
    the time of its last call, `waiting` whether it is parked in a wait now. `wake` is how its host
    can wake it while it is idle: `push` at once, `hook` with its next turn, `none` as far as known.
    """

    membership_id: str
    conversation_id: str
    name: str
    kind: str
    state: str
    cursor: int
    created_at: datetime
    status: Status | None
    last_seen_seq: int
    last_seen_at: datetime | None
    waiting: bool
    wake: str

    @classmethod
    def from_json(cls, data: Json) -> Member:
        return cls(
            membership_id=data["membership_id"],
            conversation_id=data["conversation_id"],
            name=data["name"],
            kind=data["kind"],
            state=data["state"],
            cursor=data["cursor"],
            created_at=moment(data["created_at"]),
            status=optional_status(data["status"]),
            last_seen_seq=data["last_seen_seq"],
            last_seen_at=optional_moment(data["last_seen_at"]),
            waiting=data["waiting"],
            wake=data.get("wake", "none"),
        )


class Claim(Record):
    """A lease on a named piece of work. `fence` is the number of the event that granted it."""

    key: str
    holder: Author
    since: datetime
    expires_at: datetime
    fence: int
    proposed_by_seq: int | None

    @classmethod
    def from_json(cls, data: Json) -> Claim:
        return cls(
            key=data["key"],
            holder=Author.from_json(data["holder"]),
            since=moment(data["since"]),
            expires_at=moment(data["expires_at"]),
            fence=data["fence"],
            proposed_by_seq=data.get("proposed_by_seq"),
        )
