"""Which rooms have messages that the search index does not have yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class Unindexed:
    """The journal adds rooms, one chore takes them; `rooms` has both, what is taken too."""

    def __init__(self, rooms: Iterable[int] = ()) -> None:
        self._waiting = dict.fromkeys(rooms)
        self._taken: int | None = None
        self._added = asyncio.Event()
        if self._waiting:
            self._added.set()

    def __len__(self) -> int:
        return len(self.rooms())

    def add(self, room_id: int) -> None:
        self._waiting[room_id] = None
        self._added.set()

    def rooms(self) -> set[int]:
        taken = set() if self._taken is None else {self._taken}
        return taken.union(self._waiting)

    async def some(self) -> None:
        """Returns once there is a room to take."""
        await self._added.wait()

    def take(self) -> int | None:
        """The room that has waited longest, if any; it is `done` or `again` before the next one.

        What is added to it meanwhile waits for another turn.
        """
        self._taken = next(iter(self._waiting), None)
        if self._taken is not None:
            del self._waiting[self._taken]
        if not self._waiting:
            self._added.clear()
        return self._taken

    def done(self) -> None:
        self._taken = None

    def again(self) -> None:
        """The taken room has more."""
        if self._taken is not None:
            self.add(self._taken)
            self._taken = None
