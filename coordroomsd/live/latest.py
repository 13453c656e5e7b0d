"""Reading anew: whoever asks gets what was read after the asking, and shares the read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Latest(Generic[K]):
    """Runs `read` for a key, one after the other: at most one runs, and one waits for its turn.

    Who asks joins the one that waits: the one that runs may have looked already.
    """

    def __init__(self, read: Callable[[K], Awaitable[None]]) -> None:
        self._read = read
        self._running: dict[K, asyncio.Task[None]] = {}
        self._waiting: dict[K, asyncio.Task[None]] = {}

    async def __call__(self, key: K) -> None:
        """Raises whatever the read raises. A caller that goes away ends nobody else's read."""
        task = self._waiting.get(key)
        if task is None:
            task = asyncio.create_task(self._run(key, self._running.get(key)), name=f"read {key}")
            task.add_done_callback(_told)
            self._waiting[key] = task
        await asyncio.shield(task)

    async def _run(self, key: K, before: asyncio.Task[None] | None) -> None:
        task = self._waiting[key]
        if before:
            await asyncio.wait([before])
        del self._waiting[key]
        self._running[key] = task
        try:
            await self._read(key)
        finally:
            if self._running.get(key) is task:
                del self._running[key]


def _told(task: asyncio.Task[None]) -> None:
    """Whoever asked may have gone away before it failed."""
    if not task.cancelled():
        task.exception()
