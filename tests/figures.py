"""Seconds that tests measure and do not judge: they are told at the end of the run."""

from __future__ import annotations

from typing import Final

import pytest

_SECONDS: Final[dict[str, list[float]]] = {}


def report(what: str, seconds: float) -> None:
    """Once for each time that it was measured."""
    _SECONDS.setdefault(what, []).append(seconds)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _SECONDS:
        return
    terminalreporter.section("seconds: half of them, 95 %, all within")
    for what, seconds in sorted(_SECONDS.items()):
        ordered = sorted(seconds)
        half, most, every = (ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.95, 1))
        times = "once" if len(ordered) == 1 else f"{len(ordered)} times"
        terminalreporter.line(f"{what}, {times}: {half:.2f} {most:.2f} {every:.2f}")
