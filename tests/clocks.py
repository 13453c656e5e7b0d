"""Time that passes when a test says so."""

from __future__ import annotations

import asyncio
import selectors
from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """A clock that stands until it is moved. `readings` counts how often somebody looked."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._passed = timedelta(0)
        self.readings = 0

    def now(self) -> datetime:
        self.readings += 1
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed.total_seconds()

    def pass_seconds(self, seconds: float) -> None:
        self._passed += timedelta(seconds=seconds)


class _SkippingSelector(selectors.DefaultSelector):
    """Moves the clock instead of sleeping."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("everything waits for something that never comes")
        if timeout > 0:
            # The least that the loop calls later than now; a sum of fractions may fall short of it.
            self._clock.pass_seconds(timeout + 1e-6)
        return super().select(0)


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop on a fake clock: hours pass at once, and nothing is slept."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(_SkippingSelector(clock))
        self._fake_clock = clock

    def time(self) -> float:
        return self._fake_clock.monotonic()
