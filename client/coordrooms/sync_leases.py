"""A claim as a blocking lock."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from .leases import Lease
from .sync_connections import drive


class _StoppedError(Exception):
    """The block is over, so nothing is to be renewed."""


class SyncLease(Lease):
    """A claim that is held for as long as a `with` block lasts; see `Room.claim`."""

    _stop: threading.Event

    def __enter__(self) -> Self:
        try:
            drive(self.session.run(self.acquire()))
        except KeyboardInterrupt:
            drive(self.session.run(self.undo()))
            raise
        self._stop = threading.Event()
        threading.Thread(target=self._keep, name=f"keep {self.key}", daemon=True).start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A renewal that is under way now comes too late for the daemon, because of its fence.
        self._stop.set()
        if self.lost:
            if exc is None:
                raise self.lost_error()
            return
        try:
            drive(self.session.run(self.give_back()))
        except Exception:
            # What the block raised tells more than that its claim could not be given back.
            if exc is None:
                raise

    def _keep(self) -> None:
        try:
            drive(self.session.run(self.keep()), self._pause)
        except _StoppedError:
            return

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise _StoppedError
