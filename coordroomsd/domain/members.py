"""Who is in a room: making one, joining, leaving, and what needs a membership."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from coordroomsd.domain import ids
from coordroomsd.domain.commands import Cursor, Decision, Needs, View
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.log import Log
from coordroomsd.domain.participants import Actor, Author, Participant
from coordroomsd.domain.rooms import Member, Room
from coordroomsd.domain.text import slug


class Entered(NamedTuple):
    """A room and one's place in it; `joined_seq` is None when one was in it already."""

    room: Room
    member: Member
    joined_seq: int | None


@dataclass(frozen=True, slots=True)
class CreateRoom:
    """Make a room and join it, in one step. `name` has passed `text.room_name`."""

    actor: Actor
    name: str

    def needs(self) -> Needs:
        return Needs(actor=self.actor, slug=(self.actor.project, slug(self.name)))

    def decide(self, view: View) -> Decision:
        room_slug = slug(self.name)
        participant = view.participant(self.actor)
        refuse_while_active(view, participant, None)
        if taken := view.room_of_slug(self.actor.project, room_slug):
            raise Refusal(
                "room_name_conflict",
                f"There is a room named {taken.name!r} already, at /rooms/{room_slug}.",
                room=room_slug,
            )
        view.spend("room", self.actor, 1)
        participant = participant or introduced(view, self.actor)
        room = Room(
            view.new_id(), self.actor.project, "room", self.name, room_slug, created_at=view.now
        )
        log = Log(room, view.now)
        member = _newcomer(view, participant)
        log.introduce(member)
        log.append("member", "joined", member.author)
        return Decision(
            Entered(log.room, log.room.memberships[member.id], 1),
            log.room,
            tuple(log.events),
            room_is_new=True,
            participants=(replace(participant, active_room_id=room.id, last_room_id=room.id),),
        )


@dataclass(frozen=True, slots=True)
class Join:
    actor: Actor
    room_id: int

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id, actor=self.actor)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        refuse_in_conversations(room, "joined")
        participant = view.participant(self.actor)
        member = room.members.get(participant.id) if participant else None
        if member and member.active:
            return Decision(Entered(room, member, None))
        refuse_while_active(view, participant, self.room_id)
        view.spend("room", self.actor, 1)
        participant = participant or introduced(view, self.actor)
        log = Log(room, view.now)
        if member is None:
            member = _newcomer(view, participant)
            log.introduce(member)
        joined = log.append("member", "joined", member.author)
        return Decision(
            Entered(log.room, log.room.memberships[member.id], joined.seq),
            log.room,
            tuple(log.events),
            participants=(replace(participant, active_room_id=room.id, last_room_id=room.id),),
        )


@dataclass(frozen=True, slots=True)
class Leave:
    actor: Actor
    room_id: int

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id, actor=self.actor)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        refuse_in_conversations(room, "left")
        participant, member = membership(view, room, self.actor)
        if not member.active:
            return Decision(Entered(room, member, None))
        log = Log(room, view.now)
        depart(log, member)
        return Decision(
            Entered(log.room, log.room.memberships[member.id], None),
            log.room,
            tuple(log.events),
            participants=(replace(participant, active_room_id=None),),
        )


def depart(log: Log, member: Member) -> None:
    """Let an active member leave, and before that everything of it end."""
    for claim in sorted(log.room.claims.values(), key=lambda claim: claim.fence):
        if claim.holder.membership_id == member.id:
            log.end_claim(claim, "left")
    if status := log.room.statuses.get(member.id):
        log.end_status(member.author, status, "left")
    log.append("member", "left", member.author)


def membership(view: View, room: Room, actor: Actor) -> tuple[Participant, Member]:
    """The actor's place in a room, active or not. Raises `membership_not_found`."""
    participant = view.participant(actor)
    member = room.members.get(participant.id) if participant else None
    if participant is None or member is None:
        raise never_joined(room, actor)
    return participant, member


def active_member(view: View, room: Room, actor: Actor) -> tuple[Participant, Member]:
    """As `membership`; raises `active_membership_not_found` too."""
    participant, member = membership(view, room, actor)
    if not member.active:
        raise not_active(room, actor)
    return participant, member


def check_cursor(view: View, room: Room, cursor: Cursor) -> None:
    """Raises `generation_changed` or `cursor_ahead`."""
    refuse_cursor(room, cursor, view.generation())


def refuse_cursor(room: Room, cursor: Cursor, generation: str) -> None:
    if cursor.generation is not None and cursor.generation != generation:
        raise Refusal(
            "generation_changed",
            f"Room {reference(room)} is of generation {generation}, not of the one you sent: "
            "the database was restored from an older copy.",
            room=reference(room),
            generation=generation,
            latest_seq=room.head,
        )
    if cursor.after_seq is not None and cursor.after_seq > room.head:
        raise Refusal(
            "cursor_ahead",
            f"The number {cursor.after_seq} is beyond {room.head}, the latest of room "
            f"{reference(room)}.",
            room=reference(room),
            generation=generation,
            latest_seq=room.head,
        )


def refuse_in_conversations(room: Room, what: str) -> None:
    if room.kind != "room":
        raise Refusal(
            "forbidden",
            f"{reference(room)} is a conversation of two, which cannot be {what}.",
            room=reference(room),
        )


def refuse_while_active(view: View, participant: Participant | None, room_id: int | None) -> None:
    """Raises `active_membership_conflict` when the participant is active in another room."""
    if participant is None or participant.active_room_id in (None, room_id):
        return
    assert participant.active_room_id is not None
    room = view.room(participant.active_room_id)
    raise Refusal(
        "active_membership_conflict",
        f"{participant.conversation_id} is active in room {reference(room)}, "
        "and can be active in one room only.",
        room=reference(room),
    )


def never_joined(room: Room, actor: Actor) -> Refusal:
    return Refusal(
        "membership_not_found",
        f"{actor.conversation_id} never joined room {reference(room)}.",
        room=reference(room),
    )


def not_active(room: Room, actor: Actor) -> Refusal:
    return Refusal(
        "active_membership_not_found",
        f"{actor.conversation_id} has left room {reference(room)}.",
        room=reference(room),
    )


def reference(room: Room) -> str:
    """How a room is called in errors and answers: its slug, or the id of a conversation."""
    return room.slug or ids.room_id(room.id)


def introduced(view: View, actor: Actor) -> Participant:
    """A participant that the store does not know yet."""
    return Participant(view.new_id(), actor.project, actor.conversation_id, actor.kind, actor.role)


def _newcomer(view: View, participant: Participant) -> Member:
    author = Author(view.new_id(), participant.conversation_id, participant.name, participant.kind)
    return Member(author, participant.id, active=False, created_at=view.now)
