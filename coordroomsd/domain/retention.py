"""Retention: how much of a log is kept, and taking away what is over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coordroomsd.domain.commands import Decision, Needs, View

# Events that one removal takes at most: few enough that no post waits for it noticeably.
MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """Give a room a policy of its own; None leaves the daemon's default in force. No event."""

    room_id: int
    max_age_s: int | None
    max_events: int | None

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        room = replace(room, max_age_s=self.max_age_s, max_events=self.max_events)
        return Decision(room, room)


@dataclass(frozen=True, slots=True)
class Remove:
    """Let a room begin at `first_seq`, or as far on the way there as one removal may go.

    The result is the room; whoever sweeps goes on while its `first_seq` is not there yet.
    """

    room_id: int
    first_seq: int

    def needs(self) -> Needs:
        return Needs(room_id=self.room_id)

    def decide(self, view: View) -> Decision:
        room = view.room(self.room_id)
        # The head stays: an empty log could not be told from one that was never begun.
        wanted = min(self.first_seq, room.head, room.first_seq + MOST_AT_ONCE)
        room = replace(room, first_seq=max(room.first_seq, wanted))
        return Decision(room, room, removes=True)
