"""A world for rules to be tried in: rooms, participants and a clock, all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordroomsd.domain.commands import Command, Decision, HeldReaction, StoredMessage
from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import Event, Message
from coordroomsd.domain.identities import Enrolled, Enrollment
from coordroomsd.domain.members import CreateRoom, Join
from coordroomsd.domain.messages import Post
from coordroomsd.domain.participants import Actor, Participant, ParticipantKind, Role
from coordroomsd.domain.rooms import Member, Room, evolve

START = datetime(2026, 1, 1, tzinfo=UTC)
GENERATION = "g1"


def agent(name: str, kind: ParticipantKind = "agent", role: Role = "agent") -> Actor:
    return Actor("default", name, kind, role)


def draft(body: str = "hello", kind: str = "decision", reply_to: int | None = None) -> MessageDraft:
    return MessageDraft(kind, body, reply_to)


class World:
    """The View that commands decide on; `do` keeps what they have decided."""

    def __init__(self) -> None:
        self.now = START
        self.rooms: dict[int, Room] = {}
        self.logs: dict[int, list[Event]] = {}
        self.spent: list[tuple[str, str, int, int]] = []
        self.empty_buckets: set[str] = set()
        self._participants: dict[tuple[str, str], Participant] = {}
        self._conversations: dict[tuple[int, int], int] = {}
        self._reactions: dict[tuple[int, int], frozenset[HeldReaction]] = {}
        self._enrolled: dict[tuple[str, str], Enrolled] = {}
        self._enrollments: dict[bytes, Enrollment] = {}
        self._last_id = 0

    # --- what rules see ---

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def room(self, room_id: int) -> Room:
        return self.rooms[room_id]

    def participant(self, actor: Actor) -> Participant | None:
        return self._participants.get((actor.project, actor.conversation_id))

    def room_of_slug(self, project: str, slug: str) -> Room | None:
        found = (r for r in self.rooms.values() if (r.project, r.slug) == (project, slug))
        return next(found, None)

    def conversation_of(self, pair: tuple[int, int]) -> Room | None:
        return self.rooms[self._conversations[pair]] if pair in self._conversations else None

    def message(self, room_id: int, seq: int) -> StoredMessage | None:
        for event in self.logs[room_id]:
            if event.seq == seq and isinstance(event.payload, Message):
                return StoredMessage(event.payload.kind, event.payload.body, event.who)
        return None

    def reactions(self, room_id: int, message_id: int) -> frozenset[HeldReaction]:
        return self._reactions.get((room_id, message_id), frozenset())

    def unseen(self, room_id: int, after_seq: int, membership_id: int) -> int:
        return sum(
            event.type == "message" and event.seq > after_seq and not event.by(membership_id)
            for event in self.logs[room_id]
        )

    def enrolled(self, project: str, name: str) -> Enrolled | None:
        return self._enrolled.get((project, name))

    def enrollment(self, code_hash: bytes) -> Enrollment | None:
        return self._enrollments.get(code_hash)

    def is_used(self, project: str, name: str) -> bool:
        return any(
            participant.project == project and participant.name == name
            for participant in self._participants.values()
        )

    def generation(self) -> str:
        return GENERATION

    def spend(
        self, bucket: str, participant: Participant | Actor, cost: int, room_id: int = 0
    ) -> None:
        if bucket in self.empty_buckets:
            raise Refusal("rate_limited", f"no {bucket} left", retry_after_s=1)
        self.spent.append((bucket, participant.conversation_id, cost, room_id))

    def spend_all(
        self, costs: Mapping[str, int], participant: Participant | Actor, room_id: int = 0
    ) -> None:
        for bucket, cost in costs.items():
            self.spend(bucket, participant, cost, room_id)

    # --- what tests do ---

    def decide(self, command: Command) -> Decision:
        """What a command decides here, without keeping it."""
        return command.decide(self)

    def do(self, command: Command) -> Any:
        """Decide, keep the outcome, and give the result.

        The decided state must be the one that the decided events lead to.
        """
        decision = command.decide(self)
        for participant in decision.participants:
            self._participants[participant.project, participant.conversation_id] = participant
        if decision.room is not None:
            self._keep(decision, decision.room)
        if decision.enrolled:
            self._enrolled[decision.enrolled.project, decision.enrolled.name] = decision.enrolled
        if decision.offered:
            self._enrollments[decision.offered.code_hash] = decision.offered
        if decision.used_code:
            del self._enrollments[decision.used_code]
        return decision.result

    def _keep(self, decision: Decision, room: Room) -> None:
        before = room.before_any_event() if decision.room_is_new else self.rooms[room.id]
        for event in decision.events:
            if (event.type, event.reason) == ("member", "joined"):
                before = before.with_member(room.memberships[event.who.membership_id])
            before = evolve(before, event)
        assert before.head == room.head
        assert before.claims == room.claims
        assert before.next_deadline == room.next_deadline or decision.extended
        assert before.statuses.keys() == room.statuses.keys()
        self.rooms[room.id] = room
        self.logs.setdefault(room.id, []).extend(decision.events)
        if decision.pair:
            self._conversations[decision.pair] = room.id
        if decision.reactions:
            message_id, held = decision.reactions
            self._reactions[room.id, message_id] = held

    def pass_seconds(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def make_room(self, name: str, *actors: Actor) -> int:
        """A room that the first of these has made and the others have joined."""
        room_id: int = self.do(CreateRoom(actors[0], name)).room.id
        for actor in actors[1:]:
            self.do(Join(actor, room_id))
        self.spent.clear()
        return room_id

    def say(self, actor: Actor, room_id: int, *drafts: MessageDraft) -> list[int]:
        """The numbers of messages that it posts."""
        posted = self.do(Post(actor, room_id, drafts or (draft(),)))
        self.spent.clear()
        return [event.seq for event in posted.messages]

    def member(self, actor: Actor, room_id: int) -> Member:
        participant = self.participant(actor)
        assert participant
        return self.rooms[room_id].members[participant.id]

    def last(self, room_id: int) -> Event:
        return self.logs[room_id][-1]

    def lines(self, room_id: int) -> list[tuple[int, str, str | None]]:
        """The log in short: number, type, reason."""
        return [(event.seq, event.type, event.reason) for event in self.logs[room_id]]


@contextmanager
def refused(code: str, **extra: object) -> Iterator[None]:
    """That it is refused with this code and, among others, these members."""
    with pytest.raises(Refusal) as caught:
        yield
    assert caught.value.code == code, caught.value
    problem = caught.value.problem()
    assert {name: problem[name] for name in extra} == extra
    assert problem["recovery"]
    assert problem["detail"]


def second(seconds: float) -> datetime:
    """A time so many seconds after the world's start."""
    return START + timedelta(seconds=seconds)
