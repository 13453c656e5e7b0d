"""What the daemon and its database hold at one moment."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.daemon_processes import DaemonProcess
from tests.faults.processes import open_descriptors, resident_bytes, server_pids
from tests.http_callers import Caller
from tests.soak.trends import Allowance

MIB: Final = 1 << 20
# What /metrics calls them.
_TASKS, _CONNECTIONS, _WAITERS = "coordrooms_tasks", "coordrooms_connections", "coordrooms_waiters"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column of the table. `read` is given the daemon, and the numbers of its /metrics."""

    name: str
    allowed: Allowance
    read: Callable[[DaemonProcess, dict[str, float]], float]


QUANTITIES: Final = (
    Quantity("memory, MiB", Allowance(0.05, 2), lambda daemon, _: resident_bytes(daemon.pid) / MIB),
    Quantity("descriptors", Allowance(0.05, 3), lambda daemon, _: open_descriptors(daemon.pid)),
    Quantity("tasks", Allowance(0.05, 3), lambda _, numbers: numbers[_TASKS]),
    Quantity("connections", Allowance(0.05, 3), lambda _, numbers: numbers[_CONNECTIONS]),
    Quantity("parked calls", Allowance(0.05, 3), lambda _, numbers: numbers[_WAITERS]),
    # A little is what each session remembers of the tables; the rest is shared, and bounded.
    Quantity("PostgreSQL, MiB", Allowance(0.1, 5), lambda daemon, _: _server_bytes(daemon) / MIB),
    Quantity("its processes", Allowance(0, 1), lambda daemon, _: len(server_pids(daemon))),
)


async def sample(daemon: DaemonProcess, looking: Caller) -> list[float]:
    """One number for each of QUANTITIES, now."""
    numbers = await _metrics(looking)
    return [quantity.read(daemon, numbers) for quantity in QUANTITIES]


async def _metrics(looking: Caller) -> dict[str, float]:
    """Of those with labels, the sums."""
    sums: dict[str, float] = {}
    for line in (await looking.text("/metrics")).splitlines():
        if found := re.fullmatch(r"(\w+)(?:\{.*\})? (\S+)", line):
            sums[found[1]] = sums.get(found[1], 0) + float(found[2])
    return sums


def _server_bytes(daemon: DaemonProcess) -> int:
    """Of all its processes, each page that is shared counted once."""
    total = 0
    for pid in server_pids(daemon):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            [kib] = re.findall(r"^Pss: +(\d+) kB$", rollup, re.M)
            total += int(kib) * 1024
    return total
