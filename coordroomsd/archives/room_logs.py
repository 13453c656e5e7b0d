"""Whether the events of a file are a log that a room can have had. No I/O: lines in, faults out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coordroomsd.archives.room_lines import (
    AnyEvent,
    AuthorLine,
    ClaimEvent,
    ClaimLine,
    MemberEvent,
    MemberLine,
    MessageEvent,
    ReactionEvent,
    ReactionLine,
    StatusEvent,
)
from coordroomsd.domain.events import Event, Lease, Message, Payload, Reaction, StatusLine
from coordroomsd.domain.participants import Author
from coordroomsd.domain.rooms import Claim, Member, Room, Status, evolve


class LogError(ValueError):
    """What is wrong, worded to follow the number of a line."""


class RoomLog:
    """Takes the lines of one room in their order, and tells what they amount to.

    `before` is the room as it was made. `members` are those of the file, by the id that the file
    gives them; their `participant_id` is the caller's.
    """

    def __init__(
        self, before: Room, head: int, first_seq: int, members: Mapping[str, Member]
    ) -> None:
        self._members = members
        self._made = replace(before, first_seq=first_seq)
        self._first_seq = first_seq
        self._head = head
        self._seq = 0
        self._messages: set[int] = set()
        self._questions: set[int] = set()
        # What the lines before the events say.
        self._statuses: dict[int, Status] = {}
        self._claims: dict[str, Claim] = {}
        self.reactions: dict[tuple[int, int, str], ReactionLine] = {}
        # What the events amount to, if they are all there.
        self._folded = self._made if first_seq == 1 else None
        self._held: set[tuple[int, int, str]] = set()
        self._attendances: dict[int, list[tuple[int, int | None]]] = {}

    def author(self, line: AuthorLine) -> Author:
        """Who that is. Raises LogError when no member of the file is."""
        member = self._members.get(line.membership_id)
        if member is None:
            raise LogError(f"names {line.membership_id}, who is no member of the room")
        known = member.author
        if (line.conversation_id, line.name, line.kind) != (
            known.conversation_id,
            known.name,
            known.kind,
        ):
            raise LogError(f"names {line.membership_id} otherwise than its member's line does")
        return known

    def take_member(self, line: MemberLine) -> None:
        member = self._members[line.membership_id]
        if max(line.cursor, line.last_seen_seq) > self._head:
            raise LogError(f"has a cursor beyond {self._head}, the room's latest number")
        if line.status is not None:
            if not member.active:
                raise LogError("has a status of somebody who has left")
            self._statuses[member.id] = Status(
                line.status.status, line.status.since, line.status.expires_at
            )
        number: int | None = 0
        for there in line.attendances:
            if number is None or not number < there.joined_seq <= self._head:
                raise LogError("has attendances that overlap, or lie beyond the log")
            number = there.left_seq
            if number is not None and not there.joined_seq < number <= self._head:
                raise LogError("has an attendance that ends before it begins, or beyond the log")
        if member.active is not (number is None):
            raise LogError(f"is {line.state}, and the last attendance says otherwise")

    def take_claim(self, line: ClaimLine) -> None:
        holder = self.author(line.holder)
        if not self._members[line.holder.membership_id].active:
            raise LogError("is held by somebody who has left")
        if line.key in self._claims:
            raise LogError(f"is a second claim of {line.key!r}")
        if max(line.fence, line.proposed_by_seq or 0) > self._head:
            raise LogError(f"has a number beyond {self._head}, the room's latest")
        self._claims[line.key] = Claim(
            line.key, holder, line.since, line.expires_at, line.fence, line.proposed_by_seq
        )

    def take_reaction(self, line: ReactionLine) -> None:
        place = (line.message_id, self.author(line.author).membership_id, line.reaction)
        if place in self.reactions:
            raise LogError("is a second reaction of the same kind")
        if line.message_id > self._head:
            raise LogError(f"is to a message beyond {self._head}, the room's latest number")
        self.reactions[place] = line

    def take_event(self, line: AnyEvent) -> Event:
        """The event that a line is, which must be able to come next."""
        gap_allowed = line.seq < self._first_seq
        expected = max(self._seq + 1, self._first_seq)
        if line.seq <= self._seq or (line.seq != expected and not gap_allowed):
            raise LogError(f"has number {line.seq}, where {expected} should come")
        if line.seq > self._head:
            raise LogError(f"has number {line.seq}, beyond {self._head}, the room's latest")
        event = self._event(line)
        self._check_references(event)
        if self._folded is not None:
            self._fold(self._folded, event)
        self._seq = line.seq
        if isinstance(event.payload, Message):
            self._messages.add(event.seq)
            if event.payload.kind == "question":
                self._questions.add(event.seq)
        return event

    def end(self, attendances: Mapping[int, list[tuple[int, int | None]]]) -> Room:
        """The room as all lines together have it. Raises LogError where they contradict."""
        if self._seq != self._head:
            raise LogError(f"comes after event {self._seq}, and the room's latest is {self._head}")
        memberships = {member.id: member for member in self._members.values()}
        said = replace(self._made, head=self._head).with_everything(
            memberships, self._statuses, self._claims
        )
        folded = self._folded
        if folded is not None:
            differing = {
                "members": folded.memberships != said.memberships,
                "claims": folded.claims != said.claims,
                # A status that is set again to its text moves its end without an event.
                "statuses": _texts(folded) != _texts(said),
                "reactions": self._held != set(self.reactions),
                "attendances": self._attendances != attendances,
            }
            if wrong := [name for name, differs in differing.items() if differs]:
                raise LogError(f"ends events that do not lead to these {' and '.join(wrong)}")
        return said

    def _event(self, line: AnyEvent) -> Event:
        payload: Payload = None
        match line:
            case MessageEvent(kind=kind, body=body, reply_to=reply_to):
                payload = Message(kind, body, reply_to)
            case MemberEvent():
                pass
            case StatusEvent(status=status, since=since, expires_at=expires_at):
                payload = StatusLine(status, since, expires_at)
            case ReactionEvent(message_id=message_id, reaction=reaction):
                payload = Reaction(message_id, reaction)
            case ClaimEvent(key=key, fence=fence, expires_at=expires_at, proposed_by_seq=proposal):
                payload = Lease(key, fence, expires_at, proposal)
        who = line.author or line.participant
        by_daemon = line.reason == "expired"
        if (
            who is None
            or by_daemon is not (line.author is None)
            or (line.author and line.participant)
        ):
            raise LogError("should name its author or, when something ran out, its participant")
        who_it_is = self.author(who)
        return Event(line.seq, line.type, line.reason, line.at, who_it_is, by_daemon, payload)

    def _check_references(self, event: Event) -> None:
        match event.payload:
            case Message(kind="answer", reply_to=None):
                raise LogError("is an answer to nothing")
            case Message(kind="answer", reply_to=int(target)):
                self._check_target(event, target, self._questions, "question")
            case Message(reply_to=int()):
                raise LogError("replies, and is no answer")
            case Reaction(message_id=target):
                self._check_target(event, target, self._messages, "message")
            case Lease(proposed_by_seq=int(target)):
                self._check_target(event, target, self._messages, "message")

    def _check_target(self, event: Event, target: int, known: set[int], what: str) -> None:
        was_removed = target < self._first_seq and target not in self._messages
        if target >= event.seq or not (target in known or was_removed):
            raise LogError(f"names {target}, which is no {what} before it")

    def _fold(self, room: Room, event: Event) -> None:
        who = event.who.membership_id
        member = room.memberships.get(who)
        joins = event.reason == "joined"
        if joins is (member is not None and member.active):
            raise LogError("is of somebody who is in already" if joins else "is of nobody in it")
        if joins and member is None:
            [new] = [one for one in self._members.values() if one.id == who]
            room = room.with_member(replace(new, active=False))
        self._check_state(room, event)
        self._folded = evolve(room, event)
        if joins:
            self._attendances.setdefault(who, []).append((event.seq, None))
        elif event.reason == "left" and event.type == "member":
            if (
                any(c.holder.membership_id == who for c in room.claims.values())
                or who in room.statuses
            ):
                raise LogError("is of somebody who leaves, and holds something still")
            self._attendances[who][-1] = (self._attendances[who][-1][0], event.seq)

    def _check_state(self, room: Room, event: Event) -> None:
        who = event.who.membership_id
        match event.type, event.reason, event.payload:
            case "claim", "claimed", Lease(key=key, fence=fence):
                if key in room.claims or fence != event.seq:
                    raise LogError("claims what is held, or under a fence that is not its number")
            case "claim", _, Lease(key=key, fence=fence):
                held = room.claims.get(key)
                if held is None or (held.holder.membership_id, held.fence) != (who, fence):
                    raise LogError("is about a claim that this member does not hold then")
            case "status", reason, StatusLine(status=status):
                set_already = who in room.statuses
                if reason != "set" and not (set_already and room.statuses[who].status == status):
                    raise LogError("ends a status that does not stand then")
            case "reaction", reason, Reaction(message_id=message_id, reaction=reaction):
                place = (message_id, who, reaction)
                if (place in self._held) is not (reason == "removed"):
                    raise LogError("adds a reaction that is held, or removes one that is not")
                (self._held.discard if reason == "removed" else self._held.add)(place)


def _texts(room: Room) -> dict[int, tuple[str, object]]:
    return {member: (held.status, held.since) for member, held in room.statuses.items()}
