"""Following what other daemons commit to a database that is shared: memory catches up with it.

Every call looks first whether what memory holds of its caller and its room is still so; a hint
from the bus, or the sweep each second, does the same for rooms that somebody waits in. And a batch
that was decided on something older fails in the store, is caught up with, and decided anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from coordroomsd.clock import Clock
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.events import Event
from coordroomsd.domain.participants import Actor
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.publishing import end_calls, enrol
from coordroomsd.live.latest import Latest
from coordroomsd.live.participants import Participants
from coordroomsd.live.people import People
from coordroomsd.live.rooms import LiveRoom, Rooms
from coordroomsd.live.tail import MAX_EVENTS
from coordroomsd.live.timers import Timers
from coordroomsd.live.unindexed import Unindexed
from coordroomsd.live.waiters import Hub
from coordroomsd.store import catching_up, presence, reads
from coordroomsd.store.errors import OwnershipLostError
from coordroomsd.store.read_pools import ReadPool
from coordroomsd.store.reads import LoadedRoom
from coordroomsd.store.rows import Position


class Following(Protocol):
    """Each returns when memory is as new as the call."""

    async def caller(self, actor: Actor | None) -> None:
        """Who is enrolled, and the participant that the actor is."""

    async def room(self, room: LiveRoom, actor: Actor | None) -> None:
        """A room, and how far the actor has come in it."""

    async def everybody_in(self, room: LiveRoom) -> None:
        """How far each member of the room has come."""

    async def unindexed(self) -> Collection[int]:
        """The rooms that the search index may be behind in."""


class Alone:
    """Nobody else writes: memory is what is committed."""

    def __init__(self, unindexed: Unindexed) -> None:
        self._unindexed = unindexed

    async def caller(self, actor: Actor | None) -> None:
        pass

    async def room(self, room: LiveRoom, actor: Actor | None) -> None:
        pass

    async def everybody_in(self, room: LiveRoom) -> None:
        pass

    async def unindexed(self) -> Collection[int]:
        return self._unindexed.rooms()


class Together:
    """`deciding` is held while a batch is decided: memory stands still meanwhile.

    `lost` is called when the database has less than this daemon has seen in it.
    """

    def __init__(
        self,
        reader: ReadPool,
        daemon_id: int,
        rooms: Rooms,
        participants: Participants,
        people: People,
        hub: Hub,
        timers: Timers,
        unindexed: Unindexed,
        clock: Clock,
        lost: Callable[[OwnershipLostError], None],
    ) -> None:
        self._reader = reader
        self._daemon_id = daemon_id
        self._rooms = rooms
        self._participants = participants
        self._people = people
        self._hub = hub
        self._timers = timers
        self._unindexed = unindexed
        self._clock = clock
        self.deciding = asyncio.Lock()
        self._lost = lost
        self._read_caller = Latest(self._caller)
        self._read_room = Latest(self._room)

    async def caller(self, actor: Actor | None) -> None:
        await self._read_caller(actor)

    async def room(self, room: LiveRoom, actor: Actor | None) -> None:
        participant = self._participants.peek(actor) if actor else None
        await self._read_room((room.state.id, participant.id if participant else None))

    async def everybody_in(self, room: LiveRoom) -> None:
        room_id = room.state.id
        _catch_up_with_positions(room, await reads.room_positions(self._reader, room_id))
        room.waiters.elsewhere = await presence.waiting_elsewhere(
            self._reader, room_id, self._daemon_id
        )

    async def unindexed(self) -> Collection[int]:
        return await reads.unindexed(self._reader)

    async def all_of(self, rooms: Iterable[LiveRoom], actors: Iterable[Actor]) -> None:
        """Whatever of these has moved."""
        for actor in (None, *actors):
            await self._read_caller(actor)
        await self.rooms(rooms)

    async def rooms(self, rooms: Iterable[LiveRoom]) -> int:
        """Those of these rooms that others have written to; how many there were."""
        before = {room.state.id: (room, room.version) for room in rooms}
        if not before:
            return 0
        moved = 0
        versions = await reads.room_versions(self._reader, list(before))
        for room_id, (room, version) in before.items():
            self._refuse_less(room_id, versions.get(room_id, -1), version)
            moved += await self.at_least(room, versions[room_id])
        return moved

    async def is_overtaken(self, draft: Draft) -> bool:
        """Whether codes and names were looked up that others have changed since.

        A refusal writes nothing, so no write would tell.
        """
        if not draft.is_about_identities:
            return False
        version, _ = await reads.caller(self._reader, None)
        return version != draft.identities

    async def at_least(self, room: LiveRoom, version: int) -> bool:
        """A room that has come to this version at least; whether it had to be read."""
        if version <= room.version:
            return False
        await self._catch_up(room)
        return True

    async def identities(self, version: int) -> None:
        """Who is enrolled; calls under a token that ended elsewhere end here."""
        if version <= self._people.version:
            return
        version, enrolled = await reads.enrolled_now(self._reader)
        async with self.deciding:
            if version <= self._people.version:
                return
            self._people.version = version
            for one in enrolled:
                enrol(self._people, self._hub, one)

    async def _caller(self, actor: Actor | None) -> None:
        known = self._participants.peek(actor) if actor else None
        version, participant = await reads.caller(self._reader, actor)
        await self.identities(version)
        if actor is None or participant is None or participant == known:
            return
        async with self.deciding:
            # Unless the journal has published another one since.
            if self._participants.peek(actor) is known:
                self._participants.put(participant)
                return
        await self._caller(actor)

    async def _room(self, key: tuple[int, int | None]) -> None:
        room_id, participant_id = key
        room = await self._rooms.get(room_id)
        assert room is not None, f"room {room_id} was found before and is never removed"
        before = room.version
        version, positions = await reads.room_as_one_sees_it(self._reader, room_id, participant_id)
        self._refuse_less(room_id, version, before)
        await self.at_least(room, version)
        _catch_up_with_positions(room, positions)

    async def _catch_up(self, room: LiveRoom) -> None:
        loaded, events = await catching_up.room_since(self._reader, room.state, MAX_EVENTS)
        async with self.deciding:
            if loaded.version > room.version:
                self._take_over(room, loaded, events)

    def _take_over(self, room: LiveRoom, loaded: LoadedRoom, events: list[Event]) -> None:
        """As after a commit of one's own (publishing.py), without a pause."""
        now, before, state = self._clock.monotonic(), room.state, loaded.room
        events = [event for event in events if event.seq > before.head]
        room.state, room.version, room.cut_at = state, loaded.version, state.first_seq
        _catch_up_with_positions(room, loaded.positions)
        if state.next_deadline is not None:
            self._timers.arm(state.id, state.next_deadline)
        has_all = len(events) == state.head - before.head
        room.tail.forget_before(state.first_seq)
        if has_all:
            room.tail.extend(events)
        else:
            room.tail.jump(state.head)
        # Who has left and come back meanwhile was away, too.
        left = {event.who.membership_id for event in events if event.reason == "left"}
        for membership_id, member in before.memberships.items():
            is_active = state.memberships[membership_id].active
            if membership_id in left or (member.active and not is_active):
                end_calls(room, membership_id)
        if has_all:
            room.waiters.wake(events, now)
        else:
            room.waiters.wake_all(now)

    def _refuse_less(self, room_id: int, version: int, before: int) -> None:
        """What was seen once is committed, unless the database is another one now."""
        if version >= before:
            return
        self._lost(
            OwnershipLostError(
                f"the database has lost what was committed: room {room_id} was written {before} "
                f"times and now only {max(version, 0)} times"
            )
        )
        raise Refusal("store_unavailable", "The database is not the one that it was.")


def _catch_up_with_positions(room: LiveRoom, positions: dict[int, Position]) -> None:
    """Nobody ever goes back; what is newer here is on its way to the store."""
    for membership_id, stored in positions.items():
        known = room.positions.get(membership_id)
        room.positions[membership_id] = (
            Position(*map(max, known, stored)) if known else stored  # type: ignore[arg-type]
        )
