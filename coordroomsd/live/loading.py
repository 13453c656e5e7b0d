"""Loading once: whoever needs a thing that is being loaded waits for that same load."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Loading(Generic[K, V]):
    """At most one load of a key at a time.

    That is also what keeps memory true: the journal waits for a load under way before it writes
    about the same key, so no load can bring back what a later write has changed.
    """

    def __init__(self, load: Callable[[K], Awaitable[V]]) -> None:
        self._load = load
        self._under_way: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K) -> V:
        """Raises whatever the load raises. A caller that goes away ends nobody else's load."""
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._run(key), name=f"load {key}")
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _run(self, key: K) -> V:
        return await self._load(key)
