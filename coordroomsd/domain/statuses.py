"""Statuses: a short line on what a member is doing, which runs out by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from coordroomsd.domain.commands import Decision, Needs, View
from coordroomsd.domain.log import Log, status_line
from coordroomsd.domain.members import active_member, refuse_in_conversations
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.rooms import Room, Status


class StatusSet(NamedTuple):
    room: Room
    status: Status | None
    changed: bool


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Set one's line; None clears it. The text one already has only moves the end."""

    actor: Actor
    room_id: int
    status: str | None
    expires_in_s: int

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id, actor=self.actor)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        refuse_in_conversations(room, "given a status")
        participant, member = active_member(view, room, self.actor)
        log = Log(room, view.now)
        held = log.room.statuses.get(member.id)
        ends = view.now + timedelta(seconds=self.expires_in_s)
        if self.status is None:
            if held:
                log.end_status(member.author, held, "cleared")
            return _decided(log, None, changed=held is not None)
        if held and held.status == self.status:
            extended = replace(held, expires_at=ends)
            log.room = log.room.with_status(member.id, extended)
            decision = _decided(log, extended, changed=False)
            return decision._replace(extended=((member.id, extended),))
        view.spend("status", participant, 1)
        status = Status(self.status, since=view.now, expires_at=ends)
        log.append("status", "set", member.author, status_line(status))
        return _decided(log, status, changed=True)


def _decided(log: Log, status: Status | None, *, changed: bool) -> Decision:
    return Decision(StatusSet(log.room, status, changed), log.room, tuple(log.events))
