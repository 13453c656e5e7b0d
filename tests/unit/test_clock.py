"""The host's clock may be stepped while the daemon runs: no lease grows or shrinks by it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from coordroomsd import clock as clock_module
from coordroomsd.clock import FollowingClock, SteadyClock

AT_START = datetime(2026, 1, 1, 12, 0, 0, 987_654, tzinfo=UTC)
LEASE = timedelta(seconds=60)


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the host's even count of seconds says; tests change its one item."""
    count = [1000.0]
    monkeypatch.setattr(clock_module, "_seconds", lambda: count[0])
    return count


def test_it_goes_on_from_the_database_s_time(seconds: list[float]) -> None:
    clock = SteadyClock(AT_START)
    assert clock.now() == AT_START.replace(microsecond=987_000)
    seconds[0] += 61.5
    assert clock.now() == datetime(2026, 1, 1, 12, 1, 2, 487_000, tzinfo=UTC)


def test_it_tells_utc_in_whole_milliseconds(seconds: list[float]) -> None:
    elsewhere = AT_START.astimezone(timezone(timedelta(hours=-8)))
    now = SteadyClock(elsewhere).now()
    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0
    assert now == AT_START.replace(microsecond=987_000)


def test_seconds_pass_as_they_do(seconds: list[float]) -> None:
    clock = SteadyClock(AT_START)
    before = clock.monotonic()
    seconds[0] += 0.25
    assert clock.monotonic() - before == 0.25


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_a_step_of_the_host_s_clock_moves_no_deadline(
    monkeypatch: pytest.MonkeyPatch, step_s: float
) -> None:
    """A lease granted before the step ends as long after it as it would have."""
    clock = SteadyClock(AT_START)
    ends = clock.now() + LEASE
    wall_time = time.time
    monkeypatch.setattr(time, "time", lambda: wall_time() + step_s)
    monkeypatch.setattr(time, "time_ns", lambda: int((wall_time() + step_s) * 1e9))
    monkeypatch.setattr(clock_module, "datetime", NoWallTime, raising=False)
    assert abs((ends - clock.now()) - LEASE) < timedelta(seconds=1)


def test_it_never_looks_at_the_wall_clock_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = time.clock_gettime

    def clock_gettime(which: int) -> float:
        asked.append(which)
        return real(which)

    monkeypatch.setattr(time, "clock_gettime", clock_gettime)
    for name in ("time", "time_ns", "localtime", "gmtime"):
        monkeypatch.setattr(time, name, _wall_clock_read)
    clock = SteadyClock(AT_START)
    assert clock.now() <= clock.now()
    assert clock.monotonic() <= clock.monotonic()
    assert set(asked) <= {getattr(time, "CLOCK_BOOTTIME", -1)}


def test_time_does_not_stand_still_while_the_machine_sleeps() -> None:
    """Linux has a count that includes the sleep; elsewhere the monotonic one has to do."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        pytest.skip("this system has no CLOCK_BOOTTIME")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= SteadyClock(AT_START).monotonic() <= time.clock_gettime(time.CLOCK_BOOTTIME)


def test_at_a_restart_the_database_s_clock_counts_anew(seconds: list[float]) -> None:
    """Whoever sets the host's clock between two starts moves every stored deadline by that much."""
    ends = SteadyClock(AT_START).now() + LEASE
    after_restart = SteadyClock(AT_START + timedelta(hours=1))
    assert after_restart.now() > ends


def _wall_clock_read(*_: object) -> float:
    raise AssertionError("the wall clock was read after the start")


class NoWallTime(datetime):
    @classmethod
    def now(cls, tz: object = None) -> NoWallTime:
        raise AssertionError("the wall clock was read after the start")


class TestFollowing:
    def test_it_comes_nearer_to_the_database_s_time_in_small_steps(
        self, seconds: list[float]
    ) -> None:
        clock = FollowingClock(AT_START)
        ahead = AT_START + timedelta(seconds=1)
        before = clock.now()
        for _ in range(3):
            clock.follow(ahead)
        assert clock.now() - before == timedelta(milliseconds=3)

    def test_it_does_not_overshoot(self, seconds: list[float]) -> None:
        clock = FollowingClock(AT_START)
        at = AT_START.replace(microsecond=987_000) + timedelta(microseconds=1400)
        for _ in range(5):
            clock.follow(at)
        assert clock.now() == AT_START.replace(microsecond=988_000)

    def test_it_never_goes_back(self, seconds: list[float]) -> None:
        clock = FollowingClock(AT_START)
        before = clock.now()
        for _ in range(50):
            clock.follow(AT_START - timedelta(hours=1))
        assert clock.now() == before
        seconds[0] += 0.06
        assert clock.now() > before
