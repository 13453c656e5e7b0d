"""Reactions: three mean something to the work, four do not; added, removed, never toggled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from coordroomsd.domain.commands import (
    NO_CURSOR,
    Counted,
    Cursor,
    Decision,
    HeldReaction,
    Needs,
    View,
)
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import PROTOCOL_REACTIONS, Reaction
from coordroomsd.domain.log import Log
from coordroomsd.domain.members import active_member, check_cursor, reference
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.rooms import Room


class Reacted(NamedTuple):
    room: Room
    changed: bool
    counts: dict[str, dict[str, int]]
    unseen: int | None


@dataclass(frozen=True, slots=True)
class React:
    """Add (or, with `remove`, take back) one of the seven reactions."""

    actor: Actor
    room_id: int
    message_id: int
    reaction: str
    remove: bool = False
    cursor: Cursor = NO_CURSOR
    counted: Counted | None = None

    def needs(self) -> Needs:
        return Needs(
            room_id=self.room_id,
            actor=self.actor,
            messages=(self.message_id,),
            reactions_of=self.message_id,
            unseen_after=self.cursor.after_seq,
            counted=self.counted,
        )

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        participant, member = active_member(view, room, self.actor)
        message = view.message(room.id, self.message_id)
        if message is None:
            raise message_not_found(room, self.message_id)
        check_cursor(view, room, self.cursor)
        if (
            self.reaction in PROTOCOL_REACTIONS
            and message.author.membership_id == member.id
            and not self.remove
        ):
            raise Refusal(
                "own_message",
                f"Message {self.message_id} is your own; {self.reaction} counts what others "
                "think of it.",
                room=reference(room),
            )
        unseen = None
        if self.cursor.after_seq is not None:
            unseen = view.unseen(room.id, self.cursor.after_seq, member.id)
        held = view.reactions(room.id, self.message_id)
        mine = HeldReaction(member.id, self.reaction)
        if (mine in held) is not self.remove:
            return Decision(Reacted(room, False, counts(room, held), unseen))
        if not self.remove:
            view.spend("reaction", participant, 1)
        log = Log(room, view.now)
        reason = "removed" if self.remove else "added"
        log.append("reaction", reason, member.author, Reaction(self.message_id, self.reaction))
        now_held = held - {mine} if self.remove else held | {mine}
        return Decision(
            Reacted(log.room, True, counts(room, now_held), unseen),
            log.room,
            tuple(log.events),
            reactions=(self.message_id, now_held),
        )


def counts(room: Room, held: Iterable[HeldReaction]) -> dict[str, dict[str, int]]:
    """How many hold each reaction, and how many of them are people; only reactions held."""
    counted: dict[str, dict[str, int]] = {}
    for membership_id, reaction in sorted(held):
        count = counted.setdefault(reaction, {"total": 0, "human": 0})
        count["total"] += 1
        count["human"] += room.memberships[membership_id].author.kind == "human"
    return counted


def message_not_found(room: Room, message_id: Any) -> Refusal:
    return Refusal(
        "message_not_found",
        f"There is no message {message_id} in room {reference(room)}.",
        room=reference(room),
    )
