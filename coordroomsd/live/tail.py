"""The end of a room's log, in memory: what most waits and streams are answered from."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any

import orjson

from coordroomsd.domain.events import Event, Message, event_wire

MAX_EVENTS = 512
MAX_BYTES = 256 * 1024
# What an event weighs beside its body, roughly.
_OVERHEAD_BYTES = 400


class Entry:
    """An event and its bytes on the wire, encoded once however many callers are shown it."""

    __slots__ = ("_encoded", "event")

    def __init__(self, event: Event) -> None:
        self.event = event
        self._encoded: bytes | None = None

    @property
    def encoded(self) -> bytes:
        if self._encoded is None:
            self._encoded = orjson.dumps(event_wire(self.event))
        return self._encoded


class Tail:
    """The last events of a room, without a gap, up to its head. Bounded in number and in bytes."""

    def __init__(self, head: int) -> None:
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self._head = head
        # What callers have made of these entries for each other; it goes as soon as they change.
        self.shared: dict[Hashable, Any] = {}

    @property
    def start(self) -> int:
        """The number before the first event that is here."""
        return self._head - len(self._entries)

    def extend(self, events: Iterable[Event]) -> None:
        """Append the events that follow the head."""
        self.shared.clear()
        for event in events:
            assert event.seq == self._head + 1, f"event {event.seq} after {self._head}"
            self._head = event.seq
            self._entries.append(Entry(event))
            self._bytes += _weight(event)
        while len(self._entries) > MAX_EVENTS or self._bytes > MAX_BYTES:
            self._bytes -= _weight(self._entries.popleft().event)

    def jump(self, head: int) -> None:
        """Go on after `head`, with nothing of what came before."""
        self.shared.clear()
        self._entries.clear()
        self._bytes, self._head = 0, head

    def forget_before(self, first_seq: int) -> None:
        """Drop what retention may have removed; the store knows which of it is kept."""
        self.shared.clear()
        while self._entries and self._entries[0].event.seq < first_seq:
            self._bytes -= _weight(self._entries.popleft().event)

    def after(self, seq: int) -> list[Entry] | None:
        """The entries after `seq`; None when some of them are in the store only."""
        start = self.start
        if seq < start:
            return None
        newest = self._head - seq
        if newest == 0:
            return []
        if newest == 1:
            return [self._entries[-1]]
        return [self._entries[index] for index in range(seq - start, len(self._entries))]

    def get(self, seq: int) -> Event | None:
        """The event of this number, if it is here."""
        index = seq - self.start - 1
        return self._entries[index].event if 0 <= index < len(self._entries) else None

    def __len__(self) -> int:
        return len(self._entries)


def _weight(event: Event) -> int:
    body = len(event.payload.body) if isinstance(event.payload, Message) else 0
    return _OVERHEAD_BYTES + body
