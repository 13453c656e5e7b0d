"""How far each member has come: its cursor, what it was shown, when it last called.

Kept in memory and written with a later batch, at the latest after a second: a crash costs at most a
repeated delivery.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from coordroomsd.store.rows import Position

if TYPE_CHECKING:
    from coordroomsd.live.rooms import LiveRoom

# A room and a membership in it.
Place = tuple[int, int]


class Positions:
    """The positions of all loaded rooms that are newer in memory than in the store."""

    def __init__(self) -> None:
        # Holds the rooms, so that none is let go before its positions are written.
        self._changed: dict[Place, LiveRoom] = {}
        # Those whose callers wait for them to be stored.
        self._urgent: dict[Place, LiveRoom] = {}

    def __len__(self) -> int:
        return len(self._changed) + len(self._urgent)

    def called(self, room: LiveRoom, membership_id: int, now: datetime) -> None:
        """The member made a call."""
        position = room.positions[membership_id]
        if position.last_seen_at < now:
            self._set(room, membership_id, position._replace(last_seen_at=now))

    def prove(self, room: LiveRoom, membership_id: int, seq: int) -> None:
        """A wait arrived with `seq`: the caller has all up to it, if it was shown that much."""
        position = room.positions[membership_id]
        if position.cursor < seq <= position.last_seen_seq:
            self._set(room, membership_id, position._replace(cursor=seq))

    def shown(self, room: LiveRoom, membership_id: int, began: int, ended: int) -> None:
        """Everything after `began` and up to `ended` was shown; past a hole that counts nothing."""
        position = room.positions[membership_id]
        if began <= position.last_seen_seq < ended:
            self._set(room, membership_id, position._replace(last_seen_seq=ended))

    def confirm(self, room: LiveRoom, membership_id: int, seq: int) -> int:
        """The member says that it has everything up to `seq`; its cursor after that. Never back.

        It is stored with the next batch.
        """
        position = room.positions[membership_id]
        confirmed = position._replace(
            cursor=max(position.cursor, seq), last_seen_seq=max(position.last_seen_seq, seq)
        )
        if confirmed != position:
            room.positions[membership_id] = confirmed
        self._urgent[room.state.id, membership_id] = room
        return confirmed.cursor

    def take(self, limit: int) -> dict[Place, LiveRoom]:
        """All urgent positions, up to `limit` others: now the taker's to write or give `back`."""
        taken, self._urgent = self._urgent, {}
        for place in list(self._changed)[:limit]:
            taken[place] = self._changed.pop(place)
        return taken

    def back(self, taken: dict[Place, LiveRoom]) -> None:
        """They could not be written."""
        self._changed = taken | self._changed

    def _set(self, room: LiveRoom, membership_id: int, position: Position) -> None:
        room.positions[membership_id] = position
        self._changed[room.state.id, membership_id] = room
