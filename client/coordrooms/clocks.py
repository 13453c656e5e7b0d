"""The clock that deadlines are counted on."""

from __future__ import annotations

import time


def seconds() -> float:
    """Seconds that pass evenly, from an arbitrary start, also while the machine sleeps.

    A lease runs out at the daemon meanwhile, and `time.monotonic` may stand still.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
