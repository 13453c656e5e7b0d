"""Whether a number stays where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may come and go: a part of the mean, and so much besides."""

    part: float
    besides: float


@dataclass(frozen=True, slots=True)
class Trend:
    """A line through samples: their mean, and what the line gains from the first to the last."""

    mean: float
    least: float
    most: float
    gain: float

    def is_flat(self, allowed: Allowance) -> bool:
        """A line that falls is flat, too: what was taken is given back."""
        return self.gain <= allowed.part * self.mean + allowed.besides


def trend(times: Sequence[float], values: Sequence[float]) -> Trend:
    """Of two samples or more, at different times."""
    slope = linear_regression(times, values).slope
    return Trend(fmean(values), min(values), max(values), slope * (times[-1] - times[0]))
