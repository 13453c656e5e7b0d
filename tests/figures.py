"""Seconds that a test measures and does not judge: they are told at the end of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

Report = Callable[[float], None]

_SECONDS: Final[dict[str, list[float]]] = {}


@pytest.fixture
def report_seconds(request: pytest.FixtureRequest) -> Report:
    """To be called once for each time that was measured."""
    return _SECONDS.setdefault(request.node.name.removeprefix("test_"), []).append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    measured = {name: sorted(seconds) for name, seconds in _SECONDS.items() if seconds}
    if not measured:
        return
    terminalreporter.section("seconds: half of them, 95 %, all within")
    for name, seconds in measured.items():
        half, most, every = (seconds[int(part * (len(seconds) - 1))] for part in (0.5, 0.95, 1))
        times = "once" if len(seconds) == 1 else f"{len(seconds)} times"
        terminalreporter.line(f"{name}, {times}: {half:.2f} {most:.2f} {every:.2f}")
