"""Finding the room that a call names: by id, `@active`, slug, or exact name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from coordroomsd.api.call import Call
from coordroomsd.domain import ids
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.members import reference as room_reference
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.text import slug
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import reads

ACTIVE = "@active"
# Below this likeness a suggestion would only confuse.
_NEAR = 0.75


async def of_path(call: Call) -> LiveRoom:
    """The room, or the conversation, that the path names."""
    parameters = call.request.parameters
    if "room" in parameters:
        return await find(call, parameters["room"])
    conversation = parameters["conversation"]
    room = await _current(call, await _by_id(call, conversation))
    if room is None or room.state.kind == "room" or not await may_know(call, room):
        raise Refusal("room_not_found", f"There is no conversation {conversation!r}.")
    return room


async def find(call: Call, reference: str) -> LiveRoom:
    """Raises `room_not_found`, also for a conversation that is not the caller's."""
    if reference == ACTIVE:
        return await active(call)
    rooms, project = call.services.rooms, call.request.caller.project
    room = (
        rooms.peek_of_slug(project, reference)
        or await _by_id(call, reference)
        or await _by_name(call, reference)
    )
    await _current(call, room)
    if room is not None and await may_know(call, room):
        return room
    near = await _near_slug(call, reference)
    raise Refusal(
        "room_not_found",
        f"There is no room {reference!r}." + (f" Did you mean {near!r}?" if near else ""),
        **({"did_you_mean": near} if near else {}),
    )


async def find_each(call: Call, names: Iterable[str]) -> dict[str, LiveRoom]:
    """The rooms of `cursors`, by their names. Raises `invalid_arguments` for one named twice."""
    found: dict[str, LiveRoom] = {}
    for name in names:
        room = await find(call, name)
        for other, known in found.items():
            if known is room:
                raise invalid("cursors", f"names one room twice, as {other!r} and as {name!r}")
        found[name] = room
    return found


async def active(call: Call) -> LiveRoom:
    """The acting participant's active room. Raises `active_membership_not_found`."""
    room = await active_or_none(call)
    if room is None:
        participant = await call.participant()
        last = None
        if participant and participant.last_room_id is not None:
            last = await call.services.rooms.get(participant.last_room_id)
        raise Refusal(
            "active_membership_not_found",
            f"{call.acting.conversation_id} is active in no room.",
            recovery="Join a room, or create one.",
            **({"room": room_reference(last.state)} if last else {}),
        )
    return room


async def active_or_none(call: Call) -> LiveRoom | None:
    participant = await call.participant()
    if participant is None or participant.active_room_id is None:
        return None
    return await _current(call, await call.services.rooms.get(participant.active_room_id))


async def nearest_participant(call: Call, name: str) -> str | None:
    """An id of the caller's project that a misspelt one may have meant."""
    project = call.request.caller.project
    names = await reads.near_participants(call.services.reads, project, name)
    return _nearest(name, names)


async def named_participant(call: Call, name: str) -> Actor:
    """A participant of the caller's project. Raises `participant_not_found`."""
    participant = await call.services.participants.get(
        Actor(call.request.caller.project, name, "agent", "agent")
    )
    if participant is None:
        near = await nearest_participant(call, name)
        raise Refusal(
            "participant_not_found",
            f"There is no participant {name!r}." + (f" Did you mean {near!r}?" if near else ""),
            **({"did_you_mean": near} if near else {}),
        )
    return participant.actor


async def _current(call: Call, room: LiveRoom | None) -> LiveRoom | None:
    """The same room, as new as the call."""
    if room is not None:
        await call.services.following.room(room, call.actor)
    return room


async def _by_id(call: Call, reference: str) -> LiveRoom | None:
    number = ids.room_number(reference)
    return None if number is None else await call.services.rooms.get(number)


async def _by_name(call: Call, reference: str) -> LiveRoom | None:
    if "\0" in reference:
        return None
    project = call.request.caller.project
    room = await call.services.rooms.of_slug(project, reference)
    if room is None and (folded := slug(reference)) != reference:
        room = await call.services.rooms.of_slug(project, folded)
        if room is not None and room.state.name != reference.strip():
            return None
    return room


async def may_know(call: Call, room: LiveRoom) -> bool:
    """Rooms are known to their project; conversations to their two members and the operator."""
    if room.state.project != call.request.caller.project:
        return False
    if room.state.kind == "room":
        return True
    actor = call.actor
    if actor is None or actor.role == "operator":
        role = actor.role if actor else call.request.caller.role
        if role == "operator":
            return True
    participant = await call.participant() if actor else None
    return participant is not None and participant.id in room.state.members


async def _near_slug(call: Call, reference: str) -> str | None:
    wanted = slug(reference)[:120]
    if not wanted:
        return None
    project = call.request.caller.project
    return _nearest(wanted, await reads.near_slugs(call.services.reads, project, wanted))


def _nearest(wanted: str, names: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(wanted, names, n=1, cutoff=_NEAR)), None)
