"""Drafts on committed worlds that a test makes up."""

from __future__ import annotations

from collections.abc import Sequence

from coordroomsd.domain.commands import Command
from coordroomsd.domain.events import Event
from coordroomsd.domain.log import Log
from coordroomsd.domain.participants import Actor, Author, Participant
from coordroomsd.domain.rooms import Member, Room
from coordroomsd.journal.draft import Draft, Facts
from coordroomsd.live.buckets import Buckets, Limit
from coordroomsd.live.people import People
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store.rows import Position
from tests.clocks import START, FakeClock

GENERATION = "g1"
ROOM = 100
ADA, BOB, EVE = (Actor("default", name, "agent", "agent") for name in ("ada", "bob", "eve"))


def participant(actor: Actor, number: int) -> Participant:
    return Participant(number, "default", actor.conversation_id, "agent", "agent", ROOM, ROOM)


class Committed:
    """A room with Ada (membership 1) and Bob (2) in it; its head is 2. Eve is nobody yet."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        limits = {
            name: Limit(100, 1)
            for name in ("message", "body", "status", "reaction", "claim", "room")
        }
        self.buckets = Buckets(limits, self.clock)
        self.facts = Facts()
        room = Room(ROOM, "default", "room", "plan", "plan", START)
        log = Log(room, START)
        for number, actor in enumerate((ADA, BOB), 1):
            name = actor.conversation_id
            author = Author(number, name, name, "agent")
            log.introduce(Member(author, 10 + number, False, START))
            log.append("member", "joined", author)
            self.facts.participants["default", name] = participant(actor, 10 + number)
        positions = {number: Position(number, number, START) for number in (1, 2)}
        self.live = LiveRoom(log.room.before_any_event(), positions)
        self.commit(log.room, log.events)
        self.facts.rooms[ROOM] = self.live
        self._last_id = 1000

    def commit(self, room: Room, events: Sequence[Event]) -> None:
        self.live.state = room
        self.live.tail.extend(events)

    def draft(self) -> Draft:
        return Draft(
            self.facts, self.clock.now(), self._new_id, self.buckets, People([]), GENERATION
        )

    def _new_id(self, _: object) -> int:
        self._last_id += 1
        return self._last_id


def do(draft: Draft, *commands: Command) -> list[object]:
    """Decide and apply in order; the results."""
    results = []
    for command in commands:
        decision = command.decide(draft)
        draft.apply(decision)
        results.append(decision.result)
    return results
