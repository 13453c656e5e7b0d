"""Deadlines: a heap of rooms by the time at which something there runs out.

An item that is due is a suggestion: the journal's command decides, by the same clock, what has run
out.
"""

from __future__ import annotations

import asyncio
import heapq
from datetime import datetime, timedelta

from coordroomsd.clock import Clock

# The loop's own clock stands still while the machine sleeps; looking every second bounds what that
# costs.
_LONGEST_SLEEP_S = 1.0


class Timers:
    """Belongs to one task, which asks for what is `due`; anybody may `arm`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._heap: list[tuple[datetime, int]] = []
        # By room: the earliest deadline that is in the heap.
        self._armed: dict[int, datetime] = {}
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._armed)

    def arm(self, room_id: int, deadline: datetime) -> None:
        """Look at the room at `deadline`, unless it is looked at earlier anyhow."""
        armed = self._armed.get(room_id)
        if armed is not None and armed <= deadline:
            return
        self._armed[room_id] = deadline
        heapq.heappush(self._heap, (deadline, room_id))
        if self._heap[0][1] == room_id:
            self._changed.set()

    def take_due(self) -> set[int]:
        """The rooms whose time has come; they are no longer armed."""
        now = self._clock.now()
        due = set()
        while self._heap and self._heap[0][0] <= now:
            deadline, room_id = heapq.heappop(self._heap)
            if self._armed.get(room_id) == deadline:
                del self._armed[room_id]
                due.add(room_id)
        return due

    async def due(self) -> set[int]:
        """Sleep until something is due."""
        while True:
            self._changed.clear()
            if due := self.take_due():
                return due
            await self._sleep()

    async def _sleep(self) -> None:
        if not self._heap:
            await self._changed.wait()
            return
        left = (self._heap[0][0] - self._clock.now()) / timedelta(seconds=1)
        try:
            async with asyncio.timeout(min(max(left, 0.001), _LONGEST_SLEEP_S)):
                await self._changed.wait()
        except TimeoutError:
            pass
