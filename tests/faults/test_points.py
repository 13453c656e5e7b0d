"""The daemon dies at a named point of a batch's way, as by kill -9."""

from __future__ import annotations

import random
import signal

import pytest

from tests.daemon_processes import DaemonProcess
from tests.faults.dying_daemon import POINTS
from tests.faults.rounds import one_round


@pytest.mark.parametrize("point", POINTS)
async def test_a_death_there_loses_nothing(
    daemon: DaemonProcess, point: str, few_rounds: int, chances: random.Random
) -> None:
    # Batches hold about ten calls.
    furthest = 100 if point == "before_answer" else 10

    async def die_there(daemon: DaemonProcess, chances: random.Random) -> None:
        daemon.process.send_signal(signal.SIGUSR1)
        assert await daemon.exit_code() == -signal.SIGKILL
        spawn()

    def spawn() -> None:
        nth = chances.randint(1, furthest)
        daemon.program = ("-m", "tests.faults.dying_daemon", point, str(nth))
        daemon.spawn()

    assert await daemon.end() == 0
    spawn()
    await daemon.ready()
    for number in range(few_rounds):
        await one_round(daemon, die_there, chances, f"room-{number}", f"death {point}")
    assert await daemon.end() == 0
    assert "internal error" not in daemon.read_log()
