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
    """`burst` 0 switches the bucket off."""

    burst: int
    per_s: float


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
        limit = self.limits[name]
        if not limit.burst:
            return
        now = self._clock.monotonic()
        missing, at = self._missing.get((name, owner), (0.0, now))
        missing = max(0.0, missing - (now - at) * limit.per_s)
        short = missing + min(cost, limit.burst) - limit.burst
        if short > 0:
            wait_s = max(1, math.ceil(short / limit.per_s))
            raise Refusal(
                "rate_limited",
                f"The bucket of {name} calls is empty: {limit.burst} at once, then "
                f"{limit.per_s:g} a second. It has room for this call in {wait_s} s.",
                retry_after_s=wait_s,
            )
        self._missing[name, owner] = (missing + cost, now)
        if len(self._missing) > self._sweep_above:
            self._sweep(now)

    def refund(self, name: str, owner: Hashable, cost: int) -> None:
        """Give back what a call took that came to nothing."""
        if (name, owner) in self._missing:
            missing, at = self._missing[name, owner]
            self._missing[name, owner] = (missing - cost, at)

    def _sweep(self, now: float) -> None:
        self._missing = {
            (name, owner): (missing, at)
            for (name, owner), (missing, at) in self._missing.items()
            if missing - (now - at) * self.limits[name].per_s > 0
        }
        # With most of them in use, each call would sweep anew.
        self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._missing))
