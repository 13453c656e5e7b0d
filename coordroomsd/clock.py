"""The time that decides: one clock for leases, statuses and every `at`."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The time on the wire: UTC, whole milliseconds, never going back while the daemon runs."""

    def monotonic(self) -> float:
        """Seconds that pass evenly, from an arbitrary start."""


def _seconds() -> float:
    # CLOCK_BOOTTIME goes on while the machine sleeps, so a lease does not grow by the sleep.
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


# No clock of a machine drifts by a thousandth.
MOST_AT_ONCE_S: Final = 0.001


class SteadyClock:
    """The database's time at the start of the daemon, counted on evenly from there.

    A step of the host's clock moves no deadline while the daemon runs: it is seen at the next
    start.
    """

    def __init__(self, at_start: datetime) -> None:
        utc = at_start.astimezone(UTC)
        self._start = utc.replace(microsecond=utc.microsecond // 1000 * 1000)
        self._started = _seconds() - utc.microsecond % 1000 / 1_000_000

    def now(self) -> datetime:
        passed_ms = int((_seconds() - self._started) * 1000)
        return self._start + timedelta(milliseconds=passed_ms)

    def monotonic(self) -> float:
        return _seconds()


class FollowingClock(SteadyClock):
    """The same, kept close to the database's time, so that all who share a database agree."""

    def __init__(self, at_start: datetime) -> None:
        super().__init__(at_start)
        self._latest = self._start

    def now(self) -> datetime:
        self._latest = max(self._latest, super().now())
        return self._latest

    def follow(self, database_time: datetime) -> None:
        """Come nearer to it, by a millisecond at most: called each second that is fast enough."""
        ahead_s = _seconds() - self._started - (database_time - self._start).total_seconds()
        self._started += min(max(ahead_s, -MOST_AT_ONCE_S), MOST_AT_ONCE_S)
