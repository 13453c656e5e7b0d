"""Posting: what may be said, answers and their questions, and conditions on a post."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from coordroomsd.domain.claims import refuse_unless_held
from coordroomsd.domain.commands import (
    NO_CURSOR,
    Condition,
    Counted,
    Cursor,
    Decision,
    Draft,
    Needs,
    StoredMessage,
    View,
)
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import Event, Message
from coordroomsd.domain.log import Log
from coordroomsd.domain.members import active_member, check_cursor, reference
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.rooms import Room
from coordroomsd.domain.text import body_size


class Posted(NamedTuple):
    """`unseen` is None when the caller sent no `after_seq`; `targets` are by number."""

    room: Room
    messages: tuple[Event, ...]
    unseen: int | None
    targets: dict[int, StoredMessage]


@dataclass(frozen=True, slots=True)
class Post:
    """Store messages in a room, all or none. Each draft's fields have been checked."""

    actor: Actor
    room_id: int
    drafts: tuple[Draft, ...]
    cursor: Cursor = NO_CURSOR
    max_unseen: int | None = None
    condition: Condition | None = None
    counted: Counted | None = None

    def needs(self) -> Needs:
        return Needs(
            room_id=self.room_id,
            actor=self.actor,
            messages=tuple({d.reply_to for d in self.drafts if d.reply_to is not None}),
            unseen_after=self.cursor.after_seq,
            counted=self.counted,
        )

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        participant, member = active_member(view, room, self.actor)
        check_cursor(view, room, self.cursor)
        log = Log(room, view.now)
        targets = self._targets(view, room)
        unseen = self._unseen(view, room, member.id)
        if self.condition:
            refuse_unless_held(log.room, member.id, self.condition.key, self.condition.fence)
        size = sum(body_size(draft.body) for draft in self.drafts)
        view.spend_all({"message": len(self.drafts), "body": size}, participant)
        posted = log.say(member.author, (Message(d.kind, d.body, d.reply_to) for d in self.drafts))
        return Decision(Posted(log.room, posted, unseen, targets), log.room, tuple(log.events))

    def _targets(self, view: View, room: Room) -> dict[int, StoredMessage]:
        targets = {}
        for draft in self.drafts:
            if draft.reply_to is None or draft.reply_to in targets:
                continue
            target = view.message(room.id, draft.reply_to)
            if target is None or (draft.kind == "answer" and target.kind != "question"):
                what = "no message" if target is None else f"of kind {target.kind}, not a question"
                raise Refusal(
                    "reply_target_invalid",
                    f"{draft.reply_to} is {what} of room {reference(room)}.",
                    recovery="Name the id of a question of this room that still exists."
                    if room.kind == "room"
                    else None,
                    reply_to=draft.reply_to,
                    room=reference(room),
                )
            targets[draft.reply_to] = target
        return targets

    def _unseen(self, view: View, room: Room, membership_id: int) -> int | None:
        if self.cursor.after_seq is None:
            return None
        unseen = view.unseen(room.id, self.cursor.after_seq, membership_id)
        if self.max_unseen is not None and unseen > self.max_unseen:
            raise Refusal(
                "unseen_messages",
                f"{unseen} messages by others came after {self.cursor.after_seq} in room "
                f"{reference(room)}; you allowed {self.max_unseen}. Nothing was stored.",
                unseen=unseen,
                latest_seq=room.head,
                room=reference(room),
            )
        return unseen
