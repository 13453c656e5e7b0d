from __future__ import annotations

from collections import Counter

import pytest
from prometheus_client.parser import text_string_to_metric_families

from coordroomsd.domain.errors import CODES
from coordroomsd.live.metrics import Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return samples(metrics)[f"coordrooms_{name}", frozenset(labels.items())]


def test_a_number_falls_into_the_first_bucket_that_holds_it(metrics: Metrics) -> None:
    for seconds in (0.0, 0.0005, 0.0006, 3.0, 99.0):
        metrics.wake_seconds.add(seconds)
    counts = {
        bound: value(metrics, "wake_seconds_bucket", le=bound)
        for bound in ("0.0005", "0.001", "2.5", "5.0", "10.0", "+Inf")
    }
    assert list(counts.values()) == [2, 3, 3, 4, 4, 5]
    assert value(metrics, "wake_seconds_count") == 5
    assert value(metrics, "wake_seconds_sum") == pytest.approx(102.0011)


def test_batches_and_what_they_stored(metrics: Metrics) -> None:
    metrics.stored(3, 0.004, Counter(message=2, claim=1))
    metrics.stored(0, 0.001, Counter())
    assert value(metrics, "batch_commands_count") == 1
    assert value(metrics, "batch_commands_sum") == 3
    assert value(metrics, "events_total", type="message") == 2
    # There from the beginning, so that its first one makes a rate.
    assert value(metrics, "events_total", type="status") == 0


def test_every_code_of_a_refusal_is_there_from_the_beginning(metrics: Metrics) -> None:
    assert {value(metrics, "refusals_total", code=code) for code in CODES} == {0}
    metrics.refusals.add("rate_limited")
    assert value(metrics, "refusals_total", code="rate_limited") == 1


def test_what_others_keep_is_read_when_asked_for(metrics: Metrics) -> None:
    kept = [1]
    metrics.observe("waiters", "Parked calls", lambda: kept[0])
    metrics.observe_by("sessions", "Of a pool", "state", lambda: {"open": 4, "in_use": kept[0]})
    kept[0] = 2
    assert value(metrics, "waiters") == 2
    assert value(metrics, "sessions", state="in_use") == 2
