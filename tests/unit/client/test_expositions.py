from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from coordrooms.expositions import Series, by_label, one, parsed, quantile, since


def test_what_the_daemons_library_writes_is_read() -> None:
    registry = CollectorRegistry()
    hostile = 'a "quoted"\\ name,\nof two="lines"} 5'
    Gauge("waiters", "Parked calls", registry=registry).set(5)
    Counter("refusals", "By code", ["code", "b"], registry=registry).labels(hostile, "x").inc(2)
    samples = parsed(generate_latest(registry).decode())
    assert one(samples, "waiters") == 5
    assert samples[Series("refusals_total", (("b", "x"), ("code", hostile)))] == 2
    assert by_label(samples, "refusals_total", "code") == {hostile: 2}


def test_lines_that_are_none_are_left_out() -> None:
    assert parsed("# HELP x\nx\n{} 5\nx y\n\ny 1e3 1700000000\nz +Inf") == {
        Series("y", ()): 1000,
        Series("z", ()): float("inf"),
    }


def test_growth_of_counters_alone_and_of_one_that_began_anew() -> None:
    before = parsed("a_total 5\nb_total 7\nc 1")
    after = parsed("a_total 8\nb_total 2\nc 9\nd_total 4")
    grown = since(before, after, lambda name: name.endswith("_total"))
    assert {series.name: value for series, value in grown.items()} == {
        "a_total": 3,
        "b_total": 2,
        "d_total": 4,
    }


@pytest.mark.parametrize(
    ("part", "expected"),
    [(0.5, 1.0), (0.25, 0.5), (0.625, 2.5), (0.75, 4.0), (0.9, 4.0), (1.0, 4.0)],
)
def test_quantiles_are_even_within_a_bucket(part: float, expected: float) -> None:
    """Four up to 1, two up to 4, two beyond; what Prometheus' histogram_quantile gives."""
    text = 'h_bucket{le="1.0"} 4\nh_bucket{le="4.0"} 6\nh_bucket{le="+Inf"} 8'
    assert quantile(part, parsed(text), "h") == pytest.approx(expected)


def test_no_quantile_of_nothing() -> None:
    assert quantile(0.5, {}, "h") is None
    assert quantile(0.5, parsed('h_bucket{le="1"} 0\nh_bucket{le="+Inf"} 0'), "h") is None
