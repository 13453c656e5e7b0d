"""Rate limits: a bucket holds `burst`, refills evenly, and one call may overdraw it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from coordroomsd.clock import Clock
from coordroomsd.domain.errors import Refusal

# Full buckets are as good as none; they are swept when this many are kept.
_SWEEP_ABOVE = 20_000


class Limit(NamedTuple):
    """`burst` 0 switches the bucket off. `of` says what it holds, where that is no calls."""

    burst: int
    per_s: float
    of: str = ""


class Buckets:
    """One bucket for each limit and owner, kept in memory: a restart fills them."""

    def __init__(self, limits: Mapping[str, Limit], clock: Clock) -> None:
        self.limits = dict(limits)
        self._clock = clock
        # What is missing from a full bucket, and when that was so.
        self._missing: dict[tuple[str, Hashable], tuple[float, float]] = {}
        self._sweep_above = _SWEEP_ABOVE

    def __len__(self) -> int:
        return len(self._missing)

    def spend(self, name: str, owner: Hashable, cost: int) -> None:
        """Take `cost` from a bucket that holds at least min(cost, burst). Raises `rate_limited`."""
        self.spend_all({name: cost}, owner)

    def spend_all(self, costs: Mapping[str, int], owner: Hashable) -> None:
        """The same from several buckets: from all of them, or from none."""
        now = self._clock.monotonic()
        taken = {
            (name, owner): (self._left_missing(name, owner, cost, now) + cost, now)
            for name, cost in costs.items()
            if self.limits[name].burst
        }
        self._missing.update(taken)
        if len(self._missing) > self._sweep_above:
            self._sweep(now)

    def refund(self, name: str, owner: Hashable, cost: int) -> None:
        """Give back what a call took that came to nothing."""
        if (name, owner) in self._missing:
            missing, at = self._missing[name, owner]
            self._missing[name, owner] = (missing - cost, at)

    def _left_missing(self, name: str, owner: Hashable, cost: int, now: float) -> float:
        """What is missing from a bucket that has room for `cost`. Raises `rate_limited`."""
        limit = self.limits[name]
        missing, at = self._missing.get((name, owner), (0.0, now))
        missing = max(0.0, missing - (now - at) * limit.per_s)
        short = missing + min(cost, limit.burst) - limit.burst
        if short > 0:
            wait_s = max(1, math.ceil(short / limit.per_s))
            raise Refusal(
                "rate_limited",
                f"The bucket of {limit.of or f'{name} calls'} is empty: {limit.burst:,} at once, "
                f"then {limit.per_s:,g} a second. It has room for this call in {wait_s} s.",
                retry_after_s=wait_s,
            )
        return missing

    def _sweep(self, now: float) -> None:
        self._missing = {
            (name, owner): (missing, at)
            for (name, owner), (missing, at) in self._missing.items()
            if missing - (now - at) * self.limits[name].per_s > 0
        }
        # With most of them in use, each call would sweep anew.
        self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._missing))
