"""Run a daemon under a day's traffic, and see whether what it holds stays the same."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import shutil
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from tests.daemon_processes import WITHOUT_LIMITS, DaemonProcess
from tests.postgres_servers import make_state_dir
from tests.soak.loads import MEMBERS, ROOMS, WAITING, Member
from tests.soak.samples import QUANTITIES, sample
from tests.soak.trends import trend

# So that tails, caches and the log of the database have the size that they keep.
WARM_UP: Final = 1 / 3
SAMPLES: Final = 300
# A room that is removed from as fast as it is written to.
CONFIG: Final = f"{WITHOUT_LIMITS}\n[retention]\nmax_events = 2000\n"


def main() -> int:
    """Returns the exit code: 1 when something grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=500, help="calls a second, about")
    options = parser.parse_args()
    return asyncio.run(_soak(options.minutes * 60, options.rate))


async def _soak(seconds: float, rate: float) -> int:
    counts: Counter[str] = Counter()
    async with _daemon() as daemon:
        members = [
            Member(daemon.socket, f"room-{number % ROOMS}", f"member-{number}", counts)
            for number in range(ROOMS * MEMBERS)
        ]
        for member in members:
            await member.join()
        every = len(members) / rate
        began = time.monotonic()
        async with asyncio.TaskGroup() as calling:
            tasks = [calling.create_task(member.call_every(every)) for member in members]
            waiting = members[: ROOMS * WAITING]
            tasks += [calling.create_task(member.wait_on()) for member in waiting]
            samples = await _watch(daemon, seconds)
            for task in tasks:
                task.cancel()
        took = time.monotonic() - began
        for member in members:
            member.close()
        code = await daemon.end()
        complaints = [line for line in daemon.read_log().splitlines() if " ERROR " in f" {line} "]
    print(*(f"{counts[what]:>9,} {what}" for what in sorted(counts)), sep="\n")
    calls = sum(n for what, n in counts.items() if not what.startswith("woken"))
    print(f"{calls / took:,.0f} steps a second for {took / 60:.1f} minutes; ended with {code}\n")
    grows = _tell(samples)
    print(*complaints, sep="\n")
    return 1 if grows or complaints or code else 0


async def _watch(daemon: DaemonProcess, seconds: float) -> list[tuple[float, list[float]]]:
    """Samples with their times, those of the warm-up left out."""
    looking = daemon.caller()
    samples = []
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        if passed >= seconds * WARM_UP:
            samples.append((passed, await sample(daemon, looking)))
        await asyncio.sleep(seconds / SAMPLES)
    return samples


def _tell(samples: list[tuple[float, list[float]]]) -> bool:
    """Print the table; whether something grows."""
    times = [at for at, _ in samples]
    minutes = (times[-1] - times[0]) / 60
    print(f"{'in ' + format(minutes, '.1f') + ' min':<16}{'least':>9}{'mean':>9}{'most':>9}  gain")
    grows = False
    for index, quantity in enumerate(QUANTITIES):
        found = trend(times, [values[index] for _, values in samples])
        flat = found.is_flat(quantity.allowed)
        grows |= not flat
        numbers = f"{found.least:>9,.1f}{found.mean:>9,.1f}{found.most:>9,.1f}{found.gain:>+9,.1f}"
        print(f"{quantity.name:<16}{numbers}  {'flat' if flat else 'GROWS'}")
    return grows


@contextlib.asynccontextmanager
async def _daemon() -> AsyncIterator[DaemonProcess]:
    home = make_state_dir()
    daemon = DaemonProcess(home, config=CONFIG)
    try:
        await daemon.start()
        yield daemon
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            await daemon.discard()
        shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(main())
