"""Calls about messages and the log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from coordroomsd.api import schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.fields import MAX_SEQ
from coordroomsd.api.views import Json, gap_view, message_view, target_view
from coordroomsd.domain.commands import Condition, Cursor, Decision, HeldReaction
from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.events import (
    CONVERSATION_KINDS,
    ROOM_KINDS,
    Event,
    Message,
    author_wire,
    event_wire,
)
from coordroomsd.domain.members import reference
from coordroomsd.domain.messages import Post, Posted
from coordroomsd.domain.participants import Author
from coordroomsd.domain.reactions import counts, message_not_found
from coordroomsd.domain.rooms import Room
from coordroomsd.domain.text import BODY_MAX_BYTES, body_size, instant
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store import history
from coordroomsd.store.reads import Reader


async def post(call: Call) -> Answer:
    body: schemas.NewMessages = call.body
    if call.room.state.kind != "room":
        raise Refusal(
            "forbidden",
            f"{reference(call.room.state)} is a conversation.",
            recovery=f"Post to /conversations/{reference(call.room.state)}/messages.",
        )
    refuse_large_bodies([message.body for message in body.messages])
    condition = None
    if body.if_claim:
        condition = Condition(body.if_claim.key, body.if_claim.fence)
    command = Post(
        call.acting,
        call.room.state.id,
        tuple(MessageDraft(m.kind, m.body, m.reply_to) for m in body.messages),
        Cursor(body.after_seq, call.arguments.generation),
        body.max_unseen,
        condition,
        await call.counted(body.after_seq),
    )

    def respond(decision: Decision, draft: Draft) -> Answer:
        posted: Posted = decision.result
        answer: Json = {
            "messages": posted_views(posted),
            "latest_seq": posted.messages[-1].seq,
        }
        if posted.unseen is not None:
            answer["unseen_before_send"] = posted.unseen
        return json_answer(201, answer)

    return await call.store(command, respond)


def posted_views(posted: Posted) -> list[Json]:
    """Messages that were just stored, so nobody has reacted yet."""
    views = []
    for event in posted.messages:
        target = None
        if isinstance(event.payload, Message) and event.payload.reply_to is not None:
            target = target_view(event.payload.reply_to, posted.targets[event.payload.reply_to])
        views.append(message_view(event, target, {}))
    return views


def refuse_large_bodies(bodies: Sequence[str]) -> None:
    for number, body in enumerate(bodies):
        if body_size(body) > BODY_MAX_BYTES:
            raise Refusal(
                "payload_too_large",
                f"The body of message {number + 1} has {body_size(body)} bytes; "
                f"{BODY_MAX_BYTES} are allowed.",
            )


async def page(call: Call) -> Answer:
    asked: schemas.MessagesPage = call.arguments
    kinds = ROOM_KINDS if call.room.state.kind == "room" else CONVERSATION_KINDS
    if asked.kind not in (None, *kinds):
        raise invalid("kind", f"is none of {', '.join(kinds)}: {asked.kind!r}")
    member = await call.reader()
    call.check_cursor(call.room, call.cursor)
    messages, has_more, head = await messages_page(
        call, call.room, asked.after_seq, asked.limit, asked.kind
    )
    next_after_seq = messages[-1].seq if has_more else head
    if asked.kind is None:
        call.shown(member, asked.after_seq, next_after_seq)
    return json_answer(
        200,
        {
            "messages": await message_views(call.services.reads, call.room, messages),
            "next_after_seq": next_after_seq,
            "latest_seq": head,
            "has_more": has_more,
            "retention_gap": gap_view(call.room, asked.after_seq),
            "generation": call.services.generation,
        },
    )


async def messages_page(
    call: Call, room: LiveRoom, after_seq: int, limit: int, kind: str | None = None
) -> tuple[list[Event], bool, int]:
    """Messages after a number, whether there are more, and the head that they go up to."""
    state = room.state
    found = await history.messages(call.services.reads, state, after_seq, limit, kind)
    return found.events, found.has_more, state.head


async def message_views(reader: Reader, room: LiveRoom, messages: Collection[Event]) -> list[Json]:
    """Messages with their targets and the reactions that are held now."""
    targets = await _targets(reader, room, messages)
    held = await _held(reader, room.state, [event.seq for event in messages])
    return [
        message_view(event, targets.get(event.seq), counts(room.state, held.get(event.seq, ())))
        for event in messages
    ]


async def _targets(
    reader: Reader, room: LiveRoom, messages: Collection[Event]
) -> Mapping[int, Json]:
    wanted = {
        event.seq: event.payload.reply_to
        for event in messages
        if isinstance(event.payload, Message) and event.payload.reply_to is not None
    }
    near = {event.seq: event for event in messages}
    far = set(wanted.values()) - set(near)
    known = near | dict(await history.messages_at(reader, room.state, far))
    return {seq: target_view(target, _stored(known.get(target))) for seq, target in wanted.items()}


def _stored(event: Event | None) -> tuple[str, str, Author] | None:
    if event is None or not isinstance(event.payload, Message):
        return None
    return event.payload.kind, event.payload.body, event.who


async def _held(
    reader: Reader, room: Room, message_ids: Collection[int]
) -> Mapping[int, list[HeldReaction]]:
    held: dict[int, list[HeldReaction]] = {}
    for row in await history.reactions(reader, room, message_ids):
        held.setdefault(row.message_id, []).append(HeldReaction(row.membership_id, row.reaction))
    return held


async def events(call: Call) -> Answer:
    asked: schemas.EventsPage = call.arguments
    after_seq = asked.after_seq or 0
    member = await call.reader()
    call.check_cursor(call.room, call.cursor)
    state = call.room.state
    shown, has_more = await history.events(call.services.reads, state, after_seq, asked.limit)
    head = state.head
    next_after_seq = shown[-1].seq if has_more else head
    call.shown(member, after_seq, next_after_seq)
    return json_answer(
        200,
        {
            "events": [event_wire(event) for event in shown],
            "next_after_seq": next_after_seq,
            "latest_seq": head,
            "has_more": has_more,
            "retention_gap": gap_view(call.room, after_seq),
            "generation": call.services.generation,
        },
    )


async def show(call: Call) -> Answer:
    await call.reader()
    event = await existing(call)
    [view] = await message_views(call.services.reads, call.room, [event])
    return json_answer(200, {"message": view})


async def receipts(call: Call) -> Answer:
    """How far a message has come with everyone else who was there, as the log tells it."""
    await call.reader()
    event = await existing(call)
    room, reader = call.room, call.services.reads
    await call.services.following.everybody_in(room)
    attending = await history.attending(reader, room.state.id, event.seq)
    acknowledged = await history.acknowledgements(reader, room.state.id, event.seq)
    replies = await history.first_replies(reader, room.state.id, event.seq)
    rows = []
    for membership_id in sorted(attending):
        if membership_id == event.who.membership_id:
            continue
        at, reply = acknowledged.get(membership_id), replies.get(membership_id)
        seen = room.positions[membership_id].last_seen_seq >= event.seq
        rows.append(
            {
                "participant": author_wire(room.state.memberships[membership_id].author),
                "stage": "replied"
                if reply
                else "acknowledged"
                if at
                else "retrieved"
                if seen
                else "stored",
                "acknowledged_at": instant(at) if at else None,
                "reply_id": reply,
            }
        )
    return json_answer(200, {"receipts": rows})


async def existing(call: Call) -> Event:
    """The message in the path. Raises `message_not_found`."""
    seq = message_id(call)
    if not 0 < seq <= call.room.state.head:
        raise message_not_found(call.room.state, seq)
    found = await history.messages_at(call.services.reads, call.room.state, [seq])
    if seq not in found:
        raise message_not_found(call.room.state, seq)
    return found[seq]


def message_id(call: Call) -> int:
    """The number in the path. Raises `invalid_arguments`."""
    text = call.request.parameters["message"]
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MAX_SEQ):
        raise invalid("message", f"should be a message's number, not {text!r}")
    return int(text)
