"""Calls about rooms of two."""

from __future__ import annotations

from coordroomsd.api import places, schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.messages import (
    message_views,
    messages_page,
    posted_views,
    refuse_large_bodies,
)
from coordroomsd.api.states import react
from coordroomsd.api.views import gap_view, room_view
from coordroomsd.domain import ids
from coordroomsd.domain.commands import Cursor, Decision
from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.conversations import OpenConversation, Opened
from coordroomsd.domain.errors import invalid
from coordroomsd.domain.messages import Post, Posted
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer
from coordroomsd.store import reads


async def open_conversation(call: Call) -> Answer:
    body: schemas.NewConversation = call.body
    if body.with_ == call.acting.conversation_id:
        raise invalid("with", "is yourself; a conversation has two parties")
    other = await places.named_participant(call, body.with_)
    command = OpenConversation(call.acting, other, call.services.peer_policy())

    def respond(decision: Decision, draft: Draft) -> Answer:
        opened: Opened = decision.result
        view = room_view(opened.room, call.services.generation)
        return json_answer(201 if opened.is_new else 200, {"conversation": view})

    return await call.store(command, respond)


async def list_conversations(call: Call) -> Answer:
    """One's own; all of the project for the operator."""
    asked: schemas.ListPage = call.arguments
    reader, rooms = call.services.reads, call.services.rooms
    after = 0
    if asked.after is not None:
        number = ids.room_number(asked.after)
        known = None if number is None else await rooms.get(number)
        if known is None or not await places.may_know(call, known):
            raise invalid("after", f"names no conversation: {asked.after!r}")
        after = known.state.id
    role = call.actor.role if call.actor else call.request.caller.role
    if role == "operator":
        project = call.request.caller.project
        numbers = await reads.conversations_of_project(reader, project, after, asked.limit + 1)
    else:
        participant = await call.participant()
        numbers = []
        if participant:
            numbers = await reads.conversations_of(reader, participant.id, after, asked.limit + 1)
    found = [await rooms.get(number) for number in numbers[: asked.limit]]
    views = [room_view(room.state, call.services.generation) for room in found if room]
    return json_answer(200, {"conversations": views, "has_more": len(numbers) > asked.limit})


async def page(call: Call) -> Answer:
    asked: schemas.ConversationPage = call.arguments
    member = await call.reader()
    call.check_cursor(call.room, Cursor(asked.after_sequence, asked.generation))
    messages, has_more, head = await messages_page(
        call, call.room, asked.after_sequence, asked.limit
    )
    next_sequence = messages[-1].seq if has_more else head
    call.shown(member, asked.after_sequence, next_sequence)
    return json_answer(
        200,
        {
            "messages": await message_views(call.services.reads, call.room, messages),
            "has_more": has_more,
            "next_sequence": next_sequence,
            "retention_gap": gap_view(call.room, asked.after_sequence),
        },
    )


async def send(call: Call) -> Answer:
    body: schemas.NewConversationMessage = call.body
    refuse_large_bodies([body.body])
    draft = MessageDraft(body.kind, body.body, body.reply_to)
    command = Post(call.acting, call.room.state.id, (draft,))

    def respond(decision: Decision, _: Draft) -> Answer:
        posted: Posted = decision.result
        [message] = posted_views(posted)
        return json_answer(201, {"message": message, "latest_seq": message["seq"]})

    return await call.store(command, respond)


async def acknowledge(call: Call) -> Answer:
    return await react(call, "ack", remove=False)
