"""Full-text search over what the caller may read."""

from __future__ import annotations

import re

from coordroomsd.api import places, schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.messages import message_views
from coordroomsd.api.rooms import conversations_of
from coordroomsd.domain.events import Event, Message
from coordroomsd.domain.members import reference
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import history

BEGIN, END = "⟦", "⟧"
# Characters of a message shown on either side of the first word found.
AROUND = 160
# As the database has them (store/migrations/0003_words.sql).
_WORD = re.compile(r"[^\W_]+")


async def search(call: Call) -> Answer:
    asked: schemas.SearchQuery = call.arguments
    rooms, everywhere = await _readable(call, asked.room)
    found = await history.search(
        call.services.reads,
        call.request.caller.project,
        [room.state.id for room in rooms],
        asked.q,
        asked.limit,
        everywhere=everywhere,
        unindexed=await call.services.following.unindexed(),
    )
    results = []
    for row in found:
        room = await call.services.rooms.get(row["room_id"])
        if room is not None and row["seq"] > room.state.head:
            await call.services.following.room(room, call.actor)
        # What is committed but not yet published is found a moment later.
        if room is None or row["seq"] > room.state.head:
            continue
        event = history.event_of(row, room.state)
        [view] = await message_views(call.services.reads, room, [event])
        results.append(
            {
                "room": reference(room.state),
                "message": view,
                "snippet": snippet(_body(event), asked.q),
            }
        )
    return json_answer(200, {"results": results})


async def _readable(call: Call, reference_: str | None) -> tuple[list[LiveRoom], bool]:
    """The rooms to look in, and whether every room of the project is among them."""
    if reference_ is not None:
        call.live = await places.find(call, reference_)
        await call.reader()
        return [call.live], False
    role = call.actor.role if call.actor else call.request.caller.role
    rooms: list[LiveRoom] = []
    if call.actor:
        rooms = await conversations_of(call)
        if active := await places.active_or_none(call):
            rooms.append(active)
    return rooms, role in ("human", "operator")


def _body(event: Event) -> str:
    return event.payload.body if isinstance(event.payload, Message) else ""


def snippet(body: str, query: str) -> str:
    """The text around the first word found, as it was written, with the words marked."""
    words = {word.casefold() for word in _WORD.findall(query)}

    def is_found(word: re.Match[str]) -> bool:
        return word[0].casefold() in words

    first = next(filter(is_found, _WORD.finditer(body)), None)
    middle = first.start() if first else 0
    begin, end = max(0, middle - AROUND), min(len(body), middle + AROUND)
    if first:
        end = min(len(body), max(end, first.end()))
    shown = _WORD.sub(
        lambda word: f"{BEGIN}{word[0]}{END}" if is_found(word) else word[0], body[begin:end]
    )
    return f"{'… ' if begin else ''}{shown}{' …' if end < len(body) else ''}"
