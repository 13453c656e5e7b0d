"""Loaded rooms: committed state, the tail of the log, positions and waiters."""

from __future__ import annotations

from collections import OrderedDict
from weakref import WeakValueDictionary

from coordroomsd.domain.rooms import Room
from coordroomsd.live.loading import Loading
from coordroomsd.live.tail import Tail
from coordroomsd.live.waiters import RoomWaiters
from coordroomsd.store import reads
from coordroomsd.store.read_pools import ReadPool
from coordroomsd.store.rows import Position

# How many rooms stay loaded although nobody uses them; a loaded room takes a few KiB, and its tail.
KEPT_ROOMS = 5_000
KEPT_NAMES = 100_000


class LiveRoom:
    """A room in memory. `state` is what is committed; only the journal replaces it.

    What lies before `cut_at` may be gone from the store: a removal is committed before `state`
    says so. Where nothing is being removed it is not above `state.first_seq`.
    """

    __slots__ = ("__weakref__", "cut_at", "positions", "state", "tail", "version", "waiters")

    def __init__(self, state: Room, positions: dict[int, Position], version: int = 0) -> None:
        self.state = state
        self.cut_at = state.first_seq
        # How often it had been written: the store has a larger one when another daemon wrote.
        self.version = version
        self.positions = positions
        self.tail = Tail(state.head)
        self.waiters = RoomWaiters()


class Rooms:
    """Every loaded room, each once: as long as anybody holds one, `get` returns that same one.

    A second copy would be a lost wake-up: waiters on one, events on the other.
    """

    def __init__(self, reader: ReadPool) -> None:
        self._reader = reader
        self._loaded: WeakValueDictionary[int, LiveRoom] = WeakValueDictionary()
        self._recent: OrderedDict[int, LiveRoom] = OrderedDict()
        self._ids_of_slugs: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._loading = Loading(self._load)

    def __len__(self) -> int:
        return len(self._loaded)

    def peek(self, room_id: int) -> LiveRoom | None:
        """The room if it is loaded."""
        room = self._loaded.get(room_id)
        if room is not None:
            self._keep(room)
        return room

    async def get(self, room_id: int) -> LiveRoom | None:
        """The room, loaded if need be; None when there is none of this id."""
        return self.peek(room_id) or await self._loading.get(room_id)

    def peek_of_slug(self, project: str, slug: str) -> LiveRoom | None:
        """The room of this slug if both are known here."""
        room_id = self._ids_of_slugs.get((project, slug))
        return None if room_id is None else self.peek(room_id)

    async def of_slug(self, project: str, slug: str) -> LiveRoom | None:
        room_id = self._ids_of_slugs.get((project, slug))
        if room_id is None:
            room_id = await reads.room_of_slug(self._reader, project, slug)
        return None if room_id is None else await self.get(room_id)

    async def of_pair(self, pair: tuple[int, int]) -> int | None:
        """The id of the conversation that two participants, the smaller id first, have."""
        return await reads.room_of_pair(self._reader, pair)

    def add(self, room: LiveRoom) -> None:
        """A room that was just made, or just loaded."""
        self._loaded[room.state.id] = room
        self._keep(room)
        if room.state.slug is not None:
            self._ids_of_slugs[room.state.project, room.state.slug] = room.state.id
            if len(self._ids_of_slugs) > KEPT_NAMES:
                self._ids_of_slugs.popitem(last=False)

    def loaded(self) -> list[LiveRoom]:
        return list(self._loaded.values())

    async def _load(self, room_id: int) -> LiveRoom | None:
        found = await reads.load_room(self._reader, room_id)
        # A room that was just made is in the store a moment before the journal publishes it here.
        room = self._loaded.get(room_id)
        if room is None and found is not None:
            room = LiveRoom(found.room, found.positions, found.version)
            self.add(room)
        return room

    def _keep(self, room: LiveRoom) -> None:
        room_id = room.state.id
        if room_id in self._recent:
            self._recent.move_to_end(room_id)
            return
        self._recent[room_id] = room
        if len(self._recent) > KEPT_ROOMS:
            self._recent.popitem(last=False)
