"""A claim as an asynchronous lock."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from .async_connections import drive
from .leases import Lease


class AsyncLease(Lease):
    """A claim that is held for as long as an `async with` block lasts; see `AsyncRoom.claim`."""

    _task: asyncio.Task[object]
    _keeper: asyncio.Task[None]
    # How many cancellations the task had pending before ours, as in `asyncio.timeout`.
    _cancelling: int
    _cancelled_by_us: bool

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a claim can be held by a task only")
        try:
            await drive(self.session.run(self.acquire()))
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.create_task(drive(self.session.run(self.undo()))))
            raise
        self._task, self._cancelling, self._cancelled_by_us = task, task.cancelling(), False
        self._keeper = asyncio.create_task(self._keep_or_cancel(), name=f"keep {self.key}")
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._keeper.cancel()
        if self._cancelled_by_us:
            ours = self._task.uncancel() <= self._cancelling
            if exc is None or (ours and isinstance(exc, asyncio.CancelledError)):
                raise self.lost_error() from exc
            return
        # A task of its own, so that a block which is cancelled again gives the claim back too.
        release = asyncio.create_task(self._release(), name=f"release {self.key}")
        try:
            await asyncio.shield(release)
        except Exception:
            # What the block raised tells more than that its claim could not be given back.
            if exc is None:
                raise

    async def _keep_or_cancel(self) -> None:
        await drive(self.session.run(self.keep()))
        self._cancelled_by_us = True
        self._task.cancel(f"the claim {self.key!r} was lost")

    async def _release(self) -> None:
        await drive(self.session.run(self.give_back()))
