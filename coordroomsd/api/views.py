"""How things look on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from coordroomsd.domain import ids
from coordroomsd.domain.events import Event, Message, author_wire
from coordroomsd.domain.participants import Actor, Author, Participant
from coordroomsd.domain.rooms import Claim, Member, Room, Status
from coordroomsd.domain.text import instant
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store.rows import Position

Json = dict[str, Any]


def room_view(room: Room, generation: str) -> Json:
    view: Json = {
        "id": ids.room_id(room.id),
        "name": room.name,
        "slug": room.slug,
        "kind": room.kind,
        "project": room.project,
        "created_at": instant(room.created_at),
        "latest_seq": room.head,
        "first_seq": room.first_seq,
        "generation": generation,
    }
    if room.kind != "room":
        view["members"] = [author_wire(member.author) for member in room.memberships.values()]
    return view


def membership_view(room: Room, member: Member, position: Position) -> Json:
    return {
        "id": ids.membership_id(member.id),
        "room_id": ids.room_id(room.id),
        "conversation_id": member.author.conversation_id,
        "state": _state(member),
        "cursor": position.cursor,
        "created_at": instant(member.created_at),
    }


def member_row(room: LiveRoom, member: Member, now: datetime, wake: str) -> Json:
    """A row of the members list. What has run out by `now` is not shown, swept or not."""
    position = room.positions[member.id]
    status = room.state.statuses.get(member.id)
    return author_wire(member.author) | {
        "state": _state(member),
        "cursor": position.cursor,
        "created_at": instant(member.created_at),
        "status": status_view(status if status and status.expires_at > now else None),
        "last_seen_seq": position.last_seen_seq,
        "last_seen_at": instant(position.last_seen_at),
        "waiting": room.waiters.is_waiting(member.id),
        "wake": wake,
    }


def status_view(status: Status | None) -> Json | None:
    if status is None:
        return None
    return {
        "status": status.status,
        "since": instant(status.since),
        "expires_at": instant(status.expires_at),
    }


def claim_view(claim: Claim) -> Json:
    return {
        "key": claim.key,
        "holder": author_wire(claim.holder),
        "since": instant(claim.since),
        "expires_at": instant(claim.expires_at),
        "fence": claim.fence,
        "proposed_by_seq": claim.proposed_by_seq,
    }


def claims_view(claims: Iterable[Claim]) -> list[Json]:
    return [claim_view(claim) for claim in sorted(claims, key=lambda claim: claim.fence)]


def message_view(
    event: Event, target: Json | None, counts: Mapping[str, Mapping[str, int]]
) -> Json:
    """A message as history, unread and answers show it. `counts` has only reactions held."""
    message = event.payload
    if not isinstance(message, Message):
        raise TypeError(f"event {event.seq} is no message")
    return {
        "id": event.seq,
        "seq": event.seq,
        "kind": message.kind,
        "body": message.body,
        "reply_to": message.reply_to,
        "at": instant(event.at),
        "author": author_wire(event.who),
        "reply_target": target,
        "reactions": {"counts": counts},
    }


def target_view(message_id: int, message: tuple[str, str, Author] | None) -> Json:
    """What a message replies to; None: it was removed."""
    if message is None:
        return {"id": message_id, "removed": True}
    kind, body, author = message
    return {"id": message_id, "kind": kind, "body": body, "author": author_wire(author)}


def gap_view(room: LiveRoom, after_seq: int) -> Json | None:
    """What retention has removed after `after_seq`, if anything. Made after what it is about."""
    first_seq = max(room.state.first_seq, room.cut_at)
    if after_seq + 1 >= first_seq:
        return None
    return {"from_seq": after_seq + 1, "to_seq": first_seq - 1}


def participant_view(participant: Actor | Participant) -> Json:
    return {
        "conversation_id": participant.conversation_id,
        "name": participant.name,
        "kind": participant.kind,
        "role": participant.role,
    }


def _state(member: Member) -> str:
    return "active" if member.active else "inactive"
