"""Restarts behind sockets that the service manager holds, as an upgrade is one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.faults.conftest import ROUNDS
from tests.restarts import check_that_nobody_notices
from tests.socket_units import SocketUnit

# The suite has a small one in tests/acceptance/test_systemd.py.
ENOUGH_FOR_A_CROWD: Final = 20


@pytest.mark.skipif(ROUNDS < ENOUGH_FOR_A_CROWD, reason="`make faults` has it")
async def test_five_hundred_waits_and_thirty_two_writers(state_dir: Path, rounds: int) -> None:
    with SocketUnit(state_dir) as unit:
        unit.start()
        await check_that_nobody_notices(
            unit.url, unit.restart, restarts=rounds, followers=500, writers=32, rooms=20
        )
