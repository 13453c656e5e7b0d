"""The clock is set while a daemon and its database run, and while they do not.

It is PostgreSQL's clock that is set: the daemon itself never asks for the time of day.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.rounds import one_round
from tests.faults.strangers import two_in_a_room
from tests.faults.traffic import whole_log
from tests.model.checker import Json, check_log
from tests.polling import until

LIBRARIES: Final = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
FURTHEST_S: Final = 7200
NOTICED_WITHIN_S: Final = 1


class Clock:
    """How far libfaketime puts the time of day off; what counts evenly goes on evenly."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.step_to(0)

    def step_to(self, seconds: int) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.chmod(0o644)
        new.replace(self._file)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "FAKETIME_LIBRARY": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            # How long it goes by what it has read, instead of opening the file at each look.
            "FAKETIME_CACHE_DURATION": str(NOTICED_WITHIN_S),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


@pytest.fixture
def clock(state_dir: Path) -> Clock:
    if not LIBRARIES:
        pytest.skip("needs libfaketime (apt-get install libfaketime)")
    return Clock(state_dir / "clock")


@pytest.fixture
async def daemon(clock: Clock, made_state: Path, state_dir: Path) -> AsyncIterator[DaemonProcess]:
    daemon = DaemonProcess(state_dir, environment=clock.environment)
    daemon.program = ("-m", "tests.faults.stepped_daemon")
    daemon.begin_with(made_state)
    try:
        await daemon.start()
        yield daemon
    finally:
        await daemon.discard()


async def test_a_step_moves_no_deadline_while_it_runs(
    daemon: DaemonProcess, clock: Clock, few_rounds: int, chances: random.Random
) -> None:
    async def step_the_clock(daemon: DaemonProcess, chances: random.Random) -> None:
        for _ in range(2):
            # Far enough to be told from none.
            offset = chances.choice((-1, 1)) * chances.randint(60, FURTHEST_S)
            clock.step_to(offset)
            await until(lambda offset=offset: is_off_by(daemon, offset))  # type: ignore[misc]

    for number in range(few_rounds):
        await one_round(daemon, step_the_clock, chances, f"room-{number}")
        log = await whole_log(daemon.caller(), f"/rooms/room-{number}")
        times = [event["at"] for event in log]
        assert times == sorted(times)
        assert "expired" not in {event["reason"] for event in log}
    ann, _ = await two_in_a_room(daemon)
    await ann.call("PUT", "/rooms/plan/status", {"status": "for a moment", "expires_in_s": 2})
    clock.step_to(-2 * FURTHEST_S)
    await until(lambda: has_ended(daemon, "status"))
    assert await daemon.end() == 0
    assert "ERROR" not in daemon.read_log()


async def test_what_ran_out_by_a_step_while_it_was_away_ends_once(
    daemon: DaemonProcess, clock: Clock
) -> None:
    ann, _ = await two_in_a_room(daemon)
    await ann.call("PUT", "/rooms/plan/status", {"status": "an hour", "expires_in_s": 3600})
    await ann.call("POST", "/rooms/plan/claims", {"key": "the draft", "lease_s": 3600})
    for offset in (FURTHEST_S, -FURTHEST_S, FURTHEST_S):
        assert await daemon.end() == 0
        clock.step_to(offset)
        await daemon.start()
        await until(lambda: has_ended(daemon, "status"))
        await until(lambda: has_ended(daemon, "claim"))
    log = await plan(daemon)
    check_log(log)
    ends = Counter(event["type"] for event in log if event["reason"] == "expired")
    assert ends == {"status": 1, "claim": 1}


async def is_off_by(daemon: DaemonProcess, seconds: int) -> bool:
    connection = await asyncpg.connect(**daemon.server_address())
    time_of_day: float = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())")
    await connection.close()
    return abs(float(time_of_day) - time.time() - seconds) < 30


async def has_ended(daemon: DaemonProcess, what: str) -> bool:
    return any((e["type"], e["reason"]) == (what, "expired") for e in await plan(daemon))


async def plan(daemon: DaemonProcess) -> list[Json]:
    caller = daemon.caller()
    try:
        return await whole_log(caller, "/rooms/plan")
    finally:
        caller.close()
