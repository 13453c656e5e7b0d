"""What has become of a room since it was read, for a daemon that is not alone to write to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from coordroomsd.domain.events import Event
from coordroomsd.domain.participants import Author, display_name
from coordroomsd.domain.rooms import Claim, Member, Room, Status
from coordroomsd.store.history import event_of
from coordroomsd.store.reads import SQL, LoadedRoom, Reader
from coordroomsd.store.rows import Position

_EVENT: Final = (
    "seq",
    "type",
    "reason",
    "at",
    "membership_id",
    "by_daemon",
    "kind",
    "body",
    "reply_to",
    "detail",
)


async def room_since(reader: Reader, before: Room, limit: int) -> tuple[LoadedRoom, list[Event]]:
    """The room as it is now, and its last `limit` events since `before`.

    Positions are of members that have come or left since.
    """
    row = await reader.fetchrow(SQL["room_since"], before.id, before.head, limit, False)
    if row["first_seq"] > before.head + 1:
        # The events that tell who has come and left may be gone.
        row = await reader.fetchrow(SQL["room_since"], before.id, before.head, limit, True)
    members = {one[0]: _member(one) for one in row["members"]}
    memberships = {**before.memberships, **members}
    room = replace(
        before,
        head=row["latest_seq"],
        first_seq=row["first_seq"],
        max_age_s=row["max_age_s"],
        max_events=row["max_events"],
    ).with_everything(
        memberships,
        {one[0]: Status(*one[1:]) for one in map(tuple, row["statuses"])},
        {
            key: Claim(key, memberships[holder].author, *further)
            for key, holder, *further in row["claims"]
        },
    )
    events = [event_of(dict(zip(_EVENT, one, strict=True)), room) for one in row["events"]]
    positions = {one[0]: Position(*one[3:6]) for one in map(tuple, row["members"])}
    return LoadedRoom(room, positions, row["version"]), events


def _member(row: Any) -> Member:
    number, participant_id, active, *_, created_at, conversation_id, kind = row
    author = Author(number, conversation_id, display_name(conversation_id), kind)
    return Member(author, participant_id, active, created_at)
