"""Callers that do not read their answers: what is written for them waits in our memory.

A connection has fallen behind when the kernel has taken all it takes and 64 KiB more wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

ANSWER_WITHIN_S: Final = 30.0
MAX_UNREAD_BYTES: Final = 256 * 1024 * 1024
# What a reader takes in ANSWER_WITHIN_S at least: a telephone in a tunnel does, one byte a second
# does not.
LEAST_BYTES: Final = 64 * 1024


@dataclass(slots=True)
class _Behind:
    unread: int
    timer: asyncio.TimerHandle
    drop: Callable[[], None]


class Readers:
    """All that have fallen behind, the longest behind first. `within_s` and `most` may change."""

    def __init__(
        self, within_s: float = ANSWER_WITHIN_S, most_bytes: int = MAX_UNREAD_BYTES
    ) -> None:
        self.within_s = within_s
        self.most_bytes = most_bytes
        self._behind: dict[asyncio.Transport, _Behind] = {}
        self._unread = 0

    def unread_bytes(self) -> int:
        """As of when each was looked at last."""
        return self._unread

    def fell_behind(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        drop: Callable[[], None],
    ) -> None:
        """`drop` is called, once, if it does not go on, or if others need the room."""
        if transport in self._behind:
            return
        unread = transport.get_write_buffer_size()
        timer = loop.call_later(self.within_s, self._look, transport, loop)
        self._behind[transport] = _Behind(unread, timer, drop)
        self._unread += unread
        while self._unread > self.most_bytes and len(self._behind) > 1:
            self._end(next(iter(self._behind)))

    def caught_up(self, transport: asyncio.Transport) -> None:
        """Or is gone."""
        if behind := self._behind.pop(transport, None):
            behind.timer.cancel()
            self._unread -= behind.unread

    def _look(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        behind = self._behind[transport]
        unread = transport.get_write_buffer_size()
        if behind.unread - unread < LEAST_BYTES:
            self._end(transport)
            return
        self._unread -= behind.unread - unread
        behind.unread = unread
        behind.timer = loop.call_later(self.within_s, self._look, transport, loop)

    def _end(self, transport: asyncio.Transport) -> None:
        drop = self._behind[transport].drop
        self.caught_up(transport)
        drop()
