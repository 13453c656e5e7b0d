"""One fault under traffic: everybody goes on, and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from tests.daemon_processes import DaemonProcess
from tests.faults.traffic import Traffic
from tests.figures import report
from tests.polling import GIVE_UP_AFTER_S

# Strikes, and returns when it is over.
Fault = Callable[[DaemonProcess, random.Random], Awaitable[None]]

# Besides the fault itself, which may be a standstill of half a minute.
_ROUND_WITHIN_S: Final = 2 * GIVE_UP_AFTER_S


async def one_round(
    daemon: DaemonProcess, fault: Fault, chances: random.Random, room: str, name: str = ""
) -> None:
    """Let the fault strike in the midst of a room's traffic; `name` is for the report."""
    traffic = Traffic(daemon, room, chances)
    await traffic.begin()
    async with asyncio.timeout(_ROUND_WITHIN_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(traffic.flow())
        await traffic.more_answers(chances.randrange(10, 400))
        await fault(daemon, chances)
        served = await _time_until_served(traffic)
        report(f"served again after {name or fault.__name__}", served)
        await traffic.more_answers(50)
        traffic.stop()
    await traffic.check()


async def _time_until_served(traffic: Traffic) -> float:
    """Seconds until everybody has an answer to something that is asked from now on."""
    clock = asyncio.get_running_loop().time
    began = clock()
    await traffic.all_answered_since(began)
    return clock() - began
