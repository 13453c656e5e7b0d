"""What a batch has decided and not yet committed, laid over what is committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from coordroomsd.domain.commands import Counted, Decision, HeldReaction, StoredMessage
from coordroomsd.domain.events import Event, Lease, Message, Reaction, StatusLine
from coordroomsd.domain.identities import Enrolled, Enrollment
from coordroomsd.domain.participants import Actor, Participant, display_name
from coordroomsd.domain.rooms import Room
from coordroomsd.live.buckets import Buckets
from coordroomsd.live.people import People
from coordroomsd.live.rooms import LiveRoom
from coordroomsd.store.rows import Expected, KeptAnswer, Key, Position, Rows

Name = tuple[str, str]

# Instead of a membership that is not there yet; what came before it is all by others.
NEWCOMER = 0


@dataclass(slots=True)
class Facts:
    """What was gathered for a batch beyond what memory holds. Absent: looked for and not there."""

    rooms: dict[int, LiveRoom] = field(default_factory=dict)
    participants: dict[Name, Participant] = field(default_factory=dict)
    slugs: dict[Name, int] = field(default_factory=dict)
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    messages: dict[tuple[int, int], Event] = field(default_factory=dict)
    reactions: dict[tuple[int, int], frozenset[HeldReaction]] = field(default_factory=dict)
    # By room, number and membership (NEWCOMER: none before the batch).
    unseen: dict[tuple[int, int, int], Counted] = field(default_factory=dict)
    answers: dict[Key, KeptAnswer] = field(default_factory=dict)
    enrollments: dict[bytes, Enrollment] = field(default_factory=dict)
    used_names: set[Name] = field(default_factory=set)
    # Whether anything of who is enrolled was looked up.
    has_identities: bool = False


class RoomDraft:
    """A room with what the batch has added to it so far."""

    __slots__ = ("events", "is_new", "is_written", "live", "pair", "removes", "state", "version")

    def __init__(
        self, live: LiveRoom, *, is_new: bool, pair: tuple[int, int] | None = None
    ) -> None:
        self.live = live
        self.state = live.state
        self.version = live.version
        # Whether the batch writes the room's own row, and so makes another version.
        self.is_written = False
        self.events: list[Event] = []
        self.is_new = is_new
        self.pair = pair
        self.removes = False


class Draft:
    """The View that commands of one batch decide on, in order."""

    def __init__(
        self,
        facts: Facts,
        now: datetime,
        new_id: Callable[[datetime], int],
        buckets: Buckets,
        people: People,
        generation: str,
    ) -> None:
        self.now = now
        self.rooms: dict[int, RoomDraft] = {}
        self.participants: dict[Name, Participant] = {}
        self.answers: dict[Key, KeptAnswer] = {}
        self._facts = facts
        self._new_id = new_id
        self._buckets = buckets
        self._people = people
        self.identities = people.version
        self.enrolled_now: dict[Name, Enrolled] = {}
        self._enrollments: dict[bytes, Enrollment | None] = {}
        self._generation = generation
        self._slugs: dict[Name, int] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._extended: set[tuple[int, int]] = set()
        self._spent: list[tuple[str, tuple[str, str, int], int]] = []
        self._reactions: dict[tuple[int, int], frozenset[HeldReaction]] = {}

    # --- what commands see (domain.commands.View) ---

    def new_id(self) -> int:
        return self._new_id(self.now)

    def generation(self) -> str:
        return self._generation

    def room(self, room_id: int) -> Room:
        drafted = self.rooms.get(room_id)
        return drafted.state if drafted else self._facts.rooms[room_id].state

    def participant(self, actor: Actor) -> Participant | None:
        name = (actor.project, actor.conversation_id)
        return self.participants.get(name) or self._facts.participants.get(name)

    def room_of_slug(self, project: str, slug: str) -> Room | None:
        name = (project, slug)
        room_id = self._slugs.get(name) or self._facts.slugs.get(name)
        return None if room_id is None else self.room(room_id)

    def conversation_of(self, pair: tuple[int, int]) -> Room | None:
        room_id = self._pairs.get(pair) or self._facts.pairs.get(pair)
        return None if room_id is None else self.room(room_id)

    def message(self, room_id: int, seq: int) -> StoredMessage | None:
        event = self._event(room_id, seq)
        if event is None or not isinstance(event.payload, Message):
            return None
        return StoredMessage(event.payload.kind, event.payload.body, event.who)

    def reactions(self, room_id: int, message_id: int) -> frozenset[HeldReaction]:
        key = (room_id, message_id)
        drafted = self._reactions.get(key)
        return self._facts.reactions.get(key, frozenset()) if drafted is None else drafted

    def unseen(self, room_id: int, after_seq: int, membership_id: int) -> int:
        unseen = self._facts.unseen
        counted = unseen.get((room_id, after_seq, membership_id)) or unseen.get(
            (room_id, after_seq, NEWCOMER)
        )
        count, after = counted or (0, after_seq)
        drafted = self.rooms.get(room_id)
        live = drafted.live if drafted else self._facts.rooms[room_id]
        entries = live.tail.after(after)
        assert entries is not None, "the journal counts what the tail does not hold"
        later = [entry.event for entry in entries] + (drafted.events if drafted else [])
        return count + sum(
            event.type == "message" and event.seq > after_seq and not event.by(membership_id)
            for event in later
        )

    def enrolled(self, project: str, name: str) -> Enrolled | None:
        return self.enrolled_now.get((project, name)) or self._people.get(project, name)

    def enrollment(self, code_hash: bytes) -> Enrollment | None:
        if code_hash in self._enrollments:
            return self._enrollments[code_hash]
        return self._facts.enrollments.get(code_hash)

    def is_used(self, project: str, name: str) -> bool:
        return (project, name) in self._facts.used_names or any(
            used_project == project and display_name(used) == name
            for used_project, used in self.participants
        )

    def spend(
        self, bucket: str, participant: Participant | Actor, cost: int, room_id: int = 0
    ) -> None:
        self.spend_all({bucket: cost}, participant, room_id)

    def spend_all(
        self, costs: Mapping[str, int], participant: Participant | Actor, room_id: int = 0
    ) -> None:
        owner = (participant.project, participant.conversation_id, room_id)
        self._buckets.spend_all(costs, owner)
        self._spent += [(bucket, owner, cost) for bucket, cost in costs.items()]

    # --- for answers ---

    def position(self, room_id: int, membership_id: int) -> Position:
        """A member's position; a newcomer was shown everything up to its own arrival."""
        drafted = self.rooms.get(room_id)
        live = drafted.live if drafted else self._facts.rooms[room_id]
        known = live.positions.get(membership_id)
        if known:
            return known
        assert drafted is not None
        arrived = next((e.seq for e in drafted.events if e.who.membership_id == membership_id), 0)
        return Position(arrived, arrived, self.now)

    # --- for the journal ---

    def apply(self, decision: Decision) -> None:
        """Take in what one command has decided."""
        for participant in decision.participants:
            self.participants[participant.project, participant.conversation_id] = participant
        if decision.enrolled:
            self.enrolled_now[decision.enrolled.project, decision.enrolled.name] = decision.enrolled
        if decision.offered:
            self._enrollments[decision.offered.code_hash] = decision.offered
        if decision.used_code:
            self._enrollments[decision.used_code] = None
        if decision.room is not None:
            self._apply_to_room(decision, decision.room)

    def _apply_to_room(self, decision: Decision, room: Room) -> None:
        if decision.room_is_new:
            self._add_room(room, decision.pair)
        elif room.id not in self.rooms:
            self.rooms[room.id] = RoomDraft(self._facts.rooms[room.id], is_new=False)
        drafted = self.rooms[room.id]
        drafted.state = room
        drafted.events += decision.events
        drafted.removes |= decision.removes
        self._extended |= {(room.id, membership_id) for membership_id, _ in decision.extended}
        if decision.reactions:
            message_id, held = decision.reactions
            self._reactions[room.id, message_id] = held

    @property
    def changes_identities(self) -> bool:
        return bool(self.enrolled_now or self._enrollments)

    def event_types(self) -> Counter[str]:
        """How many events of each type the batch has."""
        return Counter(event.type for drafted in self.rooms.values() for event in drafted.events)

    def cut(self) -> None:
        """Let readers know of removals that are about to be committed."""
        for drafted in self.rooms.values():
            if drafted.removes:
                drafted.live.cut_at = drafted.state.first_seq

    def refund(self) -> None:
        """The batch is not stored: give back what it took from the buckets."""
        for spent in self._spent:
            self._buckets.refund(*spent)

    def rows(self) -> Rows:
        """The net change of the batch."""
        rows = Rows(self.now)
        rows.participants = {p.id: p for p in self.participants.values()}
        rows.answers = self.answers
        rows.enrollments = self._enrollments
        rows.enrolled = self.enrolled_now
        for room_id, drafted in self.rooms.items():
            if drafted.is_new:
                rows.new_rooms[room_id] = (drafted.state, drafted.pair)
                for member in drafted.state.memberships.values():
                    position = self.position(room_id, member.id)
                    rows.memberships[room_id, member.id] = (member, position)
                    if drafted.state.kind != "room":
                        rows.arrivals[room_id, member.id, 0] = None
            elif drafted.events or _differs(drafted.live.state, drafted.state):
                self._add_head(rows, drafted)
            if drafted.removes:
                rows.removals[room_id] = drafted.state.first_seq
            self._add_events(rows, room_id, drafted)
        for room_id, membership_id in self._extended:
            status = self.rooms[room_id].state.statuses.get(membership_id)
            rows.statuses[room_id, membership_id] = status
        return rows

    def shared_rows(self) -> Rows:
        """The same for a database that others write to, with what they must have left alone."""
        rows = self.rows()
        changed = {room_id for room_id, _ in self._extended} | rows.removals.keys()
        for room_id in changed - rows.heads.keys() - rows.new_rooms.keys():
            self._add_head(rows, self.rooms[room_id])
        known = (self._facts.participants.get(name) for name in self.participants)
        rows.expected = Expected(
            {room_id: self.rooms[room_id].version for room_id in rows.heads},
            {one.id: one.active_room_id for one in known if one},
            self.identities if self.changes_identities else None,
        )
        return rows

    @property
    def is_about_identities(self) -> bool:
        """Whether what was looked up has to agree with who is enrolled as of `identities`."""
        return self._facts.has_identities

    def looked_at(self) -> tuple[list[LiveRoom], list[Actor]]:
        """What of the world the batch was decided on."""
        actors = [participant.actor for participant in self._facts.participants.values()]
        return list(self._facts.rooms.values()), actors

    def _add_head(self, rows: Rows, drafted: RoomDraft) -> None:
        rows.heads[drafted.state.id] = (drafted.live.state.head, drafted.state)
        drafted.is_written = True

    def _add_room(self, room: Room, pair: tuple[int, int] | None) -> None:
        self.rooms[room.id] = RoomDraft(
            LiveRoom(room.before_any_event(), {}), is_new=True, pair=pair
        )
        if room.slug is not None:
            self._slugs[room.project, room.slug] = room.id
        if pair:
            self._pairs[pair] = room.id

    def _add_events(self, rows: Rows, room_id: int, drafted: RoomDraft) -> None:
        state = drafted.state
        for event in drafted.events:
            who = event.who.membership_id
            rows.events.append((room_id, event))
            match event.payload:
                case StatusLine():
                    rows.statuses[room_id, who] = state.statuses.get(who)
                case Lease(key):
                    rows.claims[room_id, key] = state.claims.get(key)
                case Reaction(message_id, reaction):
                    added = event.reason == "added"
                    rows.reactions[room_id, message_id, who, reaction] = event.at if added else None
            if event.type == "member":
                member = state.memberships[who]
                rows.memberships[room_id, who] = (member, self.position(room_id, who))
                _add_attendance(rows, room_id, event)

    def _event(self, room_id: int, seq: int) -> Event | None:
        drafted = self.rooms.get(room_id)
        live = drafted.live if drafted else self._facts.rooms[room_id]
        if seq > live.state.head:
            new = seq - live.state.head - 1
            return drafted.events[new] if drafted and new < len(drafted.events) else None
        return live.tail.get(seq) or self._facts.messages.get((room_id, seq))


def _differs(before: Room, after: Room) -> bool:
    """Whether the room's own row has to be written although nothing has happened in it."""
    return (before.first_seq, before.max_age_s, before.max_events) != (
        after.first_seq,
        after.max_age_s,
        after.max_events,
    )


def _add_attendance(rows: Rows, room_id: int, event: Event) -> None:
    """The span of a membership's activity that a `joined` begins and a `left` ends."""
    who = event.who.membership_id
    if event.reason == "joined":
        rows.arrivals[room_id, who, event.seq] = None
        return
    open_spans: Iterable[tuple[int, int, int]] = (
        key for key, left in rows.arrivals.items() if key[:2] == (room_id, who) and left is None
    )
    if begun_now := next(iter(open_spans), None):
        rows.arrivals[begun_now] = event.seq
    else:
        rows.departures[room_id, who] = event.seq
