"""Numbers from rounds: quantiles of samples, and ratios of what was measured in the same round."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


def quantile(samples: Sequence[float], part: float) -> float:
    """The sample below which `part` of all lie."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class Rounds(NamedTuple):
    """The samples of one contestant, a list for each round."""

    name: str
    samples: list[list[float]]

    def quantile(self, part: float) -> float:
        return quantile([sample for each in self.samples for sample in each], part)

    @property
    def medians(self) -> list[float]:
        return [statistics.median(each) for each in self.samples]

    @property
    def median(self) -> float:
        """Of the rounds' medians, so that one disturbed round moves nothing."""
        return statistics.median(self.medians)

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest median of a round."""
        return min(self.medians), max(self.medians)


def ratio(one: Rounds, *others: Rounds) -> float:
    """How many times `others` together `one` is: the median of the ratios round by round."""
    together = [sum(medians) for medians in zip(*(o.medians for o in others), strict=True)]
    return float(statistics.median(a / b for a, b in zip(one.medians, together, strict=True)))
