"""How often, from which seed, and how long it took until the daemon served again."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.daemon_processes import DaemonProcess
from tests.postgres_servers import make_state_dir

# A handful within the suite; `make faults` asks for two hundred.
ROUNDS: Final = int(os.environ.get("FAULT_ROUNDS", "5"))
SEED: Final = os.environ.get("FAULT_SEED") or str(random.SystemRandom().randrange(10**6))

_RECOVERIES: Final[dict[str, list[float]]] = {}


@pytest.fixture
def rounds() -> int:
    return ROUNDS


@pytest.fixture
def chances(request: pytest.FixtureRequest) -> random.Random:
    """The dice of one test, from the seed and the test's name."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def recoveries(request: pytest.FixtureRequest) -> list[float]:
    """Seconds from each fault's end until everybody was served again; reported, not judged."""
    return _RECOVERIES.setdefault(request.node.name, [])


@pytest.fixture(scope="session")
def made_state() -> Iterator[Path]:
    """The state of a daemon that has nothing yet; not to be changed."""

    async def make() -> None:
        daemon = DaemonProcess(home)
        await daemon.start()
        assert await daemon.end() == 0

    home = make_state_dir()
    asyncio.run(make())
    yield home / "state"
    shutil.rmtree(home)


@pytest.fixture
async def daemon(made_state: Path, state_dir: Path) -> AsyncIterator[DaemonProcess]:
    """A daemon of the test's own, ready."""
    # Making the data anew takes a second.
    subprocess.run(["cp", "-a", made_state, state_dir / "state"], check=True)  # noqa: ASYNC221
    daemon = DaemonProcess(state_dir)
    try:
        await daemon.start()
        yield daemon
    finally:
        await daemon.discard()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("faults")
    terminalreporter.line(f"repeat with: FAULT_SEED={SEED} make faults ROUNDS={ROUNDS}")
    for name, seconds in _RECOVERIES.items():
        if seconds:
            ordered = sorted(seconds)
            figures = (ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.95, 1))
            half, most, every = (f"{figure:.2f} s" for figure in figures)
            terminalreporter.line(
                f"{name}: {len(seconds)} times, served again within {half} (half), "
                f"{most} (95 %), {every} (all)"
            )
