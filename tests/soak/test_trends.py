from __future__ import annotations

import random

from tests.soak.trends import Allowance, trend

TIMES = [5.0 * number for number in range(240)]
ALLOWED = Allowance(0.05, 2)


def noisy(gain_in_all: float) -> list[float]:
    chances = random.Random(1)
    return [100 + gain_in_all * t / TIMES[-1] + chances.uniform(-20, 20) for t in TIMES]


def test_noise_is_flat_and_a_leak_below_it_is_not() -> None:
    assert trend(TIMES, noisy(0)).is_flat(ALLOWED)
    assert not trend(TIMES, noisy(15)).is_flat(ALLOWED)


def test_what_falls_is_flat() -> None:
    assert trend(TIMES, noisy(-50)).is_flat(ALLOWED)


def test_the_gain_is_that_of_the_line() -> None:
    found = trend([0, 10, 20], [4, 5, 6])
    assert (found.mean, found.least, found.most, found.gain) == (5, 4, 6, 2)
