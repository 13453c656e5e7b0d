"""Calls about rooms and members."""

from __future__ import annotations

from coordroomsd.api import places, schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.views import (
    Json,
    claims_view,
    member_row,
    membership_view,
    participant_view,
    room_view,
)
from coordroomsd.domain import ids
from coordroomsd.domain.commands import Decision
from coordroomsd.domain.errors import invalid
from coordroomsd.domain.members import CreateRoom, Entered, Join, Leave
from coordroomsd.domain.participants import Actor
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer, Respond
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import reads


async def me(call: Call) -> Answer:
    participant = await call.participant()
    room = await places.active_or_none(call)
    membership = None
    if room and participant:
        member = await call.member(room)
        membership = membership_view(room.state, member, room.positions[member.id])
    generation = call.services.generation
    return json_answer(
        200,
        {
            "participant": participant_view(call.acting),
            "active_room": room_view(room.state, generation) if room else None,
            "membership": membership,
            "conversations": [
                room_view(thread.state, generation) for thread in await conversations_of(call)
            ],
        },
    )


async def conversations_of(call: Call) -> list[LiveRoom]:
    """The acting participant's conversations, the oldest first."""
    participant = await call.participant()
    if participant is None:
        return []
    numbers = await reads.conversations_of(call.services.reads, participant.id)
    found = [await call.services.rooms.get(number) for number in numbers]
    rooms = [room for room in found if room]
    for room in rooms:
        await call.services.following.room(room, call.actor)
    return rooms


async def create(call: Call) -> Answer:
    body: schemas.NewRoom = call.body
    return await call.store(CreateRoom(call.acting, body.name), _entered(call, 201))


async def list_rooms(call: Call) -> Answer:
    asked: schemas.ListRooms = call.arguments
    project = call.request.caller.project
    after = 0
    if asked.after is not None:
        room = await _room_of_id(call, asked.after)
        if room is None or room.state.project != project or room.state.kind != "room":
            raise invalid("after", f"names no room: {asked.after!r}")
        after = room.state.id
    found = await reads.list_rooms(
        call.services.reads,
        project,
        after,
        active_only=asked.state == "active",
        limit=asked.limit + 1,
    )
    rows = [
        room_view(row.room, call.services.generation) | {"active_members": row.active_members}
        for row in found[: asked.limit]
    ]
    return json_answer(200, {"rooms": rows, "has_more": len(found) > asked.limit})


async def _room_of_id(call: Call, room_id: str) -> LiveRoom | None:
    number = ids.room_number(room_id)
    return None if number is None else await call.services.rooms.get(number)


async def show(call: Call) -> Answer:
    await call.reader()
    await call.services.following.everybody_in(call.room)
    now = call.services.clock.now()
    held = [claim for claim in call.room.state.claims.values() if claim.expires_at > now]
    return json_answer(
        200,
        {
            "room": room_view(call.room.state, call.services.generation),
            "members": _members(call),
            "claims": claims_view(held),
        },
    )


async def members(call: Call) -> Answer:
    await call.reader()
    await call.services.following.everybody_in(call.room)
    return json_answer(200, {"members": _members(call)})


def _members(call: Call) -> list[Json]:
    now, wakes, state = call.services.clock.now(), call.services.wakes, call.room.state
    return [
        member_row(call.room, member, now, wakes.of(state.project, member.author.conversation_id))
        for member in state.memberships.values()
    ]


async def join(call: Call) -> Answer:
    return await call.store(Join(call.acting, call.room.state.id), _entered(call, 200))


async def leave(call: Call) -> Answer:
    def respond(decision: Decision, draft: Draft) -> Answer:
        return json_answer(200, _room_and_membership(call, decision.result, draft))

    return await call.store(Leave(call.acting, call.room.state.id), respond)


def _entered(call: Call, status: int) -> Respond:
    def respond(decision: Decision, draft: Draft) -> Answer:
        view = _room_and_membership(call, decision.result, draft)
        return json_answer(status, view | {"next_after_seq": view["membership"]["cursor"]})

    return respond


def _room_and_membership(call: Call, entered: Entered, draft: Draft) -> Json:
    room, member, _ = entered
    position = draft.position(room.id, member.id)
    return {
        "room": room_view(room, call.services.generation),
        "membership": membership_view(room, member, position),
    }


async def participants(call: Call) -> Answer:
    asked: schemas.ListPage = call.arguments
    project = call.request.caller.project
    after = 0
    if asked.after is not None:
        known = await call.services.participants.get(Actor(project, asked.after, "agent", "agent"))
        if known is None:
            raise invalid("after", f"names no participant: {asked.after!r}")
        after = known.id
    found = await reads.list_participants(call.services.reads, project, after, asked.limit + 1)
    rows = [
        participant_view(row.participant) | {"active_room": row.active_slug}
        for row in found[: asked.limit]
    ]
    return json_answer(200, {"participants": rows, "has_more": len(found) > asked.limit})
