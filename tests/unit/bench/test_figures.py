from __future__ import annotations

import pytest

from tests.bench.figures import Rounds, quantile, ratio
from tests.bench.findings import milliseconds, number


@pytest.mark.parametrize(
    ("part", "found"), [(0.0, 1.0), (0.5, 51.0), (0.9, 91.0), (0.99, 100.0), (1.0, 100.0)]
)
def test_a_quantile_is_one_of_the_samples(part: float, found: float) -> None:
    samples = [float(n) for n in range(100, 0, -1)]
    assert quantile(samples, part) == found


def test_the_quantile_of_one_sample_is_that_sample() -> None:
    assert [quantile([3.0], part) for part in (0.0, 0.5, 0.99, 1.0)] == [3.0] * 4


def test_quantiles_are_of_all_rounds_together() -> None:
    assert Rounds("ours", [[1.0, 2.0], [3.0, 4.0, 5.0]]).quantile(0.5) == 3.0


def test_one_disturbed_round_moves_neither_the_median_nor_a_ratio() -> None:
    ours = Rounds("ours", [[2.0, 2.0], [900.0, 900.0], [2.0, 2.0]])
    floor = Rounds("floor", [[1.0], [1.0], [1.0]])
    assert ours.median == 2.0
    assert ours.spread == (2.0, 900.0)
    assert ratio(ours, floor) == 2.0


def test_a_ratio_compares_within_each_round() -> None:
    # A machine that is three times as slow in the second round slows down both.
    ours, floor = Rounds("ours", [[2.0], [6.0]]), Rounds("floor", [[1.0], [3.0]])
    assert ratio(ours, floor) == 2.0


def test_a_ratio_against_several_is_against_their_sum() -> None:
    ours = Rounds("ours", [[6.0], [6.0]])
    assert ratio(ours, Rounds("commit", [[2.0], [1.0]]), Rounds("trip", [[1.0], [2.0]])) == 2.0


def test_rounds_that_do_not_pair_have_no_ratio() -> None:
    with pytest.raises(ValueError, match="zip"):
        ratio(Rounds("ours", [[1.0]]), Rounds("one", [[1.0]]), Rounds("two", [[1.0], [1.0]]))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0000123, "0.0123"), (0.00154, "1.54"), (0.25, "250"), (1.5, "1,500")]
)
def test_milliseconds_have_the_digits_that_matter(seconds: float, text: str) -> None:
    assert milliseconds(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(0.4612, "0.461"), (8, "8"), (25_000.4, "25,000")])
def test_numbers_have_the_digits_that_matter(value: float, text: str) -> None:
    assert number(value) == text
