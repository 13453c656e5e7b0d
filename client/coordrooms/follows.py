"""Following a room: every event once, in order, through restarts of the daemon.

A follower is asked for its next `turn` again and again by one of the fronts.
"""

from __future__ import annotations

from .calls import Program, do
from .events import Event, HistoryRestored, RetentionGap
from .operations.waits import WakeOn, closing_pause, wait
from .refusals import GenerationChangedError

Followed = Event | RetentionGap | HistoryRestored

# Long enough for an upgrade of the host, short enough that a dead daemon is noticed.
FOLLOW_PATIENCE_S = 600.0


class Follower:
    """Follows what others do in a room by waiting. Nobody else may drive it meanwhile."""

    def __init__(
        self, room: str, after_seq: int | None, wake_on: WakeOn, limit: int, patience_s: float
    ) -> None:
        self._room = room
        self._after_seq = after_seq
        self._wake_on = wake_on
        self._limit = limit
        self._patience_s = patience_s
        self._generation: str | None = None
        self._closing = False

    def turn(self) -> Program[list[Followed]]:
        """Wait until there is something, and return it.

        The wait proves to the daemon that everything returned before was received. When the
        daemon's numbers are no longer those of before, it says so, and goes on from the cursor
        that the restored database has.
        """
        while True:
            if self._closing:
                yield closing_pause()
            call = wait(
                self._room,
                self._after_seq,
                wake_on=self._wake_on,
                limit=self._limit,
                generation=self._generation,
            )
            try:
                woken = yield from do(call._replace(patience_s=self._patience_s))
            except GenerationChangedError as changed:
                self._after_seq = None
                self._generation = changed.generation
                return [
                    HistoryRestored(generation=changed.generation, latest_seq=changed.latest_seq)
                ]
            self._after_seq = woken.next_after_seq
            self._generation = woken.generation
            self._closing = woken.reason == "closing"
            items: list[Followed] = list(woken.events)
            if woken.retention_gap is not None:
                items.insert(0, woken.retention_gap)
            if items:
                return items
