"""How often, and from which seed."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from tests.daemon_processes import DaemonProcess, made_state

__all__ = ["made_state"]

# A handful within the suite; `make faults` asks for two hundred.
ROUNDS: Final = int(os.environ.get("FAULT_ROUNDS", "5"))
# Of the faults that are no kill at a random moment: once within the suite.
FEW: Final = 1 if ROUNDS < 20 else 20
# Half a minute; within the suite a shorter one.
STANDSTILL_S: Final = 5 if ROUNDS < 20 else 30
SEED: Final = os.environ.get("FAULT_SEED") or str(random.SystemRandom().randrange(10**6))


# A test may take five minutes.
ROUNDS_OF_A_TEST: Final = 25
_BEGINNINGS: Final = range(0, ROUNDS, ROUNDS_OF_A_TEST)


@pytest.fixture(params=_BEGINNINGS, ids=[f"from round {number}" for number in _BEGINNINGS])
def rounds(request: pytest.FixtureRequest) -> int:
    """How many; what is more than one test's share is another test."""
    begun: int = request.param
    return min(ROUNDS_OF_A_TEST, ROUNDS - begun)


@pytest.fixture
def few_rounds() -> int:
    return FEW


@pytest.fixture
def chances(request: pytest.FixtureRequest) -> random.Random:
    """The dice of one test, from the seed and the test's name."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
async def daemon(made_state: Path, state_dir: Path) -> AsyncIterator[DaemonProcess]:
    """A daemon of the test's own, ready."""
    daemon = DaemonProcess(state_dir)
    daemon.begin_with(made_state)
    try:
        await daemon.start()
        yield daemon
    finally:
        await daemon.discard()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.line(f"faults again: FAULT_SEED={SEED} make faults ROUNDS={ROUNDS}")
