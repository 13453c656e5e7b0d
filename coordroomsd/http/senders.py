"""Callers whose requests are not complete: what has come of them waits in our memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

# A request takes milliseconds; a slow line sends a few at a time.
MAX_UNFINISHED_BYTES: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class _Sending:
    size: int
    refuse: Callable[[], None]


class Senders:
    """All of them, the longest at it first. `most_bytes` may change."""

    def __init__(self, most_bytes: int = MAX_UNFINISHED_BYTES) -> None:
        self.most_bytes = most_bytes
        self._sending: dict[Hashable, _Sending] = {}
        self._unfinished = 0

    def unfinished_bytes(self) -> int:
        return self._unfinished

    def has_sent(self, sender: Hashable, size: int, refuse: Callable[[], None]) -> None:
        """So much by now. `refuse` is called, once, if others need the room."""
        sending = self._sending.get(sender)
        if sending is None:
            sending = self._sending[sender] = _Sending(0, refuse)
        self._unfinished += size - sending.size
        sending.size = size
        while self._unfinished > self.most_bytes and len(self._sending) > 1:
            longest = next(iter(self._sending))
            refuse = self._sending[longest].refuse
            self.is_done(longest)
            refuse()

    def is_done(self, sender: Hashable) -> None:
        """Its request is complete, or given up. Harmless for one that is not known."""
        sending = self._sending.pop(sender, None)
        if sending is not None:
            self._unfinished -= sending.size
