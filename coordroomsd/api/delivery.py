"""Lifecycle delivery: what is unread, and confirming it."""

from __future__ import annotations

from coordroomsd.api import places, schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.messages import message_views
from coordroomsd.api.rooms import conversations_of
from coordroomsd.api.views import Json, gap_view
from coordroomsd.domain.commands import Cursor
from coordroomsd.domain.events import Event, Message
from coordroomsd.domain.members import reference
from coordroomsd.domain.text import body_size
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import history


async def unread(call: Call) -> Answer:
    asked: schemas.Unread = call.arguments
    rooms = await conversations_of(call)
    if active := await places.active_or_none(call):
        rooms.insert(0, active)
    return json_answer(200, {"unread": [await _unread_in(call, room, asked) for room in rooms]})


async def _unread_in(call: Call, room: LiveRoom, asked: schemas.Unread) -> Json:
    member = await call.member(room)
    cursor = room.positions[member.id].cursor
    (found, more), head = await _after(call, room, cursor, member.id, asked.limit)
    given = _within(found, asked.max_bytes)
    has_more = more or len(given) < len(found)
    return {
        "room": reference(room.state),
        "kind": room.state.kind,
        "messages": await message_views(call.services.reads, room, given),
        "through_seq": given[-1].seq if has_more else head,
        "has_more": has_more,
        "retention_gap": gap_view(room, cursor),
        "generation": call.services.generation,
    }


async def _after(
    call: Call, room: LiveRoom, cursor: int, membership_id: int, limit: int
) -> tuple[history.Page, int]:
    """Others' messages after the cursor, and the head they go up to."""
    state = room.state
    tail = room.tail.after(cursor)
    if tail is None:
        reader = call.services.reads
        page = await history.messages_by_others(reader, state, cursor, limit, membership_id)
        return page, state.head
    messages = (entry.event for entry in tail if entry.event.type == "message")
    others = [event for event in messages if not event.by(membership_id)]
    return history.Page(others[:limit], len(others) > limit), state.head


def _within(messages: list[Event], max_bytes: int) -> list[Event]:
    """The oldest ones that fit; one at least, whatever its size."""
    given: list[Event] = []
    size = 0
    for event in messages:
        if isinstance(event.payload, Message):
            size += body_size(event.payload.body)
        if given and size > max_bytes:
            break
        given.append(event)
    return given


async def confirm(call: Call) -> Answer:
    asked: schemas.Confirm = call.body
    rooms = await places.find_each(call, asked.cursors)
    moves = []
    for name, room in rooms.items():
        member = await call.member(room)
        call.check_cursor(room, Cursor(asked.cursors[name], call.arguments.generation))
        moves.append((name, room, member.id))
    positions = call.services.positions
    cursors = {
        name: positions.confirm(room, membership_id, asked.cursors[name])
        for name, room, membership_id in moves
    }
    await call.services.journal.flush()
    return json_answer(200, {"cursors": cursors})
