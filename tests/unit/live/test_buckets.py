from __future__ import annotations

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.live import buckets as buckets_module
from coordroomsd.live.buckets import Buckets, Limit
from tests.clocks import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def buckets(clock: FakeClock) -> Buckets:
    limits = {"message": Limit(60, 10), "claim": Limit(2, 0.1), "status": Limit(0, 1)}
    return Buckets(limits, clock)


def refused_for(buckets: Buckets, name: str, owner: str, cost: int) -> int:
    """The seconds after which the call would pass."""
    with pytest.raises(Refusal) as caught:
        buckets.spend(name, owner, cost)
    assert caught.value.code == "rate_limited"
    wait_s: int = caught.value.extra["retry_after_s"]
    return wait_s


def test_the_burst_passes_and_the_next_waits(buckets: Buckets) -> None:
    for _ in range(60):
        buckets.spend("message", "ada", 1)
    assert refused_for(buckets, "message", "ada", 1) == 1


def test_it_refills_evenly(buckets: Buckets, clock: FakeClock) -> None:
    buckets.spend("message", "ada", 60)
    clock.pass_seconds(0.5)
    buckets.spend("message", "ada", 5)
    refused_for(buckets, "message", "ada", 1)


def test_it_holds_no_more_than_the_burst(buckets: Buckets, clock: FakeClock) -> None:
    buckets.spend("claim", "ada", 1)
    clock.pass_seconds(1e6)
    buckets.spend("claim", "ada", 2)
    refused_for(buckets, "claim", "ada", 1)


def test_owners_and_names_are_apart(buckets: Buckets) -> None:
    buckets.spend("message", "ada", 60)
    buckets.spend("message", "bob", 60)
    buckets.spend("claim", "ada", 2)


def test_a_call_above_the_burst_passes_a_full_bucket_and_leaves_a_debt(
    buckets: Buckets, clock: FakeClock
) -> None:
    buckets.spend("message", "ada", 100)
    assert refused_for(buckets, "message", "ada", 1) == 5
    clock.pass_seconds(4)
    refused_for(buckets, "message", "ada", 1)
    clock.pass_seconds(0.1)
    buckets.spend("message", "ada", 1)


def test_a_large_call_needs_a_full_bucket(buckets: Buckets, clock: FakeClock) -> None:
    buckets.spend("message", "ada", 1)
    assert refused_for(buckets, "message", "ada", 100) == 1
    clock.pass_seconds(0.1)
    buckets.spend("message", "ada", 100)


def test_a_refusal_costs_nothing(buckets: Buckets, clock: FakeClock) -> None:
    buckets.spend("claim", "ada", 2)
    for _ in range(10):
        assert refused_for(buckets, "claim", "ada", 1) == 10
    clock.pass_seconds(10)
    buckets.spend("claim", "ada", 1)


@pytest.mark.parametrize("after", [1.0, 3.7, 9.999])
def test_the_wait_that_is_told_suffices(buckets: Buckets, clock: FakeClock, after: float) -> None:
    buckets.spend("claim", "ada", 2)
    clock.pass_seconds(after)
    clock.pass_seconds(refused_for(buckets, "claim", "ada", 1))
    buckets.spend("claim", "ada", 1)


def test_what_came_to_nothing_is_given_back(buckets: Buckets) -> None:
    buckets.spend("claim", "ada", 2)
    buckets.refund("claim", "ada", 1)
    buckets.spend("claim", "ada", 1)
    refused_for(buckets, "claim", "ada", 1)


def test_giving_back_makes_no_more_than_full(buckets: Buckets) -> None:
    buckets.spend("claim", "ada", 1)
    buckets.refund("claim", "ada", 1)
    buckets.refund("claim", "ada", 1)
    buckets.refund("claim", "nobody", 1)
    buckets.spend("claim", "ada", 2)
    refused_for(buckets, "claim", "ada", 1)


def test_a_burst_of_0_switches_a_bucket_off(buckets: Buckets) -> None:
    for _ in range(1000):
        buckets.spend("status", "ada", 1000)
    assert len(buckets) == 0


def test_full_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    monkeypatch.setattr(buckets_module, "_SWEEP_ABOVE", 100)
    buckets = Buckets({"message": Limit(60, 10), "claim": Limit(2, 0.1)}, clock)
    for number in range(100):
        buckets.spend("message", number, 1)
    clock.pass_seconds(1)
    buckets.spend("claim", "ada", 2)
    assert len(buckets) == 1
    refused_for(buckets, "claim", "ada", 1)


def test_buckets_in_use_are_not_swept_at_every_call(
    monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    monkeypatch.setattr(buckets_module, "_SWEEP_ABOVE", 100)
    buckets = Buckets({"message": Limit(60, 10)}, clock)
    sweeps = 0
    sweep = Buckets._sweep

    def counted(buckets: Buckets, now: float) -> None:
        nonlocal sweeps
        sweeps += 1
        sweep(buckets, now)

    monkeypatch.setattr(Buckets, "_sweep", counted)
    for number in range(1000):
        buckets.spend("message", number, 1)
    assert len(buckets) == 1000
    assert sweeps == 4


def test_several_are_taken_from_together_or_not_at_all(buckets: Buckets) -> None:
    buckets.spend("claim", "ada", 2)
    for costs in ({"message": 60, "claim": 1}, {"claim": 1, "message": 60}):
        with pytest.raises(Refusal):
            buckets.spend_all(costs, "ada")
    buckets.spend_all({"message": 60, "status": 9, "claim": 0}, "ada")
    assert refused_for(buckets, "message", "ada", 1) == 1


def test_a_refusal_says_what_the_bucket_holds(clock: FakeClock) -> None:
    buckets = Buckets({"body": Limit(4096, 1024, "bytes in messages")}, clock)
    buckets.spend("body", "ada", 4096)
    with pytest.raises(Refusal) as caught:
        buckets.spend("body", "ada", 1025)
    assert caught.value.detail == (
        "The bucket of bytes in messages is empty: 4,096 at once, then 1,024 a second. "
        "It has room for this call in 2 s."
    )
