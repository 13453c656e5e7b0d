"""Writing a room's next lines: events are appended one by one and the state follows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from coordroomsd.domain.events import Event, EventType, Lease, Message, Payload, StatusLine
from coordroomsd.domain.participants import Author
from coordroomsd.domain.rooms import Claim, Member, Room, Status, evolve


class Log:
    """The lines that one call adds to one room, and the state they lead to.

    Begins by ending what is overdue, so that every rule sees the room as it is at `now`.
    """

    def __init__(self, room: Room, now: datetime) -> None:
        self.room = room
        self.now = now
        self.events: list[Event] = []
        if room.next_deadline is not None and room.next_deadline <= now:
            self._end_what_is_overdue()

    def append(
        self,
        event_type: EventType,
        reason: str | None,
        who: Author,
        payload: Payload = None,
        *,
        by_daemon: bool = False,
    ) -> Event:
        event = Event(self.room.head + 1, event_type, reason, self.now, who, by_daemon, payload)
        self.room = evolve(self.room, event)
        self.events.append(event)
        return event

    def say(self, who: Author, messages: Iterable[Message]) -> tuple[Event, ...]:
        """Append messages. They change nothing but the head: one new state does for all."""
        head, now = self.room.head, self.now
        said = tuple(
            Event(seq, "message", None, now, who, False, message)
            for seq, message in enumerate(messages, head + 1)
        )
        self.room = self.room.at_head(head + len(said))
        self.events += said
        return said

    def introduce(self, member: Member) -> None:
        """Give someone new a place; the `joined` event that makes it active comes next."""
        self.room = self.room.with_member(member)

    def end_status(self, who: Author, status: Status, reason: str) -> Event:
        return self.append(
            "status", reason, who, status_line(status), by_daemon=reason == "expired"
        )

    def end_claim(self, claim: Claim, reason: str) -> Event:
        return self.append(
            "claim", reason, claim.holder, lease(claim), by_daemon=reason == "expired"
        )

    def _end_what_is_overdue(self) -> None:
        """One `expired` event for each, in the order in which they ran out."""
        room, now = self.room, self.now
        ends: list[tuple[datetime, Claim | tuple[Author, Status]]] = []
        for membership_id, status in room.statuses.items():
            if status.expires_at <= now:
                author = room.memberships[membership_id].author
                ends.append((status.expires_at, (author, status)))
        ends += [(c.expires_at, c) for c in room.claims.values() if c.expires_at <= now]
        for _, ended in sorted(ends, key=lambda end: end[0]):
            if isinstance(ended, Claim):
                self._expired("claim", ended.holder, lease(ended))
            else:
                self._expired("status", ended[0], status_line(ended[1]))
        # One new state for all of them: a thousand ends in one room would copy it a thousand times.
        self.room = room.without_overdue(now, head=room.head + len(self.events))

    def _expired(self, event_type: EventType, who: Author, payload: Payload) -> None:
        seq = self.room.head + len(self.events) + 1
        self.events.append(Event(seq, event_type, "expired", self.now, who, True, payload))


def status_line(status: Status) -> StatusLine:
    return StatusLine(status.status, status.since, status.expires_at)


def lease(claim: Claim) -> Lease:
    return Lease(claim.key, claim.fence, claim.expires_at, claim.proposed_by_seq)
